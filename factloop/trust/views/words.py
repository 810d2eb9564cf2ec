"""The words and signs of a TrustScore, the same on every surface.

Evidence is marked ✓ ○ ✗, as in a fact-check; belief is marked = (the subject chooses the answer) and ≠ (it chooses
another), so that neither is taken for the other and none needs a colour.
"""

from __future__ import annotations

from enum import StrEnum

from factloop.agents.trustscore.records import ClaimStanding, Relation, Source, SubstitutionLevel, TrustBC, TrustFC
from factloop.core.reasons import ABOUT

UNSCORED_SIGN = "?"


class Belief(StrEnum):
    """The words for a score of TrustBC."""

    CONSISTENT = "consistent"
    INCONSISTENT = "inconsistent"
    UNSCORED = "unscored"

    @property
    def words(self) -> str:
        return self.value

    @property
    def sign(self) -> str:
        return {"consistent": "=", "inconsistent": "≠"}.get(self.value, UNSCORED_SIGN)

    @property
    def sentence(self) -> str:
        return _BELIEF_SENTENCES[self]


_BELIEF_SENTENCES = {
    Belief.CONSISTENT: "The model stands by this answer.",
    Belief.INCONSISTENT: "The model does not stand by this answer.",
    Belief.UNSCORED: "Whether the model stands by this answer is unknown.",
}


class Documents(StrEnum):
    """The words for a relation of TrustFC."""

    SUPPORT = "support"
    NEUTRAL = "neutral"
    CONTRADICT = "contradict"
    UNSCORED = "unscored"

    @property
    def words(self) -> str:
        return _DOCUMENT_WORDS[self]

    @property
    def sign(self) -> str:
        return {"support": "✓", "neutral": "○", "contradict": "✗"}.get(self.value, UNSCORED_SIGN)

    @property
    def sentence(self) -> str:
        return _DOCUMENT_SENTENCES[self]


_DOCUMENT_WORDS = {
    Documents.SUPPORT: "supported",
    Documents.NEUTRAL: "neutral",
    Documents.CONTRADICT: "contradicted",
    Documents.UNSCORED: "unscored",
}

_DOCUMENT_SENTENCES = {
    Documents.SUPPORT: "The passages support it.",
    Documents.NEUTRAL: "The passages neither support it nor speak against it.",
    Documents.CONTRADICT: "The passages speak against it.",
    Documents.UNSCORED: "Whether documents support it is unknown.",
}


def belief_of(trust_bc: TrustBC | None) -> Belief:
    if trust_bc is None or trust_bc.value is None:
        return Belief.UNSCORED
    return Belief.CONSISTENT if trust_bc.value == 1 else Belief.INCONSISTENT


def documents_of(trust_fc: TrustFC) -> Documents:
    match trust_fc.relation:
        case Relation.SUPPORT:
            return Documents.SUPPORT
        case Relation.NEUTRAL:
            return Documents.NEUTRAL
        case Relation.CONTRADICT:
            return Documents.CONTRADICT
        case None:
            return Documents.UNSCORED


STANDING_WORDS = {
    ClaimStanding.SUPPORTED_INSISTED: "supported, and insisted upon",
    ClaimStanding.SUPPORTED_WAVERING: "supported, but wavering",
    ClaimStanding.UNSUPPORTED_INSISTED: "unsupported, but insisted upon",
    ClaimStanding.UNSUPPORTED_WAVERING: "unsupported, and wavering",
    ClaimStanding.UNPLACED: "not placed",
}

STANDING_SIGNS = {
    ClaimStanding.SUPPORTED_INSISTED: "✓=",
    ClaimStanding.SUPPORTED_WAVERING: "✓≠",
    ClaimStanding.UNSUPPORTED_INSISTED: "✗=",
    ClaimStanding.UNSUPPORTED_WAVERING: "✗≠",
    ClaimStanding.UNPLACED: UNSCORED_SIGN,
}
"""What evidence says, then what the subject does."""

LEVEL_WORDS = {
    SubstitutionLevel.ENTITY: "entity",
    SubstitutionLevel.NOUN_OR_NUMBER: "noun or number",
    SubstitutionLevel.VERB_ADJECTIVE_OR_SHARED: "verb, adjective or shared with the question",
    SubstitutionLevel.ANY_WORD: "any word",
}

SOURCE_WORDS = {
    Source.MODEL: "the judge model",
    Source.DBPEDIA: "DBpedia",
    Source.KNOWLEDGE_BASE: "knowledge base",
    Source.BUILT_IN: "built-in names",
    Source.DATE: "another date",
    Source.NUMBER: "another number",
    Source.EMBEDDING: "embedding neighbour",
    Source.VOCABULARY: "vocabulary",
}

BELIEF_REASONS = {reason: about.belief for reason, about in ABOUT.items()}
"""Why a check or TrustBC has no value."""

DOCUMENT_REASONS = {reason: about.documents for reason, about in ABOUT.items()}
"""Why TrustFC has no value."""
