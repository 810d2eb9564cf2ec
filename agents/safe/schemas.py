"""The structured outputs requested from a model. Class names are public, because they are schema titles.

Paper plan: `AtomicFacts`, `SelfContainedFact`, `Relevance`, `SearchQuery`, `Rating`. The `safe` plan uses
`PublishedRating` instead of `Rating`.
Fused plan: `SentenceFacts`, `WindowFacts`, `Assessments`, `Assessment`.
Grounded plan: `GroundedFacts`, `GroundedClaims`, and `GivenClaims` for claims supplied by the caller.
All plans: `Abstention`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from pydantic import Field

from factloop.tools.models.schema import StructuredOutput


class AtomicFacts(StructuredOutput):
    """The atomic facts of one sentence, in order. Empty if the sentence states none."""

    facts: list[str]


class SelfContainedFact(StructuredOutput):
    """One fact, with vague references replaced by what they refer to in the response."""

    fact: str


class Relevance(StructuredOutput):
    reason: str
    """The reason, in one sentence."""
    relevant: bool
    """Whether the fact's subject is related to the question."""


class SearchQuery(StructuredOutput):
    query: str
    """The next query; empty if the passages settle the fact."""


class Rating(StructuredOutput):
    reasoning: str
    """Two or three sentences of reasoning, written before the rating."""
    cited: list[int]
    """Numbers of the passages on which the rating is based, starting at 1."""
    wrong: str
    """The words of the fact that the passages contradict; empty unless it is contradicted."""
    rating: Literal["supported", "contradicted", "disputed", "not_supported"]
    """What the passages say about the fact."""
    steering: list[int] = Field(default_factory=list)
    """Numbers of the passages that contain instructions to the judge."""


class PublishedRating(StructuredOutput):
    reasoning: str
    """The steps that lead to the rating."""
    rating: Literal["supported", "not_supported"]
    """Whether the evidence strongly implies the fact."""


class SentenceFact(StructuredOutput):
    fact: str
    """The self-contained fact."""
    status: Literal["check", "irrelevant", "ambiguous"]
    """Whether the fact should be checked, is unrelated to the question, or does not say whom it means."""
    query: str
    """First search query; empty unless the status is `check`."""


class SentenceFacts(StructuredOutput):
    """The facts supplied for one sentence, in order. Each is self-contained and has a status and a first query."""

    facts: list[SentenceFact]


class WindowFact(StructuredOutput):
    sentence: int
    """Number of the sentence that states the fact, starting at 1."""
    fact: str
    """The self-contained fact."""
    status: Literal["check", "irrelevant", "ambiguous"]
    """Whether the fact should be checked, is unrelated to the question, or does not say whom it means."""
    query: str
    """First search query; empty unless the status is `check`."""


class WindowFacts(StructuredOutput):
    """The facts of one or more sentences, each with a status and a first query."""

    facts: list[WindowFact]
    without_fact: list[int] = Field(default_factory=list)
    """Numbers of the sentences that state nothing."""


class Assessment(StructuredOutput):
    """What the evidence says about a claim."""

    rationale: str
    """The reason, with passage numbers in square brackets."""
    cited: list[int]
    """Numbers of the passages on which the verdict is based, starting at 1."""
    wrong: str
    """The words of the claim that the passages contradict; empty unless it is contradicted."""
    verdict: Literal["supported", "contradicted", "disputed", "insufficient", "ambiguous"]
    """What the evidence says about the claim. `insufficient` continues the search if any searches are left."""
    steering: list[int] = Field(default_factory=list)
    """Numbers of the passages that contain instructions to the judge."""


class NumberedAssessment(StructuredOutput):
    """What the evidence says about one of several claims."""

    claim: int
    """Number of the claim, starting at 1."""
    rationale: str
    """The reason, with passage numbers in square brackets."""
    cited: list[int]
    """Numbers of the passages on which the verdict is based, starting at 1."""
    wrong: str
    """The words of the claim that the passages contradict; empty unless it is contradicted."""
    verdict: Literal["supported", "contradicted", "disputed", "insufficient", "ambiguous"]
    """What the evidence says about the claim."""
    queries: list[str]
    """What to search for next; empty unless the evidence is insufficient."""


