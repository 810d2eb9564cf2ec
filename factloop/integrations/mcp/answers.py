"""Short versions of reports for agents."""

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
    """A passage on which a verdict is based."""

    source: str
    title: str
    """The name that rationales use for the passage. If it is empty, they use the source."""
    passage: str
    document: SourceDocument | None = None
    """The passage's document, if it was sent with the call."""


class JudgedClaim(Record):
    """A claim with either a verdict or the reason why it is unscored."""

    claim: str
    sentence: str
    verdict: Verdict | None
    contradicted: bool | None
    """For `not_supported`: true if the evidence contradicts the claim, false if no evidence was found."""
    unscored_reason: UnscoredReason | None
    rationale: str
    cited: tuple[CitedPassage, ...]
    """The passages mentioned in the rationale, followed by other passages that the verdict is based on."""


class SilentSentence(Record):
    """A sentence, heading or piece of code without a claim, and the reason why it has none."""

    sentence: str
    """The first 600 characters of the sentence."""
    no_claim: NoClaim


class Cost(Record):
    """The cost of the answer."""

    calls: Count
    searches: Count
    prompt_tokens: Count
    completion_tokens: Count
    cost_usd: float | None
    """None if the price of the model is unknown."""


class CheckedResponse(Record):
    """The verdicts on a response's claims. The counts add up to the number of claims."""

    precision: Share | None
    """supported / (supported + not supported); null if no claims were scored."""
    counts: Counts
    claims: tuple[JudgedClaim, ...]
    n_sentences: Count
    """Number of sentences, headings and pieces of code in the response."""
    n_without_claim: Count
    without_claim: tuple[SilentSentence, ...]
    """Sentences without claims, in the order of the response. Nothing in them was checked."""
    judged_by: str
    warnings: tuple[str, ...]
    cost: Cost


class TrustScores(Record):
    """The TrustScore of an answer. If a value is null, the field next to it says why. Null never means 0."""

    trust_ov: Share | None
    missing: str = Field(description="What is missing if TrustOV is null.")
    trust_bc: int | None
    trust_bc_unscored: UnscoredReason | None
    n_checks: Count
    """Number of questions that the subject was asked. It chose its own answer to `n_consistent` of them."""
    n_consistent: Count
    trust_fc: Share | None
    trust_fc_unscored: UnscoredReason | None
    relation: Relation | None
    rationale: str
    cited: tuple[CitedPassage, ...]
    """The passages mentioned in the rationale, followed by other passages that the relation is based on."""
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
    def part(name: str, value: float | None, why: object) -> str:
        return f"{name}: {f'unscored ({why})' if value is None else f'{value:g}'}"

    return "\n".join(
        (
            part("TrustOV", scores.trust_ov, scores.missing),
            part("TrustBC", scores.trust_bc, scores.trust_bc_unscored)
            + f", chose its own answer in {scores.n_consistent} of {scores.n_checks} questions",
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
    assert sentence.no_claim is not None  # a sentence with claims is shown by its claims
    return SilentSentence(sentence=report.text_of(sentence)[:LONGEST_PASSAGE], no_claim=sentence.no_claim)


def _cost(usage: Usage) -> Cost:
    return Cost.model_validate({name: getattr(usage, name) for name in Cost.model_fields})
