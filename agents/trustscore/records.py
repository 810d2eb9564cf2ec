"""The records of TrustScore: the questions, the choices, and what the documents say.

The rules of `factloop.core.records` apply. Each score has either a value or a reason why it is unscored, and the report
contains every question that was asked.
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
    """The kind of word to replace, most informative first (paper, section 2.1)."""

    ENTITY = "entity"
    """An entity found only in the response."""
    NOUN_OR_NUMBER = "noun_or_number"
    """A noun, number or date found only in the response."""
    VERB_ADJECTIVE_OR_SHARED = "verb_adjective_or_shared"
    """A verb or adjective, or an entity, noun or number that also appears in the question."""
    ANY_WORD = "any_word"


class Source(StrEnum):
    """The origin of a substitute, best source first."""

    MODEL = "model"
    """Proposed by the judge model (`--distractors model`)."""
    DBPEDIA = "dbpedia"
    KNOWLEDGE_BASE = "knowledge_base"
    """A table made by `factloop research kb build`."""
    BUILT_IN = "built_in"
    """Names packaged with factloop, such as countries, cities and people."""
    DATE = "date"
    NUMBER = "number"
    EMBEDDING = "embedding"
    VOCABULARY = "vocabulary"
    """A word of the same part of speech."""


class Distractor(Record):
    """The response with one word or entity replaced."""

    text: str
    replaced: str
    span: Span
    """Position of the replaced words in the response, in characters."""
    by: str
    level: SubstitutionLevel
    source: Source
    detail: str = ""
    """Why this substitute was chosen: shared types, cosine similarity or part of speech."""


class DistractorSet(Record):
    """All distractors made for a response, best first, and any problems encountered."""

    question: str
    response: str
    wanted: Count
    distractors: tuple[Distractor, ...]
    notes: tuple[str, ...] = ()
    """Messages about sources that failed or were not available, so that the next source was used."""
    seed: int
    usage: Usage | None = None
    """Usage of the model that proposed substitutes, if only distractors were requested."""


class OptionKind(StrEnum):
    RESPONSE = "response"
    DISTRACTOR = "distractor"
    NONE_OF_THE_ABOVE = "none_of_the_above"


class Option(Record):
    letter: Letter
    text: str
    kind: OptionKind
    distractor: Count | None = None
    """Index in the report's list of distractors, starting at 0, or None if the option is not a distractor."""


class ConsistencyCheck(Record):
    """A multiple-choice question, with the options in the order shown and the subject's choice."""

    number: Annotated[int, Field(ge=1)]
    options: tuple[Option, ...]
    chosen: Letter | None = None
    unscored_reason: UnscoredReason | None = None
    """Why there is no choice."""
    reply: str = ""
    """The subject's reply if it made no clear choice, or the reason why there is no reply."""
    letter_probabilities: Mapping[Letter, Share] | None = None
    """Probability of each letter, if the server returned log-probabilities. Letters that it did not list are absent."""
    counted: bool = True
    """Whether the check counts. It does not if an earlier check in the same window had already decided the score."""

    @model_validator(mode="after")
    def _is_chosen_or_unscored(self) -> Self:
        if (self.chosen is None) == (self.unscored_reason is None):
            raise ValueError("a check must have either a choice or an `unscored_reason`")
        return self

    @property
    def response_letter(self) -> Letter:
        return next(option.letter for option in self.options if option.kind is OptionKind.RESPONSE)

    @property
    def consistent(self) -> bool | None:
        """Whether the subject chose its response, or None if it made no choice."""
        return None if self.chosen is None else self.chosen == self.response_letter


NOT_ANSWERED = "The subject gave no answer"
"""Beginning of both scores' rationales if the subject was asked for its answer and gave none."""