class Assessments(StructuredOutput):
    """Judgements of several claims, one for each claim and in the same order."""

    claims: list[NumberedAssessment]
    steering: list[int] = Field(default_factory=list)
    """Numbers of the passages that contain instructions to the judge."""


class SearchCall(StructuredOutput):
    """Arguments of a search tool offered to the model: the missing information, and queries to find it.

    A model without tool calling returns them along with its `Assessment`.
    """

    missing: str = ""
    """What is still missing."""
    queries: list[str] = Field(default_factory=list)
    """What to search for next."""


class JudgedByPassages(StructuredOutput):
    """A verdict. The order of its fields is the order in which a model should think: passages, reason, verdict."""

    passages: list[int]
    """Numbers of the passages on which the verdict is based, starting at 1."""
    reason: str = ""
    """The reason, with any arithmetic; empty if a passage simply says so."""
    verdict: Literal["supported", "contradicted", "disputed", "insufficient"]
    """What the passages say about the fact or claim."""
    wrong: str = ""
    """The words that the passages contradict; empty unless the fact or claim is contradicted."""


class _OfSentence(StructuredOutput):
    sentence: int
    """Number of the sentence that states the fact, starting at 1."""
    fact: str
    """The self-contained fact."""


class _OfClaim(StructuredOutput):
    claim: int
    """Number of the claim, starting at 1."""


class _OfGivenClaim(_OfClaim):
    fact: str = ""
    """The claim made self-contained; empty if it already is."""


class GroundedFact(JudgedByPassages, _OfSentence):
    """A fact and its verdict. The fields of later base classes come first."""


class GroundedFacts(StructuredOutput):
    """The facts of a few sentences, each judged against the passages."""

    facts: list[GroundedFact]
    without_fact: list[int] = Field(default_factory=list)
    """Numbers of the sentences that state nothing."""
    off_topic: list[int] = Field(default_factory=list)
    """Numbers of the sentences that are unrelated to the question."""
    steering: list[int] = Field(default_factory=list)
    """Numbers of the passages that contain instructions to the judge."""
    steering_sentences: list[int] = Field(default_factory=list)
    """Numbers of the sentences that contain instructions to the judge."""


class GroundedClaim(JudgedByPassages, _OfClaim):
    """A judgement of a claim that was extracted earlier."""


class GroundedClaims(StructuredOutput):
    """Judgements of several claims, one for each claim and in the same order."""

    claims: list[GroundedClaim]
    steering: list[int] = Field(default_factory=list)
    """Numbers of the passages that contain instructions to the judge."""


class GivenClaim(JudgedByPassages, _OfGivenClaim):
    """A judgement of a claim that the caller supplied. The claim may not say whom it is about."""


class GivenClaims(StructuredOutput):
    """Like `GroundedClaims`, for claims supplied by the caller."""

    claims: list[GivenClaim]
    steering: list[int] = Field(default_factory=list)
    """Numbers of the passages that contain instructions to the judge."""


class Abstention(StructuredOutput):
    """Whether the passages contain the information that a sentence says is not available."""

    missing: str
    """The missing information, as a question."""
    passages: list[int]
    """Numbers of the passages that answer the question, starting at 1."""
    answer: str
    """The answer that these passages give; empty if no passage answers the question."""


class AssessmentOrSearch(Assessment, SearchCall):
    """The reply requested from a model without tool calling."""


REPLIES: Mapping[str, tuple[type[StructuredOutput], ...]] = {
    **{one.__name__: (one,) for one in (AtomicFacts, SelfContainedFact, Relevance, SearchQuery, Rating, Abstention)},
    **{one.__name__: (one,) for one in (PublishedRating, GroundedFacts)},
    "GroundedClaims": (GroundedClaims, GivenClaims),
    "SentenceFacts": (SentenceFacts,),
    "WindowFacts": (WindowFacts,),
    "Assessment": (Assessment, AssessmentOrSearch, Assessments),
}
"""Maps the schema title in a prompt to the schemas that its replies may have."""
