"""An experiment as sheets: the figures of its variants, and how far two of them are apart."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from functools import partial

from factloop.core.records import Verdict
from factloop.evaluation.comparing.words import level_words, p_value
from factloop.evaluation.experiments.report import (
    Conclusion,
    ExperimentReport,
    GroupFigure,
    ItemRow,
    Outcome,
    PairedDifference,
    Quantity,
    VariantReport,
)
from factloop.evaluation.experiments.views import figures
from factloop.evaluation.experiments.words import amount, interval, is_share, item_of, name_of, size
from factloop.reports.figures import duration
from factloop.reports.sheet.table import (
    NOTHING,
    Cell,
    Column,
    ColumnOf,
    Sheet,
    figure_cell,
    name,
    page_only,
    sheet_of,
    value_cell,
)

STYLES: Mapping[Outcome, str] = {
    Outcome.BETTER: "green",
    Outcome.WORSE: "red",
    Outcome.HIGHER: "yellow",
    Outcome.LOWER: "yellow",
}


def variants(report: ExperimentReport) -> Sheet:
    columns: tuple[ColumnOf[VariantReport], ...] = (
        (
            name("Variant"),
            lambda one: Cell(one.variant.name, "baseline" if one.variant.name == report.baseline else ""),
        ),
        *_quantities(report),
        (Column("Same in all repeats", is_strong=True), lambda one: _share(one.stability.share)),
        (Column("Fleiss’ kappa", is_strong=True), lambda one: replace(_share(one.stability.kappa), note="", basis="")),
        (Column("Time, median"), lambda one: _time(one.latency.median_s, f"n = {one.latency.n:,}")),
        (Column("95th percentile"), lambda one: _time(one.latency.p95_s)),
    )
    return sheet_of("Variants", columns, report.variants)


def _quantities(report: ExperimentReport) -> Iterator[ColumnOf[VariantReport]]:
    for quantity, k in figures.columns(report):
        yield Column(figures.heading(quantity, k, report), is_strong=True), _measured(quantity, k, report.kind)


def _measured(quantity: Quantity, k: int | None, kind: str) -> Callable[[VariantReport], Cell]:
    def cell(one: VariantReport) -> Cell:
        found = one.find(quantity, k)
        if found is None:
            return Cell(NOTHING)
        basis = figures.basis(found, item_of(quantity, kind))
        return figure_cell(found, lambda value: amount(value, quantity), "{} to {}".format, basis=basis)

    return cell


def _share(one: GroupFigure) -> Cell:
    return figure_cell(one, "{:.3f}".format, "{} to {}".format, basis=figures.basis(one, "claim"))


def _time(seconds: float | None, basis: str = "") -> Cell:
    return value_cell(seconds, duration, basis=basis)


def items(report: ExperimentReport, most: int) -> Sheet:
    """A line for each item, a column for each variant; at most `most`, those on which variants differ first."""
    shown = sorted(report.items, key=lambda one: not _differs(one))[:most]
    is_claim = report.kind == "claims"
    labels: tuple[ColumnOf[ItemRow], ...] = ((Column("People"), lambda one: _gold(one.gold)),) if is_claim else ()
    of_variants: Iterator[ColumnOf[ItemRow]] = (
        (Column(one.variant.name), partial(_item_cell, place, is_claim)) for place, one in enumerate(report.variants)
    )
    columns: tuple[ColumnOf[ItemRow], ...] = (
        (name("Claim" if is_claim else "Response"), lambda one: Cell(one.claim or one.item_id, one.group)),
        *labels,
        *of_variants,
    )
    return sheet_of("All items", columns, shown)


def _differs(one: ItemRow) -> bool:
    """Whether variants have other verdicts of a claim, or other values of a response."""
    return len({(cell.verdict, None if one.claim is not None else cell.value) for cell in one.cells}) > 1


def _gold(gold: bool | None) -> str:
    return NOTHING if gold is None else "supported" if gold else "not supported"


def _item_cell(place: int, is_claim: bool, one: ItemRow) -> Cell:
    cell = one.cells[place]
    if not cell.n_repeats:
        return Cell("no result")
    if not is_claim:
        return value_cell(cell.value, "{:.3f}".format)
    agreeing = "" if cell.n_repeats == 1 or cell.value is None else f"{cell.value:.0%} right"
    if cell.verdict is None:
        reason = cell.unscored_reason
        return Cell("split evenly" if reason is None else f"unscored: {reason.replace('_', ' ')}", agreeing)
    tone = figures.VERDICT_STATUS[cell.verdict]
    is_wrong = one.gold is not None and cell.verdict != (Verdict.SUPPORTED if one.gold else Verdict.NOT_SUPPORTED)
    return Cell(f"{tone.symbol} {cell.verdict.replace('_', ' ')}", agreeing, is_marked=is_wrong)


def differences(report: ExperimentReport, one: Conclusion) -> Sheet:
    """A line for each quantity of two variants."""
    columns: tuple[ColumnOf[PairedDifference], ...] = (
        (name(""), lambda each: name_of(each.quantity, each.k)),
        (Column(one.first), lambda each: amount(each.first_value, each.quantity)),
        (Column(one.second), lambda each: amount(each.second_value, each.quantity)),
        (Column("Difference", is_strong=True), lambda each: amount(each.value, each.quantity, signed=True)),
        (Column("Interval"), lambda each: _interval(each, report.level)),
        (Column("Outcome"), _outcome),
        (Column("p"), lambda each: Cell(p_value(each.p), _mcnemar(each))),
        (Column("p adjusted"), lambda each: p_value(each.p_corrected)),
        (page_only("Seen 4 of 5 times"), _seen),
        (Column("n"), lambda each: each.n),
        (Column("Groups"), lambda each: each.n_groups),
        (Column("Left out"), lambda each: each.n_left_out),
    )
    found = report.differences_of(one.first, one.second)
    return sheet_of(f"{one.second} against {one.first}", columns, found, is_total=lambda each: each.is_headline)


def _seen(one: PairedDifference) -> str:
    if one.detectable is not None and is_share(one.quantity) and one.detectable >= 1:
        return "too few for any"
    return size(one.detectable, one.quantity)


def _interval(one: PairedDifference, level: float) -> Cell:
    note = "" if one.low is None else level_words(one.level or level)
    return Cell(interval(one, one.quantity, signed=True), note)


def _outcome(one: PairedDifference) -> Cell:
    words = f"{figures.SIGNS[one.outcome]} {figures.OUTCOME_WORDS[one.outcome]}"
    tone = figures.OUTCOME_STATUS[one.outcome].value
    return Cell(words, one.why, tone=tone, style=STYLES.get(one.outcome, "dim"))


def _mcnemar(one: PairedDifference) -> str:
    return "" if one.p_mcnemar is None else f"McNemar {p_value(one.p_mcnemar)}"
