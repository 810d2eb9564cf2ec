"""The records of TrustScore: what was asked, what was chosen, and what documents say.

The rules of `factloop.core.records` hold: a part is either a value or unscored with a reason, and every question that
was asked is in the report.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from enum import StrEnum
from typing import Annotated, Any, Literal, Self

from pydantic import Field, model_validator

from factloop.core.records import Claim, Count, Evidence, FactualityReport, Record, Share, UnscoredReason, Usage

Span = tuple[Count, Count]
Letter = Literal["A", "B", "C", "D", "E"]


class SubstitutionLevel(StrEnum):
    """The level of the words that are replaced, most informative first (paper, section 2.1)."""

    ENTITY = "entity"
    """An entity that stands only in the response."""
    NOUN_OR_NUMBER = "noun_or_number"
    """A noun, number or date that stands only in the response."""
    VERB_ADJECTIVE_OR_SHARED = "verb_adjective_or_shared"
    """A verb or adjective, or an entity, noun or number that the question has, too."""
    ANY_WORD = "any_word"


class Source(StrEnum):
    """The source of a substitute, best first."""

    MODEL = "model"
    """Proposed by the judge model (`--distractors model`)."""
    DBPEDIA = "dbpedia"
    KNOWLEDGE_BASE = "knowledge_base"
    """A table that `factloop research kb build` made."""
    BUILT_IN = "built_in"
    """Countries, cities, people and other names that come with the installation."""
    DATE = "date"
    NUMBER = "number"
    EMBEDDING = "embedding"
    VOCABULARY = "vocabulary"
    """Any word of the same part of speech."""


class Distractor(Record):
    """The response with one word or entity replaced."""

    text: str
    replaced: str
    span: Span
    """Span of the replaced words in the response, in characters."""
    by: str
    level: SubstitutionLevel
    source: Source
    detail: str = ""
    """Why this substitute: the types shared, the cosine, the part of speech."""


class DistractorSet(Record):
    """All distractors made for one response, best first, and what went wrong on the way."""

    question: str
    response: str
    wanted: Count
    distractors: tuple[Distractor, ...]
    notes: tuple[str, ...] = ()
    """Sources that failed or were not there, in words; the next source was used instead."""
    seed: int
    usage: Usage | None = None
    """What the proposals of a model cost, where distractors were all that was asked for; elsewhere None."""


class OptionKind(StrEnum):
    RESPONSE = "response"
    DISTRACTOR = "distractor"
    NONE_OF_THE_ABOVE = "none_of_the_above"


class Option(Record):
    """One option of a question, as it was shown."""

    letter: Letter
    text: str
    kind: OptionKind
    distractor: Count | None = None
    """Place of a distractor in the report's list of distractors, from 0; None for other options."""


class ConsistencyCheck(Record):
    """One multiple-choice question: the options in the order shown, and what the subject chose."""

    number: Annotated[int, Field(ge=1)]
    options: tuple[Option, ...]
    chosen: Letter | None = None
    unscored_reason: UnscoredReason | None = None
    """Why there is no choice."""
    reply: str = ""
    """The subject's reply if no choice could be read in it, or why there is no reply."""
    letter_probabilities: Mapping[Letter, Share] | None = None
    """Probability of each letter, where the server gave log-probabilities; a letter that it did not list is absent."""
    counted: bool = True
    """False for a check asked in the same window as an earlier inconsistent one, which had ended the matter."""

    @model_validator(mode="before")
    @classmethod
    def _without_reuses(cls, data: Any) -> Any:
        """Earlier versions said whether a distractor was shown again; now none is."""
        return {key: value for key, value in data.items() if key != "reuses"} if isinstance(data, dict) else data

    @model_validator(mode="after")
    def _is_chosen_or_unscored(self) -> Self:
        if (self.chosen is None) == (self.unscored_reason is None):
            raise ValueError("a check has either a choice or an unscored_reason")
        return self

    @property
    def response_letter(self) -> Letter:
        return next(option.letter for option in self.options if option.kind is OptionKind.RESPONSE)

    @property
    def consistent(self) -> bool | None:
        """Whether the subject chose its response; None if it made no choice."""
        return None if self.chosen is None else self.chosen == self.response_letter


