"""Defines the words and symbols for TrustScores, so that they are the same everywhere.

Evidence is marked ✓ ○ ✗, as in a fact-check. Belief is marked = if the subject chooses its own answer, or ≠ if it
chooses another option. No mark depends on colour.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Self

from factloop.agents.trustscore.records import ClaimStanding, Source, SubstitutionLevel, TrustBC, TrustFC
from factloop.core.reasons import ABOUT

UNSCORED_SIGN = "?"


class _Shown(StrEnum):
    words: str
    sign: str
    sentence: str

    def __new__(cls, value: str, words: str, sign: str, sentence: str) -> Self:
        member = str.__new__(cls, value)
        member._value_, member.words, member.sign, member.sentence = value, words, sign, sentence
        return member


class Belief(_Shown):
    """The value of TrustBC, in words."""

    CONSISTENT = "consistent", "consistent", "=", "The model stands by this answer."
    INCONSISTENT = "inconsistent", "inconsistent", "≠", "The model does not stand by this answer."
    UNSCORED = "unscored", "unscored", UNSCORED_SIGN, "Whether the model stands by this answer is unknown."


class Documents(_Shown):
    """The relation of TrustFC, in words."""

    SUPPORT = "support", "supported", "✓", "The passages support it."
    NEUTRAL = "neutral", "neutral", "○", "The passages neither support nor contradict it."
    CONTRADICT = "contradict", "contradicted", "✗", "The passages contradict it."
    UNSCORED = "unscored", "unscored", UNSCORED_SIGN, "Whether documents support it is unknown."


def belief_of(trust_bc: TrustBC | None) -> Belief:
    if trust_bc is None or trust_bc.value is None:
        return Belief.UNSCORED
    return Belief.CONSISTENT if trust_bc.value == 1 else Belief.INCONSISTENT


def documents_of(trust_fc: TrustFC) -> Documents:
    return Documents.UNSCORED if trust_fc.relation is None else Documents[trust_fc.relation.name]


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
"""The symbol for the evidence, followed by the symbol for the subject's choice."""

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

BELIEF_REASONS = {reason: about.belief for reason, about in ABOUT.items()}  # why a check or TrustBC has no value

DOCUMENT_REASONS = {reason: about.documents for reason, about in ABOUT.items()}  # why TrustFC has no value
