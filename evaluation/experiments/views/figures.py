"""The figures of an experiment in words and digits, the same on every surface."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from factloop.core.records import Verdict
from factloop.evaluation.experiments.report import (
    Direction,
    ExperimentReport,
    Family,
    FlipCount,
    FlipSide,
    GroupFigure,
    Outcome,
    Quantity,
    VariantReport,
)
from factloop.evaluation.experiments.words import name_of
from factloop.reports.figures import percent, plural
from factloop.reports.status import Status

SIGNS: Mapping[Outcome, str] = {
    Outcome.BETTER: "↑",
    Outcome.WORSE: "↓",
    Outcome.HIGHER: "+",
    Outcome.LOWER: "−",
    Outcome.NOT_SHOWN: "·",
    Outcome.UNKNOWN: "?",
}
"""Told apart without colour."""
OUTCOME_WORDS: Mapping[Outcome, str] = {
    Outcome.BETTER: "better",
    Outcome.WORSE: "worse",
    Outcome.HIGHER: "higher",
    Outcome.LOWER: "lower",
    Outcome.NOT_SHOWN: "no difference shown",
    Outcome.UNKNOWN: "cannot be said",
}
OUTCOME_STATUS: Mapping[Outcome, Status] = {
    Outcome.BETTER: Status.SUPPORTED,
    Outcome.WORSE: Status.CONTRADICTED,
    Outcome.HIGHER: Status.NO_EVIDENCE,
    Outcome.LOWER: Status.NO_EVIDENCE,
    Outcome.NOT_SHOWN: Status.IRRELEVANT,
    Outcome.UNKNOWN: Status.UNSCORED,
}
"""Whose colours they take."""
DIRECTION_STATUS: Mapping[Direction, Status] = {
    Direction.BETTER: Status.SUPPORTED,
    Direction.WORSE: Status.CONTRADICTED,
    Direction.NEUTRAL: Status.IRRELEVANT,
}
DIRECTION_WORDS: Mapping[Direction, str] = {
    Direction.BETTER: "for the better",
    Direction.WORSE: "for the worse",
    Direction.NEUTRAL: "neutral",
}
VERDICT_STATUS: Mapping[Verdict, Status] = {
    Verdict.SUPPORTED: Status.SUPPORTED,
    Verdict.NOT_SUPPORTED: Status.CONTRADICTED,
    Verdict.IRRELEVANT: Status.IRRELEVANT,
}
_GLANCE = (
    Quantity.BALANCED_ACCURACY,
    Quantity.TPR,
    Quantity.TNR,
    Quantity.BIAS,
    Quantity.F1,
    Quantity.PRECISION,
    Quantity.UNSCORED_SHARE,
    Quantity.COST_USD,
    Quantity.TOKENS,
)
"""What the table of variants has a column for, where any variant has a value."""


def title_of(report: ExperimentReport) -> str:
    """`strict-assessment: 3 variants on 120 claims, 3 repeats`."""
    return (
        f"{report.name}: {plural(len(report.variants), 'variant')} on {items(report)}, "
        f"{plural(report.repeats, 'repeat')}"
    )


def items(report: ExperimentReport) -> str:
    return plural(report.n_items, report.kind.removesuffix("s"))


def columns(report: ExperimentReport) -> list[tuple[Quantity, int | None]]:
    """What the table of variants shows, in its order: the headline always, others where any variant has a value."""
    measured = report.variants[0].figures
    named = [(one.quantity, one.k) for quantity in _GLANCE for one in measured if one.quantity is quantity]
    return [
        key
        for key in named
        if key == (report.headline, report.headline_k)
        or any((found := one.find(*key)) is not None and found.value is not None for one in report.variants)
    ]


def heading(quantity: Quantity, k: int | None, report: ExperimentReport) -> str:
    """`Balanced accuracy`, `Cost a claim`."""
    name = name_of(quantity, k)
    if quantity in (Quantity.COST_USD, Quantity.TOKENS):
        name += f" a {report.kind.removesuffix('s')}"
    return name[0].upper() + name[1:]


def basis(figure: GroupFigure, noun: str) -> str:
    """`n = 118 claims, 2 left out`."""
    left_out = f", {figure.n_left_out:,} left out" if figure.n_left_out else ""
    return f"n = {plural(figure.n, noun)}{left_out}"


def stability_words(one: VariantReport) -> str:
    """`94.2% same in all repeats (n = 118 claims), Fleiss’ kappa 0.91`."""
    share, kappa = one.stability.share, one.stability.kappa
    if share.value is None:
        return f"unknown: {share.why}"
    chance = f"Fleiss’ kappa {kappa.value:.3f}" if kappa.value is not None else f"kappa undefined: {kappa.why}"
    return f"{percent(round(share.value, 3))} same in all repeats ({basis(share, 'claim')}), {chance}"


def flips_words(count: FlipCount) -> str:
    """`19 of 117 claims flipped: 16 for the better, 3 for the worse, 0 neutral; ...`."""
    n = count.n_better + count.n_worse + count.n_neutral
    said = (
        f"{n:,} of {plural(count.n_claims, 'claim')} flipped from {count.first} to {count.second}: "
        f"{count.n_better:,} for the better, {count.n_worse:,} for the worse, {count.n_neutral:,} neutral"
    )
    if count.n_split:
        said += f"; {count.n_split:,} with repeats split evenly"
    return f"{said}; {count.n_unscored:,} without a verdict of one of them" if count.n_unscored else said


def side_words(side: FlipSide) -> str:
    """`supported (3 of 3 repeats)`."""
    verdict = side.verdict.replace("_", " ")
    return verdict if side.n_scored == 1 else f"{verdict} ({side.n_repeats:,} of {side.n_scored:,} repeats)"


def gold_words(gold: bool | None) -> str:
    return "no label" if gold is None else "people: supported" if gold else "people: not supported"


def tests_words(family: Family) -> str:
    """`24 tests, of which 7 could show a difference`."""
    tests = plural(family.n_tests, "test")
    if family.n_counted is None or family.n_counted >= family.n_tests:
        return tests
    return f"{tests}, of which {family.n_counted:,} could show a difference"


def basis_rows(report: ExperimentReport) -> Iterator[tuple[str, str]]:
    """What everything rests on, named."""
    yield "Data", f"{report.data}: {items(report)}"
    yield (
        "Labels",
        f"{plural(report.n_labelled, 'claim')}: {report.n_supported:,} supported, "
        f"{report.n_labelled - report.n_supported:,} not"
        if report.n_labelled
        else "none",
    )
    yield (
        "Intervals",
        f"{percent(report.level)}, seed {report.seed}: of variants by {report.n_resamples:,} resamples of whole "
        "groups, of differences by turning signs of whole groups, those of a family together (Bonferroni)",
    )
    for one in report.demands:
        yield f"Demand: {one.metric}, {'met' if one.is_met else 'not met'}", one.words
    for family in report.families:
        adjusted = f"p-values adjusted: {report.p_adjustment.value}"
        yield f"Family: {family.name}", f"{family.words}: {tests_words(family)}; {adjusted}"
