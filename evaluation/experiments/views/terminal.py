"""An experiment on the terminal: the verdicts first, then the variants, how far they are apart, and what flipped."""

from __future__ import annotations

from collections.abc import Iterator

from rich.console import Console, Group, RenderableType
from rich.table import Table
from rich.text import Text

from factloop.evaluation.comparing.words import p_value
from factloop.evaluation.experiments.report import (
    ExperimentReport,
    Flip,
    Outcome,
    PairedDifference,
    Quantity,
    VariantReport,
)
from factloop.evaluation.experiments.views import figures as told
from factloop.evaluation.experiments.words import amount, interval, name_of
from factloop.reports import figures
from factloop.reports.figures import percent
from factloop.reports.terminal_parts import Row, notice_rows, one_line, print_section, rows_table
from factloop.reports.visible import visible

WIDE = 110
"""Columns from which each variant and each difference has one line."""
FLIPS_SHOWN = 10
_STYLES = {Outcome.BETTER: "green", Outcome.WORSE: "red", Outcome.HIGHER: "yellow", Outcome.LOWER: "yellow"}


def print_experiment(report: ExperimentReport, console: Console) -> None:
    """Prints the experiment at the console's width. Names and texts are printed as text: no markup."""
    wide = console.width >= WIDE
    if report.conclusions:
        print_section(console, one_line(told.title_of(report)), _conclusions(report))
    print_section(console, "Variants", _variants(report) if wide else _variants_in_lines(report))
    for one in report.conclusions:
        differences = report.differences_of(one.first, one.second)
        title = one_line(f"{one.second} against {one.first}")
        print_section(console, title, _differences(report, differences, wide=wide))
    if report.flip_counts:
        print_section(console, f"Claims that flipped ({len(report.flips):,})", _flips(report))
    print_section(console, "Experiment", rows_table(_rows(report)))


def _conclusions(report: ExperimentReport) -> Table:
    table = Table(box=None, padding=(0, 1, 0, 0), show_header=False)
    table.add_column(no_wrap=True)
    table.add_column(overflow="fold")
    for one in report.conclusions:
        sign = Text(told.SIGNS[one.outcome], style=_STYLES.get(one.outcome, ""))
        table.add_row(sign, Text(visible(one.words)))
    return table


def _variants(report: ExperimentReport) -> Table:
    table = Table(box=None, padding=(0, 2, 0, 0), header_style="dim")
    table.add_column("", overflow="fold")
    columns = told.columns(report)
    for quantity, k in columns:
        table.add_column(told.heading(quantity, k, report), justify="right")
    table.add_column("Same in all repeats", justify="right")
    table.add_column("Median time", justify="right")
    for one in report.variants:
        cells = [_cell(one, quantity, k) for quantity, k in columns]
        table.add_row(_name(one, report), *cells, _stable(one), _median(one))
    return table


def _cell(one: VariantReport, quantity: Quantity, k: int | None) -> Text:
    found = one.find(quantity, k)
    below = [words for words in (told.interval_words(found), "" if found is None else f"n {found.n:,}") if words]
    return Text.assemble(told.value_words(found), *((f"\n{words}", "dim") for words in below))


def _name(one: VariantReport, report: ExperimentReport) -> Text:
    name = one.variant.name
    return Text.assemble((name, "bold"), ("\nbaseline" if name == report.baseline else "", "dim"))


def _stable(one: VariantReport) -> Text:
    share = one.stability.share
    return Text("–") if share.value is None else _with_n(percent(round(share.value, 3)), share.n)


def _median(one: VariantReport) -> Text:
    latency = one.latency
    return Text("–") if latency.median_s is None else _with_n(figures.duration(latency.median_s), latency.n)


def _with_n(words: str, n: int) -> Text:
    return Text.assemble(words, (f"\nn {n:,}", "dim"))


def _variants_in_lines(report: ExperimentReport) -> RenderableType:
    parts: list[RenderableType] = []
    for one in report.variants:
        parts.append(_name(one, report))
        rows = []
        for quantity, k in told.columns(report):
            found = one.find(quantity, k)
            below = [told.interval_words(found), "" if found is None else f"n {found.n:,}"]
            shown = f"{told.value_words(found)} ({', '.join(words for words in below if words)})"
            rows.append((told.heading(quantity, k, report), Text(shown if not told.why(found) else told.why(found))))
        parts.append(rows_table([*rows, *_extra_rows(one)]))
    return Group(*parts)


