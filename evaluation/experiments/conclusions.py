"""Concludes each comparison by its headline, and says what speaks against reading the figures as they stand."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from factloop.evaluation.experiments.report import (
    Conclusion,
    Outcome,
    PairedDifference,
    Quantity,
    VariantReport,
)
from factloop.evaluation.experiments.words import amount
from factloop.reports.figures import percent, plural

_LOSSES = (Quantity.UNSCORED_SHARE, Quantity.IRRELEVANT_SHARE)
"""Quantities that show claims left out of the headline: a variant that drops the hard ones looks better than it is."""
FEW_GROUPS = 20
"""Number of groups below which percentile intervals are too narrow."""


def conclude(differences: Sequence[PairedDifference]) -> tuple[Conclusion, ...]:
    """A conclusion for each comparison: the verdict on the headline, and whether one variant leaves out more claims."""
    return tuple(
        Conclusion(
            first=one.first,
            second=one.second,
            outcome=one.outcome,
            words=". ".join([one.words, *_losses(one, differences)]) + ".",
        )
        for one in differences
        if one.is_headline
    )


def _losses(headline: PairedDifference, differences: Sequence[PairedDifference]) -> Iterator[str]:
    for one in differences:
        is_loss = (one.first, one.second) == (headline.first, headline.second) and one.quantity in _LOSSES
        if is_loss and one.outcome not in (Outcome.NOT_SHOWN, Outcome.UNKNOWN):
            yield one.words


def cautions(
    variants: Sequence[VariantReport], differences: Sequence[PairedDifference], *, n_conflicting: int, repeats: int
) -> Iterator[str]:
    """Reasons not to take the figures at face value; the baseline is the first of the variants."""
    if len(variants) < 2:
        yield "There is one variant, so nothing is compared."
    yield from (said for one in variants for said in _result_cautions(one))
    yield from (said for one in variants[1:] for said in _setting_cautions(one, variants[0]))
    if n_conflicting:
        yield f"{plural(n_conflicting, 'claim')} came with two different labels and counted as unlabelled."
    n_groups = [one.n_groups for one in differences if one.is_headline and one.value is not None]
    if n_groups and min(n_groups) < FEW_GROUPS:
        yield (
            f"The headline rests on {plural(min(n_groups), 'group')}: with fewer than {FEW_GROUPS}, intervals are "
            "too narrow; the p-values hold."
        )
    if len(variants) > 1 and repeats < 2:
        yield "There is one repeat: what a variant would say another time is not known."


def _result_cautions(one: VariantReport) -> Iterator[str]:
    name = one.variant.name
    if one.n_missing:
        yield f"{name}: {plural(one.n_missing, 'result')} missing; the experiment was stopped before its end."
    unscored = one.find(Quantity.UNSCORED_SHARE)
    if unscored is not None and unscored.value:
        all_of_it = "every claim is" if unscored.value == 1 else f"{percent(round(unscored.value, 3))} of claims are"
        why = f": {one.why_unscored}" if one.why_unscored else "."
        yield f"{name}: {all_of_it} without a verdict and in no figure of agreement{why}"
    irrelevant = one.find(Quantity.IRRELEVANT_SHARE)
    if irrelevant is not None and irrelevant.value:
        yield (
            f"{name}: {amount(irrelevant.value, Quantity.IRRELEVANT_SHARE)} of claims are called irrelevant, which is "
            "wrong for accuracy and in no other figure of agreement."
        )


def _setting_cautions(one: VariantReport, baseline: VariantReport) -> Iterator[str]:
    name = one.variant.name
    if one.variant.fingerprint == baseline.variant.fingerprint and not one.variant.changes:
        yield f"{name} has the settings and prompts of {baseline.variant.name}: what differs is chance."
    elif not one.variant.shares_evidence:
        n_other = one.variant.n_compared - one.variant.n_same_evidence
        seen = f" in {n_other:,} of {plural(one.variant.n_compared, 'result')}" if one.variant.n_compared else ""
        yield f"{name} judged other evidence than {baseline.variant.name}{seen}: a difference may be the search’s."
