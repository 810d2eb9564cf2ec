"""Renders a comparison of two runs as a self-contained page or for the terminal, and prints an experiment's flips."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from rich.console import Console, Group
from rich.table import Table
from rich.text import Text

from factloop.core.files.json import to_json
from factloop.evaluation.comparing.records import (
    Changed,
    ClaimAgreement,
    Comparison,
    ComparisonKind,
    Flip,
    FlipCount,
    Pair,
    PairedDifference,
    Quantity,
    Side,
    Step,
)
from factloop.evaluation.comparing.views import paired
from factloop.evaluation.comparing.words import amount, name_of, p_value
from factloop.evaluation.runs.longform import F1, PRECISION, AbstentionPolicy
from factloop.evaluation.runs.records import ResponseLine
from factloop.evaluation.runs.views import sheets as run_words
from factloop.evaluation.runs.views.sheets import POLICY_WORDS
from factloop.reports.downloads import Cell, DownloadLink, csv_download, json_download
from factloop.reports.figures import percent, plural
from factloop.reports.page import render_page
from factloop.reports.sheet.table import Cell as SheetCell
from factloop.reports.sheet.table import Column, ColumnOf, Line, Sheet, count_cell, figure_cell, name, sheet_of
from factloop.reports.sheet.terminal import print_sheet
from factloop.reports.terminal_parts import Row, notice_rows, one_line, print_section, rows_table
from factloop.reports.visible import visible

MOST_ROWS = 5000
"""Maximum number of pairs on the page. The download has all of them."""
MOST_FLIPS = 2000
"""Maximum number of flipped claims on the page. The JSON and CSV files have all of them."""


@dataclass(frozen=True)
class PairRow:
    pair: Pair
    first: float | None
    second: float | None
    group: str

    @property
    def difference(self) -> float | None:
        return None if self.first is None or self.second is None else self.second - self.first

    @property
    def shown(self) -> str:
        return amount(self.difference, Quantity.F1, signed=True)


def render_comparison_html(comparison: Comparison) -> str:
    """The output is deterministic. Rendering takes time linear in the number of pairs and flips."""
    shown = next((one for one in comparison.differences if one.quantity is Quantity.F1), None)
    rows = sorted((_row(pair, shown, comparison.abstention) for pair in comparison.pairs), key=_farthest_first)
    flips = comparison.flips[:MOST_FLIPS]
    named = [(name_of(one.quantity, one.k), one) for one in comparison.differences]
    shown_name = None if shown is None else name_of(shown.quantity, shown.k)
    return render_page(
        "comparison.html.j2",
        room="factloop.evaluation.comparing.views",
        styles=("list.css", "pictures.css", "run.css", "experiment.css"),
        scripts=("list.js",),
        comparison=comparison,
        title=title_of(comparison),
        sides=(("A", comparison.first), ("B", comparison.second)),
        words_of=side_in_words,
        basis_of=basis_in_words,
        unpaired=list(unpaired_rows(comparison)),
        policy=run_words.POLICY_WORDS[comparison.abstention],
        picture=paired.draw_differences(
            named,
            axis="← A is higher · points, B minus A · B is higher →",
            alt="{} differences of B minus A with their intervals; filled if shown after adjustment.",
        ),
        differences=differences_sheet(comparison),
        steps=steps_sheet(comparison),
        steps_note=STEPS_NOTE,
        verdicts=None if comparison.claims is None else verdicts_sheet(comparison.claims),
        agreement=None if comparison.claims is None else agreement_sheet(comparison.claims),
        shown=shown_name,
        rows=rows[:MOST_ROWS],
        flips=flips,
        filters=paired.flip_filters(flips),
        downloads=list(_downloads(comparison)),
        said=run_words,
        told=paired,
    )


def _row(pair: Pair, shown: PairedDifference | None, abstention: AbstentionPolicy) -> PairRow:
    k = None if shown is None else shown.k
    measure = PRECISION if shown is None else F1
    first, second = (measure.value(line, k, abstention) for line in (pair.first, pair.second))
    if first is None or second is None:
        return PairRow(pair, first, second, "none")
    apart = second - first
    return PairRow(pair, first, second, "equal" if abs(apart) <= 1e-12 else "second" if apart > 0 else "first")


def _farthest_first(row: PairRow) -> tuple[bool, float, str, str]:
    return row.difference is None, -abs(row.difference or 0.0), row.pair.first.prompt_id, row.pair.first.system


_LINE = ("id", "system", "supported", "not_supported", "irrelevant", "unscored")
_PAIRS = ("prompt_id", *(f"{side}_{name}" for side in "ab" for name in _LINE))


def _downloads(comparison: Comparison) -> Iterator[DownloadLink]:
    yield json_download("The whole comparison (JSON)", "comparison.json", to_json(comparison))
    yield paired.differences_download(comparison.differences)
    yield csv_download("Pairs (CSV)", "pairs.csv", _PAIRS, map(_pair_cells, comparison.pairs))
    if comparison.flips:
        yield paired.flips_download(comparison.flips)


def _pair_cells(pair: Pair) -> Sequence[Cell]:
    return pair.first.prompt_id, *_line_cells(pair.first), *_line_cells(pair.second)


def _line_cells(line: ResponseLine) -> tuple[Cell, ...]:
    counts = line.as_counted
    return line.id, line.system, counts.supported, counts.not_supported, counts.irrelevant, counts.unscored


NAMED = 5
_VERDICTS = ("Supported", "Not supported", "Irrelevant", "Unscored")
"""In the order of `ClaimAgreement.table`."""


def title_of(comparison: Comparison) -> str:
    n = len(comparison.pairs)
    if comparison.kind is ComparisonKind.EVALUATORS:
        return f"Two evaluators on {plural(n, 'response')}"
    return f"Two systems on {plural(len({pair.first.prompt_id for pair in comparison.pairs}), 'prompt')}"


def side_in_words(side: Side) -> str:
    """Describes a side, as in `runs/a: gpt-4o, judged by …`."""
    shown = ", ".join(side.systems[:NAMED]) + (f" and {len(side.systems) - NAMED} more" if side.systems[NAMED:] else "")
    return f"{side.run}: {shown}, judged by {side.judge}"


def basis_in_words(side: Side) -> str:
    counts = side.counts
    return (
        f"{plural(side.n_responses, 'response')} ({side.n_abstained:,} abstained, "
        f"{side.n_unscored_responses:,} without any verdict); "
        f"claims: {counts.supported:,} supported, {counts.not_supported:,} not, "
        f"{counts.irrelevant:,} irrelevant, {counts.unscored:,} unscored"
    )


def unpaired_rows(comparison: Comparison) -> Iterator[tuple[str, str]]:
    for heading, lines in (
        ("Only in A", comparison.only_first),
        ("Only in B", comparison.only_second),
        ("Different text in B", comparison.other_text),
    ):
        if lines:
            yield heading, _unpaired(lines)


def _unpaired(lines: tuple[ResponseLine, ...]) -> str:
    prompts = [*dict.fromkeys(line.prompt_id for line in lines)]
    rest = len(prompts) - NAMED
    named = ", ".join(prompts[:NAMED]) + (f" and {plural(rest, 'more prompt')}" if rest > 0 else "")
    return f"{plural(len(lines), 'response')}: {named}"


def differences_sheet(comparison: Comparison) -> Sheet:
    has_intervals = comparison.n_resamples > 0
    found = comparison.differences
    return paired.differences("Differences, B minus A", ("A", "B"), found, has_intervals=has_intervals, group="prompt")


_CHANGED = {
    **{one: f"the {one}" for one in Changed},
    Changed.COUNTING: "the counting of repeated claims",
    Changed.VERSIONS: "software versions",
}
STEPS_NOTE = (
    "Each part is the change in the figure from one run to the next, over the responses that have it in all runs, so "
    "the parts add up. An interaction of two changes is attributed to the later one, so another order may give "
    "different parts."
)


def steps_sheet(comparison: Comparison) -> Sheet | None:
    """Returns one line per step and quantity, and one for the whole difference, or None without intermediate runs."""
    found = comparison.attribution
    if found is None:
        return None
    has_intervals = comparison.n_resamples > 0
    columns: tuple[ColumnOf[_Part], ...] = (
        (name("Quantity"), lambda row: name_of(row[2].quantity, row[2].k)),
        (name("Cause"), lambda row: row[0]),
        (name("Runs"), lambda row: row[1]),
        (Column("Difference", is_strong=True), lambda row: amount(row[2].value, row[2].quantity, signed=True)),
        (Column("Interval"), lambda row: paired.interval_cell(row[2], has_intervals=has_intervals, group="prompt")),
        (Column("p adjusted"), lambda row: p_value(row[2].p_corrected)),
        (Column("n"), lambda row: row[2].n),
        (Column("Prompts"), lambda row: row[2].n_groups),
        (Column("Excluded"), lambda row: row[2].n_left_out),
    )
    rows = [
        row
        for place, whole in enumerate(found.whole)
        for row in (*(_part(step, place) for step in found.steps), ("all together", "B minus A", whole))
    ]
    title = "What caused the difference, B minus A"
    return sheet_of(title, columns, rows, is_total=lambda row: row[2] in found.whole)


_Part = tuple[str, str, PairedDifference]


def _part(step: Step, place: int) -> _Part:
    changed = " and ".join(_CHANGED[one] for one in step.changed) or "nothing recorded: the judge was called again"
    one = step.parts[place]
    return changed, f"{one.second} minus {one.first}", one


def verdicts_sheet(claims: ClaimAgreement) -> Sheet:
    columns = (name("A \\ B"), *map(Column, _VERDICTS))
    lines = (
        Line((SheetCell(words), *(replace(count_cell(n), is_marked=place == other) for other, n in enumerate(row))))
        for place, (words, row) in enumerate(zip(_VERDICTS, claims.table, strict=True))
    )
    return Sheet("Verdicts on the same claims, A in rows, B in columns", columns, tuple(lines))


def agreement_sheet(claims: ClaimAgreement) -> Sheet:
    rows = (("Same verdict, among claims that both judged", claims.agreement), ("Cohen’s kappa", claims.kappa))
    columns: tuple[ColumnOf[Any], ...] = (
        (name("Measure"), lambda row: row[0]),
        (Column("Value, interval, n", is_strong=True), lambda row: figure_cell(row[1], run_words.share)),
    )
    return sheet_of("Agreement of A and B", columns, rows)


FLIPS_SHOWN = 10
SETTINGS_SHOWN = 8
_HASH = re.compile("[0-9a-f]{64}")


def print_comparison(comparison: Comparison, console: Console) -> None:
    """Prints the comparison at the console's width. Names and text are printed literally, without markup."""
    print_section(console, title_of(comparison), rows_table(_side_rows(comparison)))
    print_sheet(console, differences_sheet(comparison))
    if (steps := steps_sheet(comparison)) is not None:
        print_sheet(console, steps)
        console.print(Text(STEPS_NOTE, style="dim"))
        console.print()
    if comparison.claims is not None and comparison.claims.n_matched:
        print_sheet(console, verdicts_sheet(comparison.claims))
    if comparison.flips:
        print_flips(console, comparison.flip_counts, comparison.flips)
    print_section(console, "Findings", Group(*(Text(visible(said)) for said in comparison.conclusions)))
    print_section(console, "Comparison", rows_table(_rows(comparison)))