NOT_ANSWERED = "The subject gave no answer"
"""Begins the rationale of both parts where the subject was asked for its answer and failed."""


class TrustBC(Record):
    """Behavioural consistency (paper, section 2.1): 1 if the subject chose the response in every check, 0 if not."""

    value: Literal[0, 1] | None = None
    unscored_reason: UnscoredReason | None = None
    rationale: str = ""
    graded: Share | None = None
    """Mean probability of the response's letter over the counted checks, where all of them have probabilities.

    A letter that the server did not list among its likeliest counts as 0. None where the five letters together held
    less than half (`letters_mass`): a subject that would rather have said something else was held to a letter.
    """
    letters_mass: Share | None = None
    """Mean probability of all five letters, where they were chosen, over the counted checks."""
    max_checks: Annotated[int, Field(ge=1)]
    n_planned: Count
    """Checks that the distractors allow, at most `max_checks`; fewer where there are fewer combinations."""
    n_asked: Count = 0
    n_consistent: Count = 0
    """Consistent choices among the counted checks."""
    n_inconsistent: Count = 0
    n_unscored: Count = 0
    checks: tuple[ConsistencyCheck, ...] = ()
    distractors: tuple[Distractor, ...] = ()
    notes: tuple[str, ...] = ()

    @model_validator(mode="after")
    def _is_value_or_unscored(self) -> Self:
        if (self.value is None) == (self.unscored_reason is None):
            raise ValueError("TrustBC has either a value or an unscored_reason")
        return self


class Relation(StrEnum):
    """The relation of the passages to the answer."""

    SUPPORT = "support"
    NEUTRAL = "neutral"
    CONTRADICT = "contradict"


class TrustFC(Record):
    """Factual consistency (paper, appendix A.5.2): whether passages support the answer to the question."""

    relation: Relation | None = None
    value: Share | None = None
    """1 for support, 0.5 for neutral, 0 for contradict. The paper names the relations and gives no numbers."""
    unscored_reason: UnscoredReason | None = None
    rationale: str = ""
    query: str = ""
    passages: tuple[Evidence, ...] = ()
    cited: tuple[str, ...] = ()
    """Ids of the passages that the judgement rests on."""
    judged_by: str = ""

    @model_validator(mode="after")
    def _is_relation_or_unscored(self) -> Self:
        if (self.relation is None) == (self.unscored_reason is None):
            raise ValueError("TrustFC has either a relation or an unscored_reason")
        if (self.relation is None) != (self.value is None):
            raise ValueError("TrustFC has a value exactly when it has a relation")
        return self


class TrustOV(Record):
    """Both together by the table of appendix A.5.3; no value unless both parts have one."""

    value: Share | None = None
    missing: str = ""
    """What is missing for a value, in words."""

    @model_validator(mode="after")
    def _is_value_or_missing(self) -> Self:
        if (self.value is None) != bool(self.missing):
            raise ValueError("TrustOV has either a value or says what is missing")
        return self


class TrustFingerprint(Record):
    """Everything that made a TrustScore what it is: equal fingerprints and equal caches give equal reports."""

    factloop_version: str
    subject_model: str | None
    subject_base_url: str | None = None
    subject_sampling: Mapping[str, Any] = Field(default_factory=dict)
    judge: str | None = None
    """What judged the passages: a model, an encoder, or the offline rater; None where there was no corpus."""
    judge_base_url: str | None = None
    judge_sampling: Mapping[str, Any] = Field(default_factory=dict)
    corpus: str | None = None
    """Identity of the corpus: a hash of its contents."""
    max_checks: Annotated[int, Field(ge=1)]
    passages: Annotated[int, Field(ge=1)]
    substitutes: tuple[str, ...] = ()
    """Identity of each source of distractors, in the order in which they are asked."""
    target_order: str = "asked"
    """What is replaced first: what the question asks for (`asked`), or as in the paper (`paper`)."""
    prompts: Mapping[str, str] = Field(default_factory=dict)
    """Prompt name to the SHA-256 of its file."""
    versions: Mapping[str, str] = Field(default_factory=dict)
    seed: int


