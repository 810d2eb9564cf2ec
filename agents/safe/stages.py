"""Defines the stages of the SAFE loop as interfaces. A model, an encoder or the offline rules can implement them.

A stage returns a result or raises a `FactloopError`, which the graph turns into an unscored claim. Stages keep no state
between calls: everything they need is in their input and in the context of the check.
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
"""Maximum number of concurrent branches for a judge that only computes. A higher number would block everything else."""
EVENT = "factloop"
"""The key of our events in LangGraph's custom stream. Custom search tools may also write to this stream."""


@dataclass(frozen=True)
class CheckContext:
    """The context of one check (LangGraph's `Runtime.context`). One compiled graph serves many checks."""

    answer: Answer
    """The whole answer. It is not part of the state, because checkpoints would save it again for each claim."""
    meter: UsageMeter
    searching: SearchGateway
    gates: bool = True
    """Whether irrelevant claims stay unchecked. If not, relevance is only a label."""
    bunches: asyncio.Semaphore = field(default_factory=lambda: asyncio.Semaphore(BUNCHES_AT_ONCE))
    """Limits the number of concurrent branches that only compute. LangGraph's `max_concurrency` is not used, because
    stopping a check would then leave some coroutines unawaited."""
    computing: asyncio.Lock = field(default_factory=asyncio.Lock)
    """Held while a sentence is read or a claim is judged, so that other checks can run in between."""
    steering: dict[str, str] = field(default_factory=dict)
    """The passages and sentences that contain instructions to the judge, each with a description of its origin."""

    def note_steering(self, numbers: Iterable[int], passages: Sequence[Evidence]) -> None:
        """Records the passages with these numbers (from 1, as shown), which contain instructions to the judge."""
        shown = (passages[number - 1] for number in numbers if 1 <= number <= len(passages))
        self.steering.update((item.passage, f"passage of {item.source}") for item in shown)


SafeGraph = CompiledStateGraph[Any, CheckContext, Any, Any]


def tell(runtime: Runtime[CheckContext], kind: str, **event: object) -> None:
    """Sends an event (see `factloop.core.events`) to the listeners of a check."""
    runtime.stream_writer({EVENT: {"type": kind, **event}})


def told_in(chunk: object) -> dict[str, Any] | None:
    """Returns the event in a chunk of the custom stream, or None if the chunk comes from elsewhere."""
    return chunk[EVENT] if isinstance(chunk, dict) and chunk.keys() == {EVENT} else None


@dataclass(frozen=True)
class WindowTask:
    """A few sentences that are read and judged together, and the passages to judge them against."""

    sentences: Sequence[SentenceTask]
    """The sentences, in the order of the response."""
    passages: Sequence[Evidence]
    failure: Judgement | None = None
    """The first failed search if other searches were answered, or None."""
    is_all: bool = False
    """Whether there are no other passages to find."""


@dataclass(frozen=True)
class FoundFact:
    """An atomic fact found by the fused plan."""

    text: str
    self_contained: str
    status: Literal["check", "irrelevant", "ambiguous", "other_language"]
    query: str
    """The first search query. Empty unless the status is `check`."""
    is_whole: bool = False
    """Whether the fact is the whole sentence, because the facts extracted from it did not match it."""


@dataclass(frozen=True)
class SplitSentence:
    """The atomic facts that the paper plan found in a sentence."""

    facts: Sequence[str]
    is_whole: bool = False
    """As in `FoundFact`."""


@dataclass(frozen=True)
class JudgedFact:
    """An atomic fact that the grounded plan found and judged in one step."""

    sentence: int
    """Index of the sentence in the window, starting at 0."""
    text: str
    """The self-contained fact."""
    judgement: Judgement
    relevant: bool | None = None


@dataclass(frozen=True)
class WindowReading:
    """The facts extracted from a window."""

    facts: Sequence[JudgedFact]
    silent: frozenset[int]
    """Indices of the sentences that state nothing. Sentences that are in none of the fields were skipped."""
    unfit: frozenset[int] = frozenset()
    """Indices of the sentences whose extracted facts did not match them. These facts are omitted."""


@dataclass(frozen=True)
class Case:
    """A claim that is being checked, with everything known about it."""

    claim: str
    """The self-contained claim."""
    task: SentenceTask
    """The sentence that states the claim."""
    queries: Sequence[str]
    evidence: Sequence[Evidence]
    searches_left: int
    """Number of queries that may still be made. If it is 0, the next assessment must settle the claim."""
    fruitless: Sequence[str] = ()
    """The queries that found nothing new."""

    @property
    def may_search(self) -> bool:
        return self.searches_left > 0


class Stages(Protocol):
    """The stages that every plan needs."""

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
        """Whether the passages contain what the sentence says is missing, or None if the stages cannot tell."""
        ...


class PaperStages(Stages, Protocol):
    """SAFE's five stages with one call each (Wei et al. 2024, section 3 and appendix C)."""

    async def split(self, task: SentenceTask, context: CheckContext, /) -> SplitSentence: ...

    async def revise(self, fact: str, task: SentenceTask, context: CheckContext, /) -> str: ...

    async def relevance(self, claim: str, task: SentenceTask, context: CheckContext, /) -> bool: ...

    async def next_query(self, case: Case, context: CheckContext, /) -> NextQueries: ...

    async def rate(self, case: Case, context: CheckContext, /) -> Judgement: ...


class FusedStages(Stages, Protocol):
    """SAFE's loop with two kinds of calls: one for sentences and one for claims."""

    async def sentence_facts(
        self, tasks: Sequence[SentenceTask], context: CheckContext, /
    ) -> Sequence[Sequence[FoundFact] | None]:
        """Returns the facts of each sentence. The sentences are neighbours under the same headings.

        If a reply for several sentences skips one of them, its result is None, and the sentence is read again alone.
        """
        ...

    async def given_facts(
        self, task: SentenceTask, facts: Sequence[str], context: CheckContext, /
    ) -> Sequence[FoundFact]:
        """Returns one result per supplied fact of the sentence, in order and with the supplied `text`."""
        ...

    async def assess(self, case: Case, context: CheckContext, /) -> Judgement | NextQueries:
        """Returns a judgement or the next queries. If no searches are left, always returns a judgement."""
        ...

    async def assess_together(
        self, cases: Sequence[Case], evidence: Sequence[Evidence], context: CheckContext, /
    ) -> Sequence[Judgement | NextQueries]:
        """Returns the result of `assess` for each claim, in order, based on the evidence for all claims."""
        ...


class GroundedStages(FusedStages, Protocol):
    """Stages that find and judge the claims of a window in one call, against passages found beforehand.

    Sentences that a reply skips go through the stages of the fused plan.
    """

    async def read(self, window: WindowTask, context: CheckContext, /) -> WindowReading:
        """Returns the facts of the window's sentences, each judged against the passages."""
        ...

    async def judge_given(
        self, claims: Sequence[str], window: WindowTask, context: CheckContext, /
    ) -> Sequence[JudgedFact]:
        """Makes the supplied claims self-contained and judges each against the passages. The order stays the same."""
        ...

    async def look_again(
        self, claims: Sequence[str], window: WindowTask, context: CheckContext, /
    ) -> Sequence[Judgement]:
        """Judges each self-contained claim against the passages. The order stays the same."""
        ...