def _extra_rows(one: VariantReport) -> list[Row]:
    return [("Stability", Text(told.stability_words(one))), ("Time", Text(told.latency_words(one)))]


def _differences(report: ExperimentReport, differences: tuple[PairedDifference, ...], *, wide: bool) -> Table:
    if not wide:
        return rows_table((name_of(one.quantity, one.k), _in_lines(one)) for one in differences)
    table = Table(box=None, padding=(0, 2, 0, 0), header_style="dim")
    table.add_column("", no_wrap=True)
    sure = f"{percent(report.level)} interval"
    for head in (*_sides(differences), "difference", sure, "p", "corrected", "n", "groups", "left out"):
        table.add_column(head, justify="right")
    table.add_column("")
    for one in differences:
        sides = [amount(value, one.quantity) for value in (one.first_value, one.second_value)]
        numbers = [f"{n:,}" for n in (one.n, one.n_groups, one.n_left_out)]
        apart = Text(amount(one.value, one.quantity, signed=True), style="bold")
        p_values = (p_value(one.p), p_value(one.p_corrected))
        ends = interval(one, one.quantity, signed=True)
        table.add_row(name_of(one.quantity, one.k), *sides, apart, ends, *p_values, *numbers, _outcome(one))
    return table


def _sides(differences: tuple[PairedDifference, ...]) -> tuple[str, str]:
    return (differences[0].first, differences[0].second) if differences else ("", "")


def _outcome(one: PairedDifference) -> Text:
    words = f"{told.SIGNS[one.outcome]} {told.OUTCOME_WORDS[one.outcome]}"
    return Text(f"{words}: {told.why(one)}" if one.undefined else words, style=_STYLES.get(one.outcome, "dim"))


def _in_lines(one: PairedDifference) -> Text:
    apart = amount(one.value, one.quantity, signed=True)
    left_out = f", {one.n_left_out:,} left out" if one.n_left_out else ""
    return Text.assemble(
        (apart, "bold"),
        f" ({interval(one, one.quantity, signed=True)}), p {p_value(one.p)}, corrected {p_value(one.p_corrected)}\n",
        _outcome(one),
        (f"; n {one.n:,} in {one.n_groups:,} groups{left_out}", "dim"),
    )


def _flips(report: ExperimentReport) -> Group:
    counts = [Text(told.flips_words(one)) for one in report.flip_counts]
    table = Table(box=None, padding=(0, 1, 0, 0), show_header=False)
    table.add_column(no_wrap=True)
    table.add_column()
    for flip in report.flips[:FLIPS_SHOWN]:
        sides = (flip.first_side, flip.second_side)
        signs = " → ".join(told.VERDICT_STATUS[side.verdict].symbol for side in sides)
        table.add_row(signs, Group(*_flip_lines(flip)))
    if len(report.flips) > FLIPS_SHOWN:
        table.add_row("", Text("The JSON report, the page and its CSV have them all.", style="dim"))
    return Group(*counts, table)


def _flip_lines(flip: Flip) -> Iterator[Text]:
    yield Text(one_line(flip.claim))
    style = told.DIRECTION_STATUS[flip.direction]
    colour = {"supported": "green", "contradicted": "red"}.get(style.value, "dim")
    yield Text.assemble(
        (told.DIRECTION_WORDS[flip.direction], colour),
        (f"; {told.gold_words(flip.gold)}; {one_line(flip.group)}", "dim"),
    )
    for name, side in ((flip.first, flip.first_side), (flip.second, flip.second_side)):
        grounds = f": {side.rationale}" if side.rationale else ""
        yield Text(one_line(f"{name}, {told.side_words(side)}{grounds}"), style="dim")


def _rows(report: ExperimentReport) -> list[Row]:
    rows: list[Row] = [(name, Text(one_line(said))) for name, said in told.basis_rows(report)]
    rows += [(f"Stability: {one.variant.name}", Text(told.stability_words(one))) for one in report.variants]
    paid = report.paid
    rows.append(("Paid", Text(f"{figures.calls(paid)}; {figures.tokens(paid)} tokens; {figures.cost(paid)}")))
    return rows + notice_rows("Caution", report.warnings)