class TrustReport(Record):
    """The TrustScore of one answer to one question."""

    schema_version: Literal["1.0", "1.1", "1.2", "1.3"] = "1.3"
    """Version 1.1 tells `letters_mass` and the order of targets, and has distractors of a model."""
    id: str
    question: str
    response: str
    answered_by: str | None = None
    """The subject model, where it was asked for the response first; None where the response was given."""
    trust_bc: TrustBC
    trust_fc: TrustFC
    trust_ov: TrustOV
    usage: Usage
    fingerprint: TrustFingerprint
    created_at: datetime
    warnings: tuple[str, ...] = ()


class MeanScore(Record):
    """A mean over answers, with how many it rests on."""

    mean: Share | None
    n_scored: Count
    n_unscored: Count


class SourceConsistency(Record):
    """How often the subject stood by its response where a distractor of one source was among the options."""

    source: Source
    consistent: Share | None
    """Share of such checks with a choice; None without one. Sources whose distractors are easy to tell apart have the
    higher share."""
    n_checks: Count
    """Checks with a choice that showed a distractor of this source."""
    n_answers: Count


class TrustSummary(Record):
    """Means over all answers of one run; nothing scored gives no mean."""

    trust_bc: MeanScore
    trust_bc_graded: MeanScore
    trust_fc: MeanScore
    trust_ov: MeanScore
    by_source: tuple[SourceConsistency, ...] = ()
    """Behavioural consistency by the source of distractors, for the sources that were used."""


class TrustRun(Record):
    """TrustScores of several answers, in the order in which they were given."""

    schema_version: Literal["1.0", "1.1", "1.2", "1.3"] = "1.3"
    """Version 1.1 has consistency by source of distractors, and reports of version 1.1."""
    reports: tuple[TrustReport, ...]
    summary: TrustSummary
    usage: Usage
    created_at: datetime
    warnings: tuple[str, ...] = ()


class ClaimStanding(StrEnum):
    """The group of a claim by evidence and belief."""

    SUPPORTED_INSISTED = "supported_insisted"
    SUPPORTED_WAVERING = "supported_wavering"
    UNSUPPORTED_INSISTED = "unsupported_insisted"
    UNSUPPORTED_WAVERING = "unsupported_wavering"
    UNPLACED = "unplaced"
    """SAFE or TrustBC has no value for it, or it is irrelevant."""


class ClaimTrust(Record):
    """One claim of a long response: SAFE's judgement, and whether the subject insists on it."""

    claim: Claim
    trust_bc: TrustBC | None
    """None for an irrelevant claim, which is not asked about; a repeated one has that of the claim it repeats."""
    standing: ClaimStanding
    why_unplaced: str = ""


class LongFormTrustReport(Record):
    """SAFE's verdict on each claim of a long response beside the subject's TrustBC on it."""

    schema_version: Literal["1.0", "1.1", "1.2", "1.3"] = "1.3"
    """Version 1.1 has a report of checks of version 1.2, and what TrustBC tells in version 1.1 of trust reports."""
    factuality: FactualityReport
    claims: tuple[ClaimTrust, ...]
    counts: Mapping[ClaimStanding, Count]
    usage: Usage
    """Usage of TrustBC alone; that of SAFE is in `factuality`."""
    fingerprint: TrustFingerprint
    created_at: datetime
    warnings: tuple[str, ...] = ()
    """Warnings of TrustBC alone; those of SAFE are in `factuality`."""

    @model_validator(mode="after")
    def _no_claim_is_lost(self) -> Self:
        if len(self.claims) != len(self.factuality.claims) or sum(self.counts.values()) != len(self.claims):
            raise ValueError("every claim of the response stands in the report once")
        return self