def print_flips(console: Console, counts: Sequence[FlipCount], flips: Sequence[Flip]) -> None:
    table = Table(box=None, padding=(0, 1, 0, 0), show_header=False)
    table.add_column(no_wrap=True)
    table.add_column()
    for flip in flips[:FLIPS_SHOWN]:
        sides = (flip.first_side, flip.second_side)
        signs = " → ".join(paired.VERDICT_STATUS[side.verdict].symbol for side in sides)
        table.add_row(signs, Group(*_flip_lines(flip)))
    if len(flips) > FLIPS_SHOWN:
        table.add_row("", Text("The JSON report, the page and its CSV contain all of them.", style="dim"))
    said = [Text(paired.flips_words(one)) for one in counts]
    print_section(console, f"Claims that flipped ({len(flips):,})", Group(*said, table))
    print_sheet(console, paired.causes(flips))


def _flip_lines(flip: Flip) -> Iterator[Text]:
    yield Text(one_line(flip.claim))
    direction = paired.DIRECTIONS[flip.direction]
    yield Text.assemble(
        (direction.words, direction.style),
        (f"; {paired.gold_words(flip.gold)}; {one_line(paired.place_words(flip))}", "dim"),
    )
    for side_name, side in ((flip.first, flip.first_side), (flip.second, flip.second_side)):
        grounds = f": {side.rationale}" if side.rationale else ""
        yield Text(one_line(f"{side_name}, {paired.side_words(side)}{grounds}"), style="dim")


