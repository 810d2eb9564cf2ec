"""The stages of the SAFE loop as typed strategies, so that a model, an encoder or the offline rules can fill them.

A stage returns what it found or raises a `FactloopError`; the graph turns the error into an unscored claim. Stages hold
no state between calls: everything they need arrives in their input and in the context of the check.
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
"""Branches under way of a judge that waits for nothing: more would keep all else waiting, progress too."""
EVENT = "factloop"
"""The key of an event in LangGraph's custom stream, which a search tool of the user's may write to as well."""


@dataclass(frozen=True)
class CheckContext:
    """What one check brings to the graph, which is compiled once for many (LangGraph's `Runtime.context`)."""

    answer: Answer
    """The whole answer. It stands here once and in no state, since checkpoints keep a state for each claim."""
    meter: UsageMeter
    searching: SearchGateway
    gates: bool = True
    """Whether irrelevant claims are left unchecked; otherwise relevance is only a label."""
    bunches: asyncio.Semaphore = field(default_factory=lambda: asyncio.Semaphore(BUNCHES_AT_ONCE))
    """Places for branches that wait for nothing. LangGraph's `max_concurrency` leaves coroutines behind that are never
    awaited, where a check is stopped."""
    steering: dict[str, str] = field(default_factory=dict)
    """Passages and sentences that tell a judge what to say, as the judge finds them, each with where it is from."""

    def note_steering(self, numbers: Iterable[int], passages: Sequence[Evidence]) -> None:
        """Notes the passages that a reply names by number, from 1."""
        shown = (passages[number - 1] for number in numbers if 1 <= number <= len(passages))
        self.steering.update((item.passage, f"passage of {item.source}") for item in shown)


SafeGraph = CompiledStateGraph[Any, CheckContext, Any, Any]
"""A graph of this agent, compiled."""


def tell(runtime: Runtime[CheckContext], kind: str, **event: object) -> None:
    """Tells those who follow the check what happened (`factloop.core.events`)."""
    runtime.stream_writer({EVENT: {"type": kind, **event}})


def told_in(chunk: object) -> dict[str, Any] | None:
    """The event in a chunk of the custom stream; None if the chunk has another origin."""
    return chunk[EVENT] if isinstance(chunk, dict) and chunk.keys() == {EVENT} else None


@dataclass(frozen=True)
class WindowTask:
    """A few sentences that are read and judged together, and the passages to judge them by."""

    sentences: Sequence[SentenceTask]
    """In the order of the response."""
    passages: Sequence[Evidence]
    failure: Judgement | None = None
    """The first search that failed beside others that were answered, or None."""
    is_all: bool = False
    """Whether the passages are all that there is to judge by."""


@dataclass(frozen=True)
class FoundFact:
    """One atomic fact as the fused plan finds it."""

    text: str
    self_contained: str
    status: Literal["check", "irrelevant", "ambiguous", "other_language"]
    query: str
    """First search query; empty unless the status is `check`."""
    is_whole: bool = False
    """Whether it is its whole sentence, as the facts that were found did not say the same."""


@dataclass(frozen=True)
class SplitSentence:
    """The atomic facts of a sentence as the paper's plan finds them."""

    facts: Sequence[str]
    is_whole: bool = False
    """As in `FoundFact`."""


@dataclass(frozen=True)
class JudgedFact:
    """One atomic fact as the grounded plan finds and judges it at once."""

    sentence: int
    """Place of its sentence in the window, from 0."""
    text: str
    """Self-contained."""
    judgement: Judgement
    relevant: bool | None = None


@dataclass(frozen=True)
class WindowReading:
    """The facts read out of a window."""

    facts: Sequence[JudgedFact]
    silent: frozenset[int]
    """Places of the sentences that state nothing. Those in no field were passed over."""
    unfit: frozenset[int] = frozenset()
    """Places of the sentences whose facts did not say what they say: these facts are left out."""


@dataclass(frozen=True)
class Case:
    """A claim in the middle of its loop, with all that is known about it."""

    claim: str
    """Self-contained."""
    task: SentenceTask
    """The sentence that states it."""
    queries: Sequence[str]
    evidence: Sequence[Evidence]
    searches_left: int
    """How many more queries may be asked; with 0 the next assessment must settle it."""
    fruitless: Sequence[str] = ()
    """The queries that brought nothing new."""

    @property
    def may_search(self) -> bool:
        return self.searches_left > 0


class Stages(Protocol):
    """What all stages have in common."""

    @property
    def name(self) -> str:
        """The judge, as reports name it."""
        ...

    @property
    def reads_code(self) -> bool:
        """Whether it can tell what code states."""
        ...

    async def abstention(
        self, task: SentenceTask, passages: Sequence[Evidence], context: CheckContext, /
    ) -> Abstention | None:
        """Whether the passages have what the sentence says cannot be told; None where it cannot find out."""
        ...


class PaperStages(Stages, Protocol):
    """SAFE's five stages, one call each (Wei et al. 2024, section 3 and appendix C)."""

    async def split(self, task: SentenceTask, context: CheckContext, /) -> SplitSentence: ...

    async def revise(self, fact: str, task: SentenceTask, context: CheckContext, /) -> str: ...

    async def relevance(self, claim: str, task: SentenceTask, context: CheckContext, /) -> bool: ...

    async def next_query(self, case: Case, context: CheckContext, /) -> NextQueries: ...

    async def rate(self, case: Case, context: CheckContext, /) -> Judgement: ...


class FusedStages(Stages, Protocol):
    """The same loop in two kinds of call: one on sentences, one on claims."""

    async def sentence_facts(
        self, tasks: Sequence[SentenceTask], context: CheckContext, /
    ) -> Sequence[Sequence[FoundFact] | None]:
        """The facts of each of these neighbouring sentences, which stand under the same headings.

        None stands for a sentence of several that was passed over: it is read again alone.
        """
        ...

    async def given_facts(
        self, task: SentenceTask, facts: Sequence[str], context: CheckContext, /
    ) -> Sequence[FoundFact]:
        """Facts of the sentence that are split already: one for each, in order, its `text` as given."""
        ...

    async def assess(self, case: Case, context: CheckContext, /) -> Judgement | NextQueries:
        """A judgement, or the next queries. With no searches left it is always a judgement."""
        ...

    async def assess_together(
        self, cases: Sequence[Case], evidence: Sequence[Evidence], context: CheckContext, /
    ) -> Sequence[Judgement | NextQueries]:
        """`assess` for each of these claims, in order, by the evidence of all of them."""
        ...


class GroundedStages(FusedStages, Protocol):
    """Claims found and judged in one call for a window of sentences, by passages that are there already.

    What it leaves out goes through the stages of the fused plan.
    """

    async def read(self, window: WindowTask, context: CheckContext, /) -> WindowReading:
        """The facts of the window's sentences, each with its judgement by the passages."""
        ...

    async def look_again(
        self, claims: Sequence[str], window: WindowTask, context: CheckContext, /
    ) -> Sequence[JudgedFact]:
        """The claims by the passages, one judgement for each, in their order; `text` is the claim, self-contained."""
        ...
