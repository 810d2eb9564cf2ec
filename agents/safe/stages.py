"""The stages of the SAFE loop as typed strategies, so that a model, an encoder or the offline rules can fill them.

A stage returns what it found or raises a `FactloopError`; the graph turns the error into an unscored claim. Stages hold
no state between calls: everything they need arrives in their input.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

from factloop.records import Evidence, Judgement


@dataclass(frozen=True)
class SentenceTask:
    """One sentence of the response under check. `response[start:end] == sentence`, unless facts were given for a
    sentence that the response does not hold: there `start == end`.
    """

    prompt: str | None
    response: str
    sentence: str
    start: int
    end: int


@dataclass(frozen=True)
class FoundFact:
    """One atomic fact as the fused plan finds it."""

    text: str
    self_contained: str
    status: Literal["check", "irrelevant", "ambiguous"]
    query: str
    """First search query; empty unless the status is `check`."""


@dataclass(frozen=True)
class Case:
    """What is known about one claim in the middle of its loop."""

    claim: str
    """Self-contained."""
    queries: tuple[str, ...]
    evidence: tuple[Evidence, ...]
    may_search: bool
    """False where the search budget of this claim is used up: the next assessment must settle it."""


@dataclass(frozen=True)
class NextQuery:
    """A wish to search. `tool` is None for the default tool; `missing` says what the evidence lacks so far."""

    query: str
    missing: str = ""
    tool: str | None = None


class PaperStages(Protocol):
    """SAFE's five stages, one call each (Wei et al. 2024, section 3 and appendix C)."""

    @property
    def name(self) -> str:
        """The judge, as reports name it."""
        ...

    async def split(self, task: SentenceTask) -> Sequence[str]: ...

    async def revise(self, fact: str, task: SentenceTask) -> str: ...

    async def relevance(self, claim: str, task: SentenceTask) -> bool: ...

    async def next_query(self, case: Case) -> NextQuery: ...

    async def rate(self, case: Case) -> Judgement: ...


class FusedStages(Protocol):
    """The same loop in two calls: one per sentence, one per round of a claim."""

    @property
    def name(self) -> str:
        """The judge, as reports name it."""
        ...

    async def sentence_facts(self, task: SentenceTask) -> Sequence[FoundFact]: ...

    async def given_facts(self, task: SentenceTask, facts: Sequence[str]) -> Sequence[FoundFact]:
        """Facts of the sentence that are split already: one for each, in order, its `text` as given."""
        ...

    async def assess(self, case: Case) -> Judgement | NextQuery:
        """A judgement, or the next query. With `may_search` False it is always a judgement."""
        ...
