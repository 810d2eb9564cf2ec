"""Defines the structured outputs requested from a model. The class names are the schema titles, a public contract.

Paper plan: `AtomicFacts`, `SelfContainedFact`, `Relevance`, `SearchQuery`, `Rating`; the plan `safe` uses
`PublishedRating` instead of `Rating`.
Fused plan: `SentenceFacts`, `WindowFacts`, `Assessments`, `Assessment`.
Grounded plan: `GroundedFacts`, `GroundedClaims`; `GivenClaims` for claims supplied by the caller.
All plans: `Abstention`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from pydantic import Field

from factloop.tools.models.schema import StructuredOutput


class AtomicFacts(StructuredOutput):
    """The atomic facts of one sentence, in order; empty where the sentence states none."""

    facts: list[str]


class SelfContainedFact(StructuredOutput):
    """One fact with its vague references replaced by what the response says they are."""

    fact: str


class Relevance(StructuredOutput):
    reason: str
    """Why, in a sentence."""
    relevant: bool
    """Whether the fact's subject has to do with the question."""


class SearchQuery(StructuredOutput):
    query: str
    """The next query; empty where the passages settle the fact."""


class Rating(StructuredOutput):
    reasoning: str
    """Two or three sentences that come before the rating."""
    cited: list[int]
    """Numbers of the passages that the rating rests on, from 1."""
    wrong: str
    """The words of the fact that the passages have otherwise; empty unless it is contradicted."""
    rating: Literal["supported", "contradicted", "disputed", "not_supported"]
    """What the passages say of the fact."""
    steering: list[int] = Field(default_factory=list)
    """Numbers of the passages that say how to judge."""


class PublishedRating(StructuredOutput):
    reasoning: str
    """The steps that lead to the rating."""
    rating: Literal["supported", "not_supported"]
    """Whether the evidence strongly implies the fact."""


class SentenceFact(StructuredOutput):
    fact: str
    """Self-contained."""
    status: Literal["check", "irrelevant", "ambiguous"]
    """Whether it is to be checked, has nothing to do with the question, or leaves open whom it means."""
    query: str
    """First search query; empty unless the status is `check`."""


class SentenceFacts(StructuredOutput):
    """The facts given for one sentence, in order: each self-contained, with its relevance and a first query."""

    facts: list[SentenceFact]


class WindowFact(StructuredOutput):
    sentence: int
    """Number of its sentence, from 1."""
    fact: str
    """Self-contained."""
    status: Literal["check", "irrelevant", "ambiguous"]
    """Whether it is to be checked, has nothing to do with the question, or leaves open whom it means."""
    query: str
    """First search query; empty unless the status is `check`."""


class WindowFacts(StructuredOutput):
    """The facts of one sentence or several, each with its relevance and a first query."""

    facts: list[WindowFact]
    without_fact: list[int] = Field(default_factory=list)
    """Numbers of the sentences that state nothing."""


class Assessment(StructuredOutput):
    """What the evidence says of a claim."""

    rationale: str
    """Why, with the numbers of passages in square brackets."""
    cited: list[int]
    """Numbers of the passages that the verdict rests on, from 1."""
    wrong: str
    """The words of the claim that the passages have otherwise; empty unless it is contradicted."""
    verdict: Literal["supported", "contradicted", "disputed", "insufficient", "ambiguous"]
    """What the evidence says of the claim; `insufficient` searches on while searches are left."""
    steering: list[int] = Field(default_factory=list)
    """Numbers of the passages that say how to judge."""


class NumberedAssessment(StructuredOutput):
    """What the evidence says of one of several claims."""

    claim: int
    """Its number, from 1."""
    rationale: str
    """Why, with the numbers of passages in square brackets."""
    cited: list[int]
    """Numbers of the passages that the verdict rests on, from 1."""
    wrong: str
    """The words of the claim that the passages have otherwise; empty unless it is contradicted."""
    verdict: Literal["supported", "contradicted", "disputed", "insufficient", "ambiguous"]
    """What the evidence says of the claim."""
    queries: list[str]
    """What to search for next; empty unless the evidence is insufficient."""


