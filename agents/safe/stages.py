"""Interfaces for the stages of the SAFE loop. A model, an encoder or the offline rules can implement them.

A stage returns a result or raises a `FactloopError`, which leaves the claim unscored. Stages are stateless.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol

from langgraph.graph.state import CompiledStateGraph
from langgraph.runtime import Runtime

from factloop.agents.safe.answer import Answer
from factloop.agents.safe.state import NextQueries, SentenceTask
from factloop.core.records import Abstention, Evidence, Judgement
from factloop.tools.calls.meter import UsageMeter
from factloop.tools.search.gateway import SearchGateway

BUNCHES_AT_ONCE = 2
"""Maximum number of concurrent branches for a judge that only computes. More branches would block everything else."""
EVENT = "factloop"
"""The key of our events in LangGraph's custom stream, which custom search tools may also write to."""


@dataclass(frozen=True)
class CheckContext:
    """The context of one check (LangGraph's `Runtime.context`). A compiled graph serves many checks."""

    answer: Answer
    """The answer is kept out of the state, because checkpoints would save it again for each claim."""
    meter: UsageMeter
    searching: SearchGateway
    gates: bool = True
    """Whether irrelevant claims stay unchecked. Otherwise, relevance is only a label."""
    bunches: asyncio.Semaphore = field(default_factory=lambda: asyncio.Semaphore(BUNCHES_AT_ONCE))
    """Limits the number of concurrent branches that only compute. LangGraph's `max_concurrency` is not used, because
    stopping a check would then leave some coroutines unawaited.
    """
    computing: asyncio.Lock = field(default_factory=asyncio.Lock)
    """This lock is held while a sentence is read or a claim is judged. In between, other checks can run."""
    steering: dict[str, str] = field(default_factory=dict)
    """Maps passages and sentences that contain instructions to the judge to a description of their origin."""

    def note_steering(self, numbers: Iterable[int], passages: Sequence[Evidence]) -> None:
        """Records the passages (numbered from 1, as shown) that contain instructions to the judge."""
        shown = (passages[number - 1] for number in numbers if 1 <= number <= len(passages))
        self.steering.update((item.passage, f"passage of {item.source}") for item in shown)


SafeGraph = CompiledStateGraph[Any, CheckContext, Any, Any]


def tell(runtime: Runtime[CheckContext], kind: str, **event: object) -> None:
    """Sends an event (see `factloop.core.events`) to the check's listeners."""
    runtime.stream_writer({EVENT: {"type": kind, **event}})


def told_in(chunk: object) -> dict[str, Any] | None:
    """Returns the event in a chunk of the custom stream, or None if the chunk comes from elsewhere."""
    return chunk[EVENT] if isinstance(chunk, dict) and chunk.keys() == {EVENT} else None


@dataclass(frozen=True)
class WindowTask:
    """Neighbouring sentences that are read together, and the passages to judge them against."""

    sentences: Sequence[SentenceTask]
    passages: Sequence[Evidence]
    failure: Judgement | None = None
    """The first failed search, if other searches were answered."""
    is_all: bool = False
    """Whether `passages` contains all passages of the documents."""


@dataclass(frozen=True)
class FoundFact:
    text: str
    self_contained: str
    status: Literal["check", "irrelevant", "ambiguous", "other_language"]
    query: str
    """The first search query. It is empty unless the status is `check`."""
    is_whole: bool = False
    """Whether the fact is the whole sentence, because the extracted facts did not match it."""


@dataclass(frozen=True)
class SplitSentence:
    facts: Sequence[str]
    is_whole: bool = False
    """The same as in `FoundFact`."""


@dataclass(frozen=True)
class JudgedFact:
    """An atomic fact that the grounded plan found and judged in one step."""

    sentence: int
    """Index of the sentence in the window, starting at 0."""
    text: str
    judgement: Judgement
    relevant: bool | None = None


@dataclass(frozen=True)
class WindowReading:
    facts: Sequence[JudgedFact]
    silent: frozenset[int]
    """Indices of the sentences that state nothing. A sentence that appears in none of the fields was skipped."""
    unfit: frozenset[int] = frozenset()
    """Indices of the sentences whose extracted facts did not match them and are omitted."""


@dataclass(frozen=True)
class Case:
    """A claim that is being checked."""

    claim: str
    task: SentenceTask
    queries: Sequence[str]
    evidence: Sequence[Evidence]
    searches_left: int
    """Number of queries that may still be made. If it is 0, `assess` must return a judgement."""
    fruitless: Sequence[str] = ()

    @property
    def may_search(self) -> bool:
        return self.searches_left > 0


class Stages(Protocol):
    @property
    def name(self) -> str:
        """The judge's name in reports."""
        ...

    @property
    def reads_code(self) -> bool:
        """Whether these stages understand what a piece of code states."""
        ...

    async def abstention(
        self, task: SentenceTask, passages: Sequence[Evidence], context: CheckContext, /
    ) -> Abstention | None:
        """Returns whether the passages contain what the sentence says is missing, or None if the stages cannot tell."""
        ...


class PaperStages(Stages, Protocol):
    """SAFE's five stages, each with one call (Wei et al. 2024, section 3 and appendix C)."""

    async def split(self, task: SentenceTask, context: CheckContext, /) -> SplitSentence: ...

    async def revise(self, fact: str, task: SentenceTask, context: CheckContext, /) -> str: ...

    async def relevance(self, claim: str, task: SentenceTask, context: CheckContext, /) -> bool: ...

    async def next_query(self, case: Case, context: CheckContext, /) -> NextQueries: ...

    async def rate(self, case: Case, context: CheckContext, /) -> Judgement: ...


class FusedStages(Stages, Protocol):
    """SAFE's loop with one kind of call for sentences and one for claims."""

    async def sentence_facts(
        self, tasks: Sequence[SentenceTask], context: CheckContext, /
    ) -> Sequence[Sequence[FoundFact] | None]:
        """Returns the facts of each sentence. The sentences are neighbours under the same headings.

        The result is None for a sentence that the reply skipped, which is then read again alone.
        """
        ...

    async def given_facts(
        self, task: SentenceTask, facts: Sequence[str], context: CheckContext, /
    ) -> Sequence[FoundFact]:
        """Returns one result per supplied fact, in order and with the supplied `text`."""
        ...

    async def assess(self, case: Case, context: CheckContext, /) -> Judgement | NextQueries:
        """Returns a judgement or the next queries. If no searches are left, the result is always a judgement."""
        ...

    async def assess_together(
        self, cases: Sequence[Case], evidence: Sequence[Evidence], context: CheckContext, /
    ) -> Sequence[Judgement | NextQueries]:
        """Returns the result of `assess` for each claim, based on the evidence for all of them."""
        ...


class GroundedStages(FusedStages, Protocol):
    """Stages that find and judge the claims of a window in one call, against passages found beforehand.

    Sentences that a reply skips go through the stages of the fused plan.
    """

    async def read(self, window: WindowTask, context: CheckContext, /) -> WindowReading: ...

    async def judge_given(
        self, claims: Sequence[str], window: WindowTask, context: CheckContext, /
    ) -> Sequence[JudgedFact]:
        """Makes the supplied claims self-contained and judges each against the passages. Keeps the order."""
        ...

    async def look_again(
        self, claims: Sequence[str], window: WindowTask, context: CheckContext, /
    ) -> Sequence[Judgement]:
        """Judges each self-contained claim against the passages. Keeps the order."""
        ...