def _side_rows(comparison: Comparison) -> Iterator[Row]:
    for letter, side in (("A", comparison.first), ("B", comparison.second)):
        lines = [Text(one_line(side_in_words(side))), Text("\n"), Text(basis_in_words(side), style="dim")]
        yield letter, Text.assemble(*lines)


def _rows(comparison: Comparison) -> list[Row]:
    intervals = (
        f"{percent(comparison.level)}, seed {comparison.seed}; for differences by flipping signs of whole prompts, "
        f"adjusted per family (Bonferroni); for agreement by {comparison.n_resamples:,} resamples of whole prompts"
    )
    rows: list[Row] = [("Abstentions", Text(POLICY_WORDS[comparison.abstention])), ("Intervals", Text(intervals))]
    rows += [(name, Text(one_line(said))) for name, said in paired.demand_rows(comparison.demands)]
    rows += [(name, Text(one_line(said))) for name, said in unpaired_rows(comparison)]
    rows += [
        ("Differs", Text(one_line(f"{one.name}: {_setting(one.first)} → {_setting(one.second)}")))
        for one in comparison.settings[:SETTINGS_SHOWN]
    ]
    if len(comparison.settings) > SETTINGS_SHOWN:
        rows.append(("", Text(f"and {plural(len(comparison.settings) - SETTINGS_SHOWN, 'more setting')}", style="dim")))
    return rows + notice_rows("Caution", comparison.warnings)


def _setting(value: str | None) -> str:
    if value is None:
        return "none"
    return value[:12] if _HASH.fullmatch(value) else value