class TrustBC(Record):
    """Behavioural consistency (paper, section 2.1): 1 if the subject chose the response in every check, 0 if not."""

    value: Literal[0, 1] | None = None
    unscored_reason: UnscoredReason | None = None
    rationale: str = ""
    graded: Share | None = None
    """Mean probability of the response's letter over the counted checks, or None unless all of them have probabilities.

    A letter that the server did not list counts as 0. The mean is also None if the five letters together have less than
    half of the probability (`letters_mass`), because the subject then preferred to say something else.
    """
    letters_mass: Share | None = None
    """Mean total probability of the five letters over the counted checks, at the token that states the choice."""
    max_checks: Annotated[int, Field(ge=1)]
    n_planned: Count
    """Number of planned checks, at most `max_checks`. There are fewer if there are not enough distractors."""
    n_asked: Count = 0
    n_consistent: Count = 0
    """Number of consistent choices among the counted checks."""
    n_inconsistent: Count = 0
    n_unscored: Count = 0
    checks: tuple[ConsistencyCheck, ...] = ()
    distractors: tuple[Distractor, ...] = ()
    notes: tuple[str, ...] = ()

    @model_validator(mode="after")
    def _is_value_or_unscored(self) -> Self:
        if (self.value is None) == (self.unscored_reason is None):
            raise ValueError("TrustBC must have either a value or an `unscored_reason`")
        return self


class Relation(StrEnum):
    """How the passages relate to the answer."""

    SUPPORT = "support"
    NEUTRAL = "neutral"
    CONTRADICT = "contradict"


class TrustFC(Record):
    """Factual consistency (paper, appendix A.5.2): whether passages support the answer to the question."""

    relation: Relation | None = None
    value: Share | None = None
    """1 for support, 0.5 for neutral, 0 for contradict. The paper gives no numbers."""
    unscored_reason: UnscoredReason | None = None
    rationale: str = ""
    query: str = ""
    passages: tuple[Evidence, ...] = ()
    cited: tuple[str, ...] = ()
    """Ids of the passages that the judgement is based on."""
    judged_by: str = ""

    @model_validator(mode="after")
    def _is_relation_or_unscored(self) -> Self:
        if (self.relation is None) == (self.unscored_reason is None):
            raise ValueError("TrustFC must have either a relation or an `unscored_reason`")
        if (self.relation is None) != (self.value is None):
            raise ValueError("TrustFC must have a value if and only if it has a relation")
        return self


class TrustOV(Record):
    """TrustBC and TrustFC, combined according to appendix A.5.3. The value is None unless both have one."""

    value: Share | None = None
    missing: str = ""
    """Why there is no value."""

    @model_validator(mode="after")
    def _is_value_or_missing(self) -> Self:
        if (self.value is None) != bool(self.missing):
            raise ValueError("TrustOV must have either a value or `missing`")
        return self


class TrustFingerprint(Record):
    """Everything that determines a TrustScore: equal fingerprints and equal caches give equal reports."""

    factloop_version: str
    subject_model: str | None
    subject_base_url: str | None = None
    subject_sampling: Mapping[str, Any] = Field(default_factory=dict)
    judge: str | None = None
    """The judge of the passages: a model, an encoder or the offline rater. It is None if there was no corpus."""
    judge_base_url: str | None = None
    judge_sampling: Mapping[str, Any] = Field(default_factory=dict)
    corpus: str | None = None
    """A hash of the corpus."""
    max_checks: Annotated[int, Field(ge=1)]
    passages: Annotated[int, Field(ge=1)]
    substitutes: tuple[str, ...] = ()
    target_order: str = "asked"
    """Which words to replace first: those that the question asks for (`asked`), or those that the paper replaces first
    (`paper`).
    """
    samples: Count = 0
    """Number of other answers requested from the subject."""
    prompts: Mapping[str, str] = Field(default_factory=dict)
    """Maps the name of each prompt to the SHA-256 hash of its file."""
    versions: Mapping[str, str] = Field(default_factory=dict)
    seed: int


