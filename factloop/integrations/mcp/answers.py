"""Answers to agents: the report without what only a reader of the whole would need."""

from __future__ import annotations

from collections.abc import Sequence

from pydantic import Field

from factloop.agents.trustscore.records import Relation, TrustReport
from factloop.core.citations import mentioned, named, reason
from factloop.core.records import (
    Claim,
    Count,
    Counts,
    Evidence,
    FactualityReport,
    NoClaim,
    Record,
    Sentence,
    Share,
    SourceDocument,
    UnscoredReason,
    Usage,
    Verdict,
)

MOST_CITED = 5
LONGEST_PASSAGE = 600


class CitedPassage(Record):
    """A passage that a verdict rests on."""

    source: str
    title: str
    """Rationales name a passage by it, or by its source where it has none."""
    passage: str
    document: SourceDocument | None = None
    """Place, id and metadata of its document, where that was given with the call."""


class JudgedClaim(Record):
    """One claim: either a verdict, or the reason why it has none."""

    claim: str
    """Self-contained."""
    sentence: str
    verdict: Verdict | None
    contradicted: bool | None
    """For `not_supported`: true if evidence speaks against the claim, false if none was found."""
    unscored_reason: UnscoredReason | None
    rationale: str
    cited: tuple[CitedPassage, ...]
    """The passages that the rationale speaks of, then others that the verdict rests on."""


class SilentSentence(Record):
    """A sentence, heading or piece of code without a claim, and why it has none."""

    sentence: str
    """Its first 600 characters."""
    no_claim: NoClaim


class Cost(Record):
    """The cost of the answer."""

    calls: Count
    searches: Count
    prompt_tokens: Count
    completion_tokens: Count
    cost_usd: float | None
    """None where the price of the model is unknown."""


class CheckedResponse(Record):
    """The verdicts on the claims of a response. The counts add up to the number of claims."""

    precision: Share | None
    """supported / (supported + not supported); null where nothing was scored."""
    counts: Counts
    claims: tuple[JudgedClaim, ...]
    n_sentences: Count
    """Sentences, headings and pieces of code of the response."""
    n_without_claim: Count
    """Number of sentences in `without_claim`."""
    without_claim: tuple[SilentSentence, ...]
    """Sentences without a claim, in the order of the response: nothing of them was checked."""
    judged_by: str
    warnings: tuple[str, ...]
    cost: Cost


class CheckedClaim(Record):
    """Whether one claim holds."""

    claim: JudgedClaim
    judged_by: str
    warnings: tuple[str, ...]
    cost: Cost


class TrustScores(Record):
    """TrustScore of an answer; what is null has its reason beside it, and is never a 0."""

    trust_ov: Share | None
    missing: str = Field(description="What is missing where TrustOV is null.")
    trust_bc: int | None
    trust_bc_unscored: UnscoredReason | None
    n_checks: Count
    """Questions that the subject was asked; n_consistent of them it answered with its own answer."""
    n_consistent: Count
    trust_fc: Share | None
    trust_fc_unscored: UnscoredReason | None
    relation: Relation | None
    rationale: str
    cited: tuple[CitedPassage, ...]
    """The passages that the rationale speaks of, then others that the relation rests on."""
    subject: str | None
    judge: str | None
    warnings: tuple[str, ...]
    cost: Cost


def checked_response(report: FactualityReport) -> CheckedResponse:
    return CheckedResponse(
        precision=report.precision,
        counts=report.counts,
        claims=tuple(_judged(claim) for claim in report.claims),
        n_sentences=len(report.sentences),
        n_without_claim=len(report.claim_free),
        without_claim=tuple(_silent(sentence, report) for sentence in report.claim_free),
        judged_by=report.fingerprint.judge,
        warnings=report.warnings,
        cost=_cost(report.usage),
    )


def checked_claim(report: FactualityReport) -> CheckedClaim:
    """The claim of a report on one claim."""
    (claim,) = report.claims
    return CheckedClaim(
        claim=_judged(claim),
        judged_by=report.fingerprint.judge,
        warnings=report.warnings,
        cost=_cost(report.usage),
    )


def trust_scores(report: TrustReport) -> TrustScores:
    consistency, support = report.trust_bc, report.trust_fc
    return TrustScores(
        trust_ov=report.trust_ov.value,
        missing=report.trust_ov.missing,
        trust_bc=consistency.value,
        trust_bc_unscored=consistency.unscored_reason,
        n_checks=consistency.n_asked,
        n_consistent=consistency.n_consistent,
        trust_fc=support.value,
        trust_fc_unscored=support.unscored_reason,
        relation=support.relation,
        rationale=named(support.rationale, support.passages),
        cited=_cited(support.rationale, support.passages, support.cited),
        subject=report.fingerprint.subject_model,
        judge=report.fingerprint.judge,
        warnings=report.warnings,
        cost=_cost(report.usage),
    )


def trust_in_words(scores: TrustScores) -> str:
    """The scores in a few lines. Plain text."""

    def part(name: str, value: float | None, why: object) -> str:
        return f"{name}: {f'unscored ({why})' if value is None else f'{value:g}'}"

    return "\n".join(
        (
            part("TrustOV", scores.trust_ov, scores.missing),
            part("TrustBC", scores.trust_bc, scores.trust_bc_unscored)
            + f", its own answer chosen in {scores.n_consistent} of {scores.n_checks} questions",
            part("TrustFC", scores.trust_fc, scores.trust_fc_unscored),
        )
    )


def _judged(claim: Claim) -> JudgedClaim:
    judgement = claim.judgement
    return JudgedClaim(
        claim=claim.self_contained,
        sentence=claim.sentence,
        verdict=judgement.verdict,
        contradicted=judgement.contradicted,
        unscored_reason=judgement.unscored_reason,
        rationale=reason(claim),
        cited=_cited(judgement.rationale, claim.evidence, judgement.cited),
    )


def _cited(rationale: str, evidence: Sequence[Evidence], cited: Sequence[str]) -> tuple[CitedPassage, ...]:
    """`MOST_CITED` at most, and all that the rationale speaks of."""
    spoken_of = mentioned(rationale, evidence)
    others = [item for item in evidence if item.id in cited and item not in spoken_of]
    shown = (*spoken_of, *others[: max(0, MOST_CITED - len(spoken_of))])
    return tuple(
        CitedPassage(
            source=item.source, title=item.title, passage=item.passage[:LONGEST_PASSAGE], document=item.document
        )
        for item in shown
    )


def _silent(sentence: Sentence, report: FactualityReport) -> SilentSentence:
    assert sentence.no_claim is not None  # else it has claims, which stand for it
    return SilentSentence(sentence=report.text_of(sentence)[:LONGEST_PASSAGE], no_claim=sentence.no_claim)


def _cost(usage: Usage) -> Cost:
    return Cost.model_validate({name: getattr(usage, name) for name in Cost.model_fields})