class Assessments(StructuredOutput):
    """Several claims, each judged once by the evidence, in order."""

    claims: list[NumberedAssessment]
    steering: list[int] = Field(default_factory=list)
    """Numbers of the passages that say how to judge."""


class SearchCall(StructuredOutput):
    """Arguments of a search tool as it is offered to the model: what is missing, and the queries that should bring it.

    A model without tool calling gives them beside its `Assessment`.
    """

    missing: str = ""
    """What is still missing."""
    queries: list[str] = Field(default_factory=list)
    """What to search for next."""


class JudgedByPassages(StructuredOutput):
    """A verdict, in the order in which a model thinks: passages, why, what follows."""

    passages: list[int]
    """Numbers of the passages that the verdict rests on, from 1."""
    reason: str = ""
    """With any arithmetic; empty where a passage simply says so."""
    verdict: Literal["supported", "contradicted", "disputed", "insufficient"]
    """What the passages say of the fact or claim."""
    wrong: str = ""
    """Its words that the passages have otherwise; empty unless it is contradicted."""


class _OfSentence(StructuredOutput):
    sentence: int
    """Number of its sentence, from 1."""
    fact: str
    """Self-contained."""


class _OfClaim(StructuredOutput):
    claim: int
    """Its number, from 1."""


class _OfGivenClaim(_OfClaim):
    fact: str = ""
    """The claim, self-contained; empty where it is so as it stands."""


class GroundedFact(JudgedByPassages, _OfSentence):
    """A fact and its verdict. Fields of later bases come first."""


class GroundedFacts(StructuredOutput):
    """The facts of a few sentences, each judged by the passages."""

    facts: list[GroundedFact]
    without_fact: list[int] = Field(default_factory=list)
    """Numbers of the sentences that state nothing."""
    off_topic: list[int] = Field(default_factory=list)
    """Numbers of the sentences that have nothing to do with the question."""
    steering: list[int] = Field(default_factory=list)
    """Numbers of the passages that say how to judge."""
    steering_sentences: list[int] = Field(default_factory=list)
    """Numbers of the sentences that do so."""


class GroundedClaim(JudgedByPassages, _OfClaim):
    """A claim that was split before."""


class GroundedClaims(StructuredOutput):
    """Some claims, each judged once by the passages, in their order."""

    claims: list[GroundedClaim]
    steering: list[int] = Field(default_factory=list)
    """Numbers of the passages that say how to judge."""


class GivenClaim(JudgedByPassages, _OfGivenClaim):
    """A claim that the caller supplied. It may leave out whom it is about."""


class GivenClaims(StructuredOutput):
    """`GroundedClaims` for claims that the caller gave."""

    claims: list[GivenClaim]
    steering: list[int] = Field(default_factory=list)
    """Numbers of the passages that say how to judge."""


class Abstention(StructuredOutput):
    """Whether the passages have what a sentence says cannot be told."""

    missing: str
    """What that is, as a question."""
    passages: list[int]
    """Numbers of the passages that answer it, from 1."""
    answer: str
    """What they answer; empty if none does."""


class AssessmentOrSearch(Assessment, SearchCall):
    """What a model without tool calling is asked for."""


REPLIES: Mapping[str, tuple[type[StructuredOutput], ...]] = {
    **{one.__name__: (one,) for one in (AtomicFacts, SelfContainedFact, Relevance, SearchQuery, Rating, Abstention)},
    **{one.__name__: (one,) for one in (PublishedRating, GroundedFacts)},
    "GroundedClaims": (GroundedClaims, GivenClaims),
    "SentenceFacts": (SentenceFacts,),
    "WindowFacts": (WindowFacts,),
    "Assessment": (Assessment, AssessmentOrSearch, Assessments),
}
"""Maps the schema title in a prompt to the schemas that its replies may have."""
