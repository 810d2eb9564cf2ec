"""Precision, recall@K and F1@K of a response's claims (Wei et al. 2024, arXiv 2403.18802, section 5)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from factloop.core.records import AtK, Claim, Counts, FactualityReport, Repeats, SharedError, Verdict

_EDGES = " .,;:!?…\"'“”‘’«»()[]*_`"
"""Edges of a sentence, not of a name: `C++` is not `C`, and 5 % is not 5."""


def sameness(text: str) -> str:
    """Two facts (or queries) with equal keys say the same: letter case, spacing and outer punctuation do not count."""
    return " ".join(text.casefold().split()).strip(_EDGES)


_NAME = re.compile(r"[^\W\d_a-z]")
"""A capital letter, or one of a script without small ones."""


@dataclass(frozen=True)
class Scores:
    """The figures of one response, as its report has them."""

    counts: Counts
    precision: float | None
    shared_errors: tuple[SharedError, ...]
    precision_by_error: float | None
    at_k: tuple[AtK, ...]


def score_claims(claims: Sequence[Claim], ks: Sequence[int], repeats: Repeats) -> Scores:
    """All figures of a response's claims, by one policy for those that repeat another.

    The released code counts each fact that a sentence makes, also one that was made before (`count_labels` in
    `eval/safe/search_augmented_factuality_eval.py` of google-deepmind/long-form-factuality). Repeating a supported fact
    raises F1@K with `each`, and changes nothing with `once`.
    """
    counting = claims_that_count(claims, repeats)
    counts = count_verdicts(counting).model_copy(update={"repeated": len(claims) - len(counting)})
    return Scores(
        counts=counts,
        precision=precision(counts),
        shared_errors=shared_errors(claims),
        precision_by_error=precision_by_error(counts, shared_errors(counting)),
        at_k=at_each_k(counts, ks),
    )


def claims_that_count(claims: Sequence[Claim], repeats: Repeats) -> list[Claim]:
    """With `each` all claims, with `once` the first of those that say the same."""
    if repeats == "each":
        return list(claims)
    said: set[str] = set()
    kept = []
    for claim in claims:
        words = sameness(claim.self_contained)
        if claim.duplicate_of is None and (not words or words not in said):
            kept.append(claim)
        said.add(words)
    return kept


def counted_claims(report: FactualityReport) -> list[Claim]:
    """The claims that the figures of the report count: without repeats, where it leaves them out."""
    return claims_that_count(report.claims, report.fingerprint.repeats)


def count_verdicts(claims: Iterable[Claim]) -> Counts:
    """How many claims fell under each verdict. A claim that repeats another counts as the claim it repeats does."""
    verdicts = [claim.judgement.verdict for claim in claims]
    return Counts(
        supported=verdicts.count(Verdict.SUPPORTED),
        not_supported=verdicts.count(Verdict.NOT_SUPPORTED),
        irrelevant=verdicts.count(Verdict.IRRELEVANT),
        unscored=verdicts.count(None),
    )


def n_contradicted(claims: Iterable[Claim]) -> int:
    """How many claims are not supported because evidence says otherwise."""
    return sum(claim.judgement.contradicted is True for claim in claims)


def precision(counts: Counts) -> float | None:
    """Share of supported among supported and not supported claims; None where there are neither.

    Departure from the released code, which gives 0 there: no claim is no evidence of a wrong one.
    """
    return counts.supported / counts.scored if counts.scored else None


def shared_errors(claims: Iterable[Claim]) -> tuple[SharedError, ...]:
    """Errors that two claims or more repeat: contradicted for the same words, among which is a name.

    The same wrong figure in two claims is two errors, as figures agree by chance. In the order of their first claims.
    """
    by_words: dict[str, list[Claim]] = {}
    for claim in claims:
        words = claim.judgement.wrong
        if claim.judgement.contradicted and _NAME.search(words):
            by_words.setdefault(" ".join(words.casefold().split()), []).append(claim)
    return tuple(
        SharedError(words=group[0].judgement.wrong, claims=tuple(claim.id for claim in group))
        for group in by_words.values()
        if len(group) > 1
    )


def precision_by_error(counts: Counts, shared: Iterable[SharedError]) -> float | None:
    """Precision with each shared error counted once, in [0, 1]; None where nothing was scored."""
    repeats = sum(len(error.claims) - 1 for error in shared)
    scored = counts.scored - repeats
    return counts.supported / scored if scored else None


def is_unknown(counts: Counts) -> bool:
    """Whether nothing is known of an answer: it has unscored claims, and none that is supported or not."""
    return counts.unscored > 0 and not counts.scored


def recall_at_k(counts: Counts, k: int) -> float:
    """min(S / K, 1): supported claims against the number K that a reader wishes for."""
    if k < 1:
        raise ValueError("K is a whole number from 1")
    return min(counts.supported / k, 1.0)


def f1_at_k(counts: Counts, k: int) -> float:
    """Harmonic mean of precision and recall@K, in [0, 1], higher is better; 0 where nothing is supported."""
    recall = recall_at_k(counts, k)
    share = precision(counts)
    return 2.0 * share * recall / (share + recall) if share else 0.0


def at_each_k(counts: Counts, ks: Sequence[int]) -> tuple[AtK, ...]:
    """Recall and F1 at each K, once, with the number of claims they rest on and the number of unscored ones.

    Empty for an answer of which nothing is known: that is not 0.
    """
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
