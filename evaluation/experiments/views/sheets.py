"""Presents an experiment as text and sheets: the variants' figures, all items, and pairwise differences."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import TYPE_CHECKING, Any

from factloop.evaluation.comparing.records import GroupFigure, Quantity, QuantityFigure
from factloop.evaluation.comparing.views import paired
from factloop.evaluation.comparing.words import amount, item_of, name_of
from factloop.evaluation.experiments.history import looks_words
from factloop.evaluation.experiments.plan import HELD_OUT
from factloop.evaluation.experiments.records import Conclusion, ExperimentReport, ItemRow, PastExperiment, VariantReport
from factloop.reports.figures import duration, percent, plural
from factloop.reports.sheet.table import NOTHING, Cell, Column, ColumnOf, Sheet, figure_cell, name, sheet_of, value_cell

if TYPE_CHECKING:
    from factloop.evaluation.experiments.optimise import OptimiseReport, Proposal

_GLANCE = tuple(one for one in Quantity if one not in (Quantity.ACCURACY, Quantity.IRRELEVANT_SHARE))


def title_of(report: ExperimentReport) -> str:
    """Returns a title such as `strict-assessment: 3 variants on 120 claims, 3 repeats`."""
    n_variants, repeats = plural(len(report.variants), "variant"), plural(report.repeats, "repeat")
    return f"{report.name}: {n_variants} on {_items(report)}, {repeats}"


def _items(report: ExperimentReport) -> str:
    return plural(report.n_items, report.kind.removesuffix("s"))


def basis_rows(report: ExperimentReport) -> Iterator[tuple[str, str]]:
    yield "Data", f"{report.data}: {_items(report)}"
    n_not = report.n_labelled - report.n_supported
    labels = f"{plural(report.n_labelled, 'claim')}: {report.n_supported:,} supported, {n_not:,} not"
    yield "Labels", labels if report.n_labelled else "none"
    if report.data.endswith(HELD_OUT):
        yield "Held out", looks_words(len(report.history), report.n_seen)
    yield (
        "Intervals",
        f"{percent(report.level)}, seed {report.seed}; for variants by {report.n_resamples:,} resamples of whole "
        "groups; for differences by flipping signs of whole groups, adjusted per family (Bonferroni)",
    )
    for one in report.variants:
        yield from ((f"Prompt of {one.variant.name}", file.words) for file in one.variant.prompt_files)
    yield from paired.demand_rows(report.demands)
    for family in report.families:
        yield f"Family: {family.name}", f"{family.words}: {paired.tests_words(family)}"


def history(report: ExperimentReport) -> Sheet:
    def named(row: tuple[PastExperiment, VariantReport]) -> Cell:
        when = f", {row[0].created_at:%Y-%m-%d %H:%M}" if row[0].created_at else ""
        return Cell(row[1].variant.name, row[0].name + when)

    def changed(row: tuple[PastExperiment, VariantReport]) -> str:
        one = row[1].variant
        settings = [f"{at}: {value}" for at, value in one.changes.items() if at != "prompts"]
        return "; ".join([*settings, *(file.words for file in one.prompt_files)]) or NOTHING

    figures = ((head, partial(lambda cell, row: cell(row[1]), cell)) for head, cell in _quantities(report))
    rows = [(one, variant) for one in reversed(report.history) for variant in one.variants]
    columns: tuple[ColumnOf[Any], ...] = ((name("Variant"), named), (name("Changes"), changed), *figures)
    return sheet_of("Earlier experiments on the same data", columns, rows)


def proposals(found: OptimiseReport) -> Sheet:
    rows = [one for of_round in found.rounds for one in of_round]
    measured = dict.fromkeys(figure.quantity for one in rows for figure in one.figures)
    columns: tuple[ColumnOf[Proposal], ...] = (
        (name("Proposal"), lambda one: one.name),
        (name("Change"), lambda one: one.change or NOTHING),
        *((Column(name_of(each), is_strong=True), partial(_tried, each)) for each in measured),
        (name("Outcome"), _fate),
    )
    return sheet_of("Proposals, tried on the development part", columns, rows)


def _tried(quantity: Quantity, one: Proposal) -> Cell:
    """Formats a figure together with the earlier one, as in `0.806, 0.569 before`."""
    after, before = (
        next((each for each in of if each.quantity is quantity), None) for of in (one.figures, one.against)
    )
    if after is None or before is None:
        return Cell(NOTHING)
    n = _basis(after, "claim")
    return value_cell(after.value, "{:.3f}".format, after.why, note=f"{amount(before.value, quantity)} before", basis=n)


def _fate(one: Proposal) -> Cell:
    if one.refused:
        return Cell("refused", one.refused)
    return Cell("kept" if one.is_kept else "not kept", one.words)


def heading(quantity: Quantity, k: int | None, report: ExperimentReport) -> str:
    """Returns the heading of a quantity, such as `Balanced accuracy` or `Cost of 1,000 claims`."""
    words = name_of(quantity, k)
    if quantity is Quantity.COST_USD:
        words += f" of {MANY:,} {report.kind}"
    if quantity is Quantity.TOKENS:
        words += f" a {report.kind.removesuffix('s')}"
    return words[0].upper() + words[1:]


def _basis(figure: GroupFigure, noun: str) -> str:
    left_out = f", {figure.n_left_out:,} excluded" if figure.n_left_out else ""
    return f"n = {plural(figure.n, noun)}{left_out}"


def variants(report: ExperimentReport) -> Sheet:
    def named(one: VariantReport) -> str:
        return f"{one.variant.name} (baseline)" if one.variant.name == report.baseline else one.variant.name

    columns: tuple[ColumnOf[VariantReport], ...] = (
        (name("Variant"), named),
        *_quantities(report),
        (Column("Same in all repeats", is_strong=True), lambda one: _share(one.stability)),
        (
            Column("Time, median"),
            lambda one: value_cell(one.latency.median_s, duration, basis=f"n = {one.latency.n:,}"),
        ),
        (Column("95th percentile"), lambda one: value_cell(one.latency.p95_s, duration)),
    )
    return sheet_of("Variants", columns, report.variants)


def _quantities(report: ExperimentReport) -> Iterator[ColumnOf[VariantReport]]:
    measured = report.variants[0].figures
    for quantity, k in ((each, one.k) for each in Quantity for one in measured if one.quantity is each):
        found = [one.find(quantity, k) for one in report.variants]
        is_headline = (quantity, k) == (report.headline, report.headline_k)
        is_known = any(one is not None and one.value is not None for one in found)
        if is_headline or (quantity in _GLANCE and is_known):
            yield Column(heading(quantity, k, report), is_strong=True), _measured(quantity, k, report)


def _measured(quantity: Quantity, k: int | None, report: ExperimentReport) -> Callable[[VariantReport], Cell]:
    return lambda one: _figure(one.find(quantity, k), quantity, report)


def _figure(found: QuantityFigure | None, quantity: Quantity, report: ExperimentReport) -> Cell:
    if found is None:
        return Cell(NOTHING)
    basis = _basis(found, item_of(quantity, report.kind))
    if quantity is Quantity.ACCURACY and report.variants[0].find(Quantity.TPR) is None:
        basis += f", {report.n_labelled:,} labelled"
    times = MANY if quantity is Quantity.COST_USD else 1
    scaled = {end: times * of for end in ("value", "low", "high") if (of := getattr(found, end)) is not None}
    shown = found.model_copy(update=scaled)
    return figure_cell(shown, lambda value: amount(value, quantity), "{} to {}".format, basis=basis)


MANY = 1_000
"""Displayed costs are for this many items."""


def _share(one: GroupFigure) -> Cell:
    return figure_cell(one, "{:.3f}".format, "{} to {}".format, basis=_basis(one, "claim"))


def items(report: ExperimentReport, most: int) -> Sheet:
    """Shows up to `most` items in rows and the variants in columns. Disputed items come first."""
    shown = sorted(report.items, key=lambda one: not _differs(one))[:most]
    is_claim = report.kind == "claims"
    people: ColumnOf[ItemRow] = (Column("Human label"), lambda one: (one.gold or NOTHING).replace("_", " "))
    of_variants: Iterator[ColumnOf[ItemRow]] = (
        (Column(one.variant.name), partial(_item_cell, place, is_claim)) for place, one in enumerate(report.variants)
    )
    columns: tuple[ColumnOf[ItemRow], ...] = (
        (
            name("Claim" if is_claim else "Response"),
            lambda one: Cell(one.claim or one.item_id, f"{one.item_id}, {one.group}"),
        ),
        *[people] * is_claim,
        *of_variants,
    )
    return sheet_of("All items", columns, shown)


def _differs(one: ItemRow) -> bool:
    return len({(cell.verdict, None if one.claim is not None else cell.value) for cell in one.cells}) > 1


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
    symbol = paired.VERDICT_STATUS[cell.verdict].symbol
    is_wrong = one.gold is not None and cell.verdict != one.gold
    return Cell(f"{symbol} {cell.verdict.replace('_', ' ')}", agreeing, is_marked=is_wrong)


def differences(report: ExperimentReport, one: Conclusion, *, details: bool = True) -> Sheet:
    """Compares two variants, with one line per quantity. Without `details`, only the headline and the questions are
    shown."""
    title, found = f"{one.second} against {one.first}", report.differences_of(one.first, one.second)
    found = tuple(each for each in found if details or each.is_headline or each.is_question)
    return paired.differences(title, (one.first, one.second), found, has_intervals=report.n_resamples > 0)
