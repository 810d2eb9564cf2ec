"""Presents paired differences and flips as sheets, downloads and text, for all reports."""

from __future__ import annotations

import textwrap
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from markupsafe import Markup

from factloop.core.records import Evidence, Verdict
from factloop.evaluation.comparing.records import (
    DemandResult,
    Direction,
    Family,
    Flip,
    FlipCount,
    FlipSide,
    Outcome,
    PairedDifference,
)
from factloop.evaluation.comparing.words import (
    amount,
    interval,
    is_share,
    level_words,
    name_of,
    p_value,
    size,
    why_no_interval,
)
from factloop.reports.claims import Status
from factloop.reports.downloads import DownloadLink, csv_download
from factloop.reports.figures import plural
from factloop.reports.page import Filter
from factloop.reports.pictures import INK, PAPER, SERIES, draw
from factloop.reports.sheet.table import NOTHING, Cell, Column, ColumnOf, Sheet, name, page_only, sheet_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes


LONGEST_QUOTE = 100
"""Maximum number of characters quoted from a passage in the table of causes."""


@dataclass(frozen=True)
class Shown:
    """How to show an outcome or direction: as a sign where there is no colour, or in a status colour on pages."""

    words: str
    status: Status
    sign: str = ""
    style: str = "dim"


OUTCOMES: Mapping[Outcome, Shown] = {
    Outcome.BETTER: Shown("better", Status.SUPPORTED, "↑", "green"),
    Outcome.WORSE: Shown("worse", Status.CONTRADICTED, "↓", "red"),
    Outcome.HIGHER: Shown("higher", Status.NO_EVIDENCE, "+", "yellow"),
    Outcome.LOWER: Shown("lower", Status.NO_EVIDENCE, "−", "yellow"),
    Outcome.NOT_SHOWN: Shown("no difference shown", Status.IRRELEVANT, "·"),
    Outcome.UNKNOWN: Shown("unknown", Status.UNSCORED, "?"),
}
DIRECTIONS: Mapping[Direction, Shown] = {
    Direction.WORSE: Shown("for the worse", Status.CONTRADICTED, style="red"),
    Direction.BETTER: Shown("for the better", Status.SUPPORTED, style="green"),
    Direction.NEUTRAL: Shown("neutral", Status.IRRELEVANT),
}
VERDICT_STATUS: Mapping[Verdict, Status] = {
    Verdict.SUPPORTED: Status.SUPPORTED,
    Verdict.NOT_SUPPORTED: Status.CONTRADICTED,
    Verdict.IRRELEVANT: Status.IRRELEVANT,
}


def differences(
    title: str, sides: tuple[str, str], found: Sequence[PairedDifference], *, has_intervals: bool, group: str = "group"
) -> Sheet:
    def between(one: PairedDifference) -> Cell:
        ends = interval_cell(one, has_intervals=has_intervals, group=group)
        note = f"{ends.text}, {ends.note}" if one.interval else ends.note
        return Cell(amount(one.value, one.quantity, signed=True), note)

    columns: tuple[ColumnOf[PairedDifference], ...] = (
        (name("Quantity"), lambda one: name_of(one.quantity, one.k)),
        (Column(sides[0]), lambda one: amount(one.first_value, one.quantity)),
        (Column(sides[1]), lambda one: amount(one.second_value, one.quantity)),
        (Column("Difference", is_strong=True), between),
        (Column("Outcome"), _outcome),
        (Column("p"), lambda one: p_value(one.p)),
        (Column("p adjusted"), lambda one: p_value(one.p_corrected)),
        (page_only("Detectable (4 of 5 times)"), _seen),
        (
            page_only("Lower, equal, higher"),
            lambda one: f"{one.first_higher:,} / {one.equal:,} / {one.second_higher:,}",
        ),
        (Column("n"), lambda one: Cell(f"{one.n:,}", _from(one, group))),
    )
    return sheet_of(title, columns, found, is_total=lambda one: one.is_headline)


