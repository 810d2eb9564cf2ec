"""The stages of the SAFE loop as typed strategies, so that a model, an encoder or the offline rules can fill them.

A stage returns what it found or raises a `FactloopError`; the graph turns the error into an unscored claim. Stages hold
no state between calls: everything they need arrives in their input and in the context of the check.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

from factloop.agents.safe.context import CheckContext
from factloop.core.records import Evidence, Judgement


@dataclass(frozen=True)
class SentenceTask:
    """One sentence of the response under check, a row of a table, or code.

    `response[start:end] == sentence`, unless facts were given for a sentence that the response does not hold: there
    `start == end`.
    """

    prompt: str | None
    response: str
    sentence: str
    start: int
    end: int
    above: str = ""
    """What it is to be read under, a line each: headings, then the lead of its list or the head of its table."""


@dataclass(frozen=True)
class WindowTask:
    """A few sentences that are read and judged together, and the passages to judge them by."""

    sentences: tuple[SentenceTask, ...]
    """Sentences of one response, in its order."""
    passages: tuple[Evidence, ...]
    failure: Judgement | None = None
    """The first search that failed beside others that were answered, or None."""

    @property
    def prompt(self) -> str | None:
        return self.sentences[0].prompt

    @property
    def response(self) -> str:
        return self.sentences[0].response


@dataclass(frozen=True)
class FoundFact:
    """One atomic fact as the fused plan finds it."""

    text: str
    self_contained: str
    status: Literal["check", "irrelevant", "ambiguous", "other_language"]
    query: str
    """First search query; empty unless the status is `check`."""


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

    facts: tuple[JudgedFact, ...]
    silent: frozenset[int]
    """Places of the sentences that state nothing. Those neither here nor among the facts were passed over."""


@dataclass(frozen=True)
class Case:
    """A claim in the middle of its loop, with all that is known about it."""

    claim: str
    """Self-contained."""
    task: SentenceTask
    """The sentence that it stands in."""
    queries: tuple[str, ...]
    evidence: tuple[Evidence, ...]
    searches_left: int
    """How many more queries may be asked; with 0 the next assessment must settle it."""
    fruitless: tuple[str, ...] = ()
    """The queries that brought nothing new."""

    @property
    def may_search(self) -> bool:
        return self.searches_left > 0


@dataclass(frozen=True)
class NextQueries:
    """A wish to search, for one thing or several at once."""

    queries: tuple[str, ...]
    missing: str = ""
    """What the evidence lacks so far."""
    tool: str | None = None
    """None for the default tool."""


class PaperStages(Protocol):
    """SAFE's five stages, one call each (Wei et al. 2024, section 3 and appendix C)."""

    @property
    def name(self) -> str:
        """The judge, as reports name it."""
        ...

    @property
    def reads_code(self) -> bool:
        """Whether it can tell what code states."""
        ...

    async def split(self, task: SentenceTask, context: CheckContext, /) -> Sequence[str]: ...

    async def revise(self, fact: str, task: SentenceTask, context: CheckContext, /) -> str: ...

    async def relevance(self, claim: str, task: SentenceTask, context: CheckContext, /) -> bool: ...

    async def next_query(self, case: Case, context: CheckContext, /) -> NextQueries: ...

    async def rate(self, case: Case, context: CheckContext, /) -> Judgement: ...


class FusedStages(Protocol):
    """The same loop in two kinds of call: one on sentences, one on claims."""

    @property
    def name(self) -> str:
        """The judge, as reports name it."""
        ...

    @property
    def reads_code(self) -> bool:
        """Whether it can tell what code states."""
        ...

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
