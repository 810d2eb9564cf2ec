"""Precision, recall@K and F1@K of a response (Wei et al. 2024, arXiv 2403.18802, section 5)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from factloop.core.records import AtK, Claim, Counts, EveryClaim, FactualityReport, Repeats, Verdict

_EDGES = " .,;:!?…\"'“”‘’«»()[]*_`"
"""`+` and `%` are kept: `C++` is not `C`, and 5 % is not 5."""


def sameness(text: str) -> str:
    """A key that ignores case, spacing and surrounding punctuation. Duplicate facts (or queries) have the same key."""
    return " ".join(text.casefold().split()).strip(_EDGES)


@dataclass(frozen=True)
class Scores:
    counts: Counts
    precision: float | None
    at_k: tuple[AtK, ...]
    every_claim: EveryClaim | None = None


def score_claims(claims: Sequence[Claim], ks: Sequence[int], repeats: Repeats) -> Scores:
    """Scores a response from its claims. `repeats` determines whether repeated claims count.

    The released code counts every fact, even one that an earlier sentence states (`count_labels` in
    `eval/safe/search_augmented_factuality_eval.py` of google-deepmind/long-form-factuality). Repeating a supported fact
    therefore raises F1@K with `each`, but not with `once` or `core`.
    """
    counting = claims_that_count(claims, repeats)
    counts = count_verdicts(counting).model_copy(update={"repeated": len(claims) - len(counting)})
    every = count_verdicts(claims)
    return Scores(
        counts=counts,
        precision=precision(counts),
        at_k=at_each_k(counts, ks),
        every_claim=EveryClaim(counts=every, precision=precision(every), at_k=at_each_k(every, ks))
        if repeats == "core"
        else None,
    )


def claims_that_count(claims: Sequence[Claim], repeats: Repeats) -> list[Claim]:
    """All claims (`each`), all except repetitions (`once`), or only the core (`core`)."""
    if repeats == "each":
        return list(claims)
    said: set[str] = set()
    kept = []
    for claim in claims:
        words = sameness(claim.self_contained)
        is_in_core = claim.left_out is None or repeats != "core"
        if claim.duplicate_of is None and is_in_core and (not words or words not in said):
            kept.append(claim)
        said.add(words)
    return kept


def counted_claims(report: FactualityReport) -> list[Claim]:
    return claims_that_count(report.claims, report.fingerprint.repeats)


def count_verdicts(claims: Iterable[Claim]) -> Counts:
    verdicts = [claim.judgement.verdict for claim in claims]
    return Counts(
        supported=verdicts.count(Verdict.SUPPORTED),
        not_supported=verdicts.count(Verdict.NOT_SUPPORTED),
        irrelevant=verdicts.count(Verdict.IRRELEVANT),
        unscored=verdicts.count(None),
    )


def n_contradicted(claims: Iterable[Claim]) -> int:
    return sum(claim.judgement.contradicted is True for claim in claims)


def precision(counts: Counts) -> float | None:
    """Returns None if no claims are scored. Departure: the released code returns 0."""
    return counts.supported / counts.scored if counts.scored else None


def is_unknown(counts: Counts) -> bool:
    """Whether some claims are unscored and none are scored."""
    return counts.unscored > 0 and not counts.scored


def recall_at_k(counts: Counts, k: int) -> float:
    """min(S / K, 1), where S is the number of supported claims. Raises ValueError if K is less than 1."""
    if k < 1:
        raise ValueError("K must be at least 1")
    return min(counts.supported / k, 1.0)


def f1_at_k(counts: Counts, k: int) -> float:
    """The harmonic mean of precision and recall@K, in [0, 1]. Higher is better; 0 if no claims are supported."""
    recall = recall_at_k(counts, k)
    share = precision(counts)
    return 2.0 * share * recall / (share + recall) if share else 0.0


def at_each_k(counts: Counts, ks: Sequence[int]) -> tuple[AtK, ...]:
    """Recall and F1 at each distinct K. Empty if all claims are unscored, because 0 would mean that they are wrong."""
    if is_unknown(counts):
        return ()
    return tuple(
        AtK(
            k=k,
            recall=recall_at_k(counts, k),
            f1=f1_at_k(counts, k),
            n_scored=counts.scored,
            n_unscored=counts.unscored,
        )
        for k in dict.fromkeys(ks)
    )