def _from(one: PairedDifference, group: str) -> str:
    left_out = f", {one.n_left_out:,} excluded" if one.n_left_out else ""
    return f"from {plural(one.n_groups, group)}{left_out}"


def interval_cell(one: PairedDifference, *, has_intervals: bool, group: str) -> Cell:
    why = "" if one.value is None else why_no_interval(one, has_intervals=has_intervals, group=group)
    return Cell(interval(one, one.quantity, signed=True), level_words(one.level) if one.interval else why)


def _outcome(one: PairedDifference) -> Cell:
    shown = OUTCOMES[one.outcome]
    return Cell(f"{shown.sign} {shown.words}", one.why, tone=shown.status.value, style=shown.style)


def _seen(one: PairedDifference) -> str:
    if one.detectable is not None and is_share(one.quantity) and one.detectable >= 1:
        return "too few for any"
    return size(one.detectable, one.quantity)


def draw_differences(rows: Iterable[tuple[str, PairedDifference]], *, axis: str, alt: str) -> Markup | None:
    """Draws the differences in proportions with intervals, in percentage points. Shown differences have filled dots.
    Returns None if no difference is defined."""
    drawn = [(name, one, 100 * one.value) for name, one in rows if one.value is not None and is_share(one.quantity)]
    if not drawn:
        return None

    def paint(axes: Axes) -> None:
        axes.axvline(0, color=INK, linewidth=1)
        for y, (_, one, value) in enumerate(drawn):
            if one.low is not None and one.high is not None:
                axes.hlines(y, 100 * one.low, 100 * one.high, color=SERIES[0], linewidth=2)
            axes.plot(
                [value],
                [y],
                linestyle="none",
                marker="o",
                markersize=8,
                color=SERIES[0],
                markerfacecolor=SERIES[0] if one.outcome.is_shown else PAPER,
                markeredgewidth=1.8,
            )
        ends = [100 * end for _, one, _ in drawn for end in (one.low, one.high, one.value) if end is not None]
        reach = max(1.0, 1.12 * max(map(abs, ends)))
        axes.set_xlim(-reach, reach)
        axes.set_yticks(range(len(drawn)), [name for name, _, _ in drawn])
        axes.set_ylim(len(drawn) - 0.4, -0.6)
        axes.tick_params(axis="y", length=0)
        axes.grid(visible=False, axis="y")
        axes.spines["left"].set_visible(False)
        axes.set_xlabel(axis)

    return draw(paint, alt=alt.format(len(drawn)), width=8.0, height=1.0 + 0.36 * len(drawn))


def tests_words(family: Family) -> str:
    """Describes a family's tests, as in `24 tests, of which 7 could show a difference; p-values adjusted ...`."""
    could = f", of which {family.n_counted:,} could show a difference" if family.n_counted < family.n_tests else ""
    adjusted = "; p-values adjusted together (Holm’s method)" if family.n_tests > 1 else ""
    return f"{plural(family.n_tests, 'test')}{could}{adjusted}"


def demand_rows(demands: Iterable[DemandResult]) -> Iterator[tuple[str, str]]:
    for one in demands:
        yield f"Demand: {one.demand or one.metric}, {'met' if one.is_met else 'not met'}", one.said


def flips_words(count: FlipCount) -> str:
    """Describes the flips, as in `19 of 117 claims flipped from A to B: 16 for the better, ...`."""
    n = count.n_better + count.n_worse + count.n_neutral
    said = (
        f"{n:,} of {plural(count.n_claims, 'claim')} flipped from {count.first} to {count.second}: "
        f"{count.n_better:,} for the better, {count.n_worse:,} for the worse, "
        f"{count.n_neutral:,} with no label or wrong on both sides"
    )
    if count.n_split:
        said += f"; {count.n_split:,} with repeats split evenly"
    return f"{said}; {count.n_unscored:,} without a verdict on one side" if count.n_unscored else said