class TrustReport(Record):
    """The TrustScore of one answer to one question."""

    schema_version: Literal["1.0", "1.1"] = "1.1"
    id: str
    question: str
    response: str
    answered_by: str | None = None
    """The subject model if it was asked for the response, or None if a response was supplied."""
    trust_bc: TrustBC
    trust_fc: TrustFC
    trust_ov: TrustOV
    usage: Usage
    fingerprint: TrustFingerprint
    created_at: datetime
    warnings: tuple[str, ...] = ()


class MeanScore(Record):
    """The mean of the `n_scored` answers that have a score."""

    mean: Share | None
    n_scored: Count
    n_unscored: Count


class SourceConsistency(Record):
    """How often the subject stood by its response in checks with distractors from a particular source."""

    source: Source
    consistent: Share | None
    """Proportion of consistent choices, or None if there are no choices. It is higher for sources whose distractors are
    easy to recognize.
    """
    n_checks: Count
    """Number of choices in checks that showed a distractor from this source."""
    n_answers: Count


class TrustSummary(Record):
    """Means over all answers in a run. There is no mean if nothing was scored."""

    trust_bc: MeanScore
    trust_bc_graded: MeanScore
    trust_fc: MeanScore
    trust_ov: MeanScore
    by_source: tuple[SourceConsistency, ...] = ()


class TrustRun(Record):
    """TrustScores of several answers, in the order of the answers."""

    schema_version: Literal["1.0"] = "1.0"
    reports: tuple[TrustReport, ...]
    summary: TrustSummary
    usage: Usage
    created_at: datetime
    warnings: tuple[str, ...] = ()


class ClaimStanding(StrEnum):
    """Classifies a claim by its evidence and by the subject's belief."""

    SUPPORTED_INSISTED = "supported_insisted"
    SUPPORTED_WAVERING = "supported_wavering"
    UNSUPPORTED_INSISTED = "unsupported_insisted"
    UNSUPPORTED_WAVERING = "unsupported_wavering"
    UNPLACED = "unplaced"
    """The claim has no value from SAFE or TrustBC, or is irrelevant."""


class SampleAgreement(Record):
    """How far other answers to the same question agree with a claim."""

    value: Share | None
    """Mean degree of support by the samples, in [0, 1]; higher is better. The value is not calibrated, and it is None
    if no sample was judged.

    If the judge only says yes or no, this is the proportion of samples that support the claim.
    """
    n: Count
    n_unscored: Count = 0


class ClaimTrust(Record):
    """A claim in a long response: SAFE's judgement, and whether the subject stands by it."""

    claim: Claim
    trust_bc: TrustBC | None
    """The claim's TrustBC, or None for an irrelevant claim, about which the subject is not asked. A repeated claim has
    the original's TrustBC.
    """
    standing: ClaimStanding
    why_unplaced: str = ""
    agreement: SampleAgreement | None = None
    """The agreement of the samples, or None if there are no samples or the claim is irrelevant."""


class LongFormTrustReport(Record):
    """SAFE's verdict on each claim in a long response, and the subject's TrustBC for it."""

    schema_version: Literal["1.0", "1.1"] = "1.1"
    factuality: FactualityReport
    claims: tuple[ClaimTrust, ...]
    counts: Mapping[ClaimStanding, Count]
    samples: tuple[str, ...] = ()
    """Other answers from the subject, without failed ones."""
    usage: Usage
    """Usage for TrustBC and `samples`. SAFE's is in `factuality`."""
    fingerprint: TrustFingerprint
    created_at: datetime
    warnings: tuple[str, ...] = ()
    """Warnings from TrustBC. SAFE's are in `factuality`."""

    @model_validator(mode="after")
    def _no_claim_is_lost(self) -> Self:
        if len(self.claims) != len(self.factuality.claims) or sum(self.counts.values()) != len(self.claims):
            raise ValueError("every claim in the response must appear in the report exactly once")
        return self