def causes(flips: Iterable[Flip]) -> Sheet:
    """Lists each cause shared by several flips in the same direction, most frequent first."""
    found: defaultdict[tuple[object, ...], list[Flip]] = defaultdict(list)
    for flip in flips:
        if any(side.cited or side.wrong for side in (flip.first_side, flip.second_side)):
            found[flip.cause].append(flip)
    one_way = (of for of in found.values() if len({flip.direction for flip in of}) == 1 < len(of))
    several = sorted(one_way, key=len, reverse=True)
    words = [_words(of[0]) for of in several]
    columns: tuple[ColumnOf[list[Flip]], ...] = (
        (name("Flips"), lambda of: Cell(f"{len(of):,} {DIRECTIONS[of[0].direction].words}", _kinds(of[0]))),
        (name("Claims"), lambda of: ", ".join(dict.fromkeys(one.first_side.claim_id for one in of))),
        *([(name("Words at issue"), lambda of: _words(of[0]))] if any(words) else []),
        (name("Passage"), lambda of: _quoted(of[0].deciding)),
    )
    return sheet_of("Causes shared by several flips", columns, several)


def _words(flip: Flip) -> str:
    return flip.second_side.wrong or flip.first_side.wrong


def _kinds(flip: Flip) -> str:
    words = {None: "", True: "contradicted", False: "no evidence"}
    sides = (flip.first_side, flip.second_side)
    kinds = " → ".join(words[side.contradicted] or side.verdict.replace("_", " ") for side in sides)
    return f"{kinds}, from {flip.first} to {flip.second}"


def _quoted(passages: Sequence[Evidence]) -> Cell:
    shown = (f"“{textwrap.shorten(one.passage, LONGEST_QUOTE, placeholder=' …')}”" for one in passages)
    return Cell("; ".join(dict.fromkeys(shown)) or NOTHING, ", ".join(dict.fromkeys(one.source for one in passages)))


def side_words(side: FlipSide) -> str:
    """Describes the verdict and its repeats, as in `supported (3 of 3 repeats)`."""
    verdict = side.verdict.replace("_", " ")
    return verdict if side.n_scored == 1 else f"{verdict} ({side.n_repeats:,} of {side.n_scored:,} repeats)"


def gold_words(gold: Verdict | None) -> str:
    return "no label" if gold is None else f"label: {gold.replace('_', ' ')}"


def place_words(flip: Flip) -> str:
    """Returns the claim's id and group, as in `ellery-1.1, document 1c9637f4fc5371ba`."""
    return ", ".join(dict.fromkeys((flip.first_side.claim_id, flip.group)))


def flip_filters(flips: Iterable[Flip]) -> list[Filter]:
    n = Counter(flip.direction for flip in flips)
    return [Filter(one.value, shown.words, "", shown.status.value, n[one]) for one, shown in DIRECTIONS.items()]


_DIFFERENCES = tuple(PairedDifference.model_fields)
_FLIP = ("first", "second", "group", "claim", "gold", "direction")
_SIDE = ("claim_id", "verdict", "n_repeats", "n_scored", "rationale")


def differences_download(found: Iterable[PairedDifference]) -> DownloadLink:
    rows = ([getattr(one, field) for field in _DIFFERENCES] for one in found)
    return csv_download("Differences (CSV)", "differences.csv", _DIFFERENCES, rows)


def flips_download(flips: Iterable[Flip]) -> DownloadLink:
    """The CSV file has one row per flip. A cell lists the sources of the cited passages, one per line."""
    head = (*_FLIP, *(f"{side}_{field}" for side in ("first", "second") for field in (*_SIDE, "cited")))
    rows = (
        [
            *(getattr(one, field) for field in _FLIP),
            *(cell for side in (one.first_side, one.second_side) for cell in _side_cells(side)),
        ]
        for one in flips
    )
    return csv_download("Flipped claims (CSV)", "flips.csv", head, rows)


def _side_cells(side: FlipSide) -> Iterator[str | int]:
    yield from (getattr(side, field) for field in _SIDE)
    yield "\n".join(passage.source for passage in side.cited)
