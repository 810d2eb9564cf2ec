"""An experiment as one self-contained HTML page: verdicts first, then differences, flips, settings and prompts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from markupsafe import Markup

from factloop.core.files.json import to_json
from factloop.evaluation.comparing.pictures import IntervalRow, draw_intervals
from factloop.evaluation.experiments import words as said
from factloop.evaluation.experiments.report import (
    Conclusion,
    Direction,
    ExperimentReport,
    Flip,
    Outcome,
    PairedDifference,
)
from factloop.evaluation.experiments.views import csv as tables
from factloop.evaluation.experiments.views import figures as told
from factloop.evaluation.experiments.views import sheets
from factloop.evaluation.experiments.views.prompt_diff import prompt_diffs
from factloop.reports.downloads import DownloadLink, csv_download, json_download
from factloop.reports.page import render_page
from factloop.reports.page_parts import Filter
from factloop.reports.sheet.table import Sheet

MOST_FLIPS = 1000
"""Claims with both sides' grounds on the page; the JSON and the CSV have all."""
MOST_ITEMS = 500
"""Items against all variants on the page, those on which variants differ first; the JSON and the CSV have all."""
MOST_PICTURES = 12
"""Comparisons whose differences are drawn one by one; drawing takes a tenth of a second each."""
_DIRECTIONS = (Direction.WORSE, Direction.BETTER, Direction.NEUTRAL)


@dataclass(frozen=True)
class ShownComparison:
    """One comparison on the page."""

    conclusion: Conclusion
    sheet: Sheet
    words: tuple[str, ...]
    picture: Markup | None


def render_experiment_html(report: ExperimentReport) -> str:
    """The page. Equal reports give equal pages. Takes time linear in the number of comparisons and flips."""
    flips = report.flips[:MOST_FLIPS]
    return render_page(
        "experiment.html.j2",
        room="factloop.evaluation.experiments.views",
        styles=("list.css", "pictures.css", "run.css", "experiment.css"),
        scripts=("list.js",),
        report=report,
        variants=sheets.variants(report),
        items=sheets.items(report, MOST_ITEMS),
        n_items_shown=min(MOST_ITEMS, len(report.items)),
        glance=_glance(report),
        compared=_compared(report),
        flips=flips,
        filters=_filters(flips),
        settings=_settings(report),
        diffs=prompt_diffs(report),
        downloads=list(_downloads(report)),
        told=told,
        noun=report.kind.removesuffix("s"),
    )


def _glance(report: ExperimentReport) -> Markup | None:
    """The headline of every comparison in one picture."""
    rows = [one for one in report.differences if one.is_headline]
    name = said.name_of(report.headline, report.headline_k)
    alt = f"{name}: {len(rows)} comparisons with their intervals; filled where a difference is shown."
    against = any(one.first != report.baseline for one in rows)
    return _drawn(
        [(f"{one.second} against {one.first}" if against else one.second, one) for one in rows],
        axis=f"points of {name}" + ("" if against else f" above {report.baseline}"),
        alt=alt,
    )


def _compared(report: ExperimentReport) -> list[ShownComparison]:
    found = []
    for number, one in enumerate(report.conclusions):
        differences = report.differences_of(one.first, one.second)
        shares = [(said.name_of(each.quantity, each.k), each) for each in differences if said.is_share(each.quantity)]
        alt = f"{one.second} minus {one.first}: {len(shares)} quantities with their intervals; filled where shown."
        axis = f"← {one.first} is higher · points · {one.second} is higher →"
        picture = _drawn(shares, axis=axis, alt=alt) if number < MOST_PICTURES else None
        words = tuple(each.words for each in differences)
        found.append(ShownComparison(one, sheets.differences(report, one), words, picture))
    return found


def _drawn(rows: Sequence[tuple[str, PairedDifference]], *, axis: str, alt: str) -> Markup | None:
    shown = [
        IntervalRow(name, one.value, one.low, one.high, one.outcome not in (Outcome.NOT_SHOWN, Outcome.UNKNOWN))
        for name, one in rows
        if one.value is not None
    ]
    return draw_intervals(shown, axis=axis, alt=alt)


def _filters(flips: Sequence[Flip]) -> list[Filter]:
    n = Counter(flip.direction for flip in flips)
    return [
        Filter(one.value, told.DIRECTION_WORDS[one], "", told.DIRECTION_STATUS[one].value, n[one])
        for one in _DIRECTIONS
    ]


def _settings(report: ExperimentReport) -> list[tuple[str, list[str]]]:
    """Settings and prompt hashes in which variants differ: a row each, a cell for each variant."""
    flat = [dict(_flat("", one.variant.fingerprint.model_dump(mode="json"))) for one in report.variants]
    names = sorted({name for one in flat for name in one})
    rows = [(name, [one.get(name, "–") for one in flat]) for name in names]
    return [(name, cells) for name, cells in rows if len({*cells}) > 1]


def _flat(prefix: str, value: Any) -> Iterator[tuple[str, str]]:
    if isinstance(value, dict):
        for name, inner in value.items():
            yield from _flat(f"{prefix}.{name}" if prefix else str(name), inner)
    elif isinstance(value, list):
        yield prefix, ", ".join(map(str, value))
    else:
        yield prefix, str(value)


def _downloads(report: ExperimentReport) -> Iterator[DownloadLink]:
    yield json_download("The whole experiment (JSON)", "experiment.json", to_json(report))
    yield csv_download("Figures of variants (CSV)", "variants.csv", tables.FIGURES, tables.figure_rows(report))
    if report.differences:
        rows = tables.difference_rows(report)
        yield csv_download("Differences (CSV)", "differences.csv", tables.DIFFERENCES, rows)
    if report.items:
        rows = tables.item_rows(report)
        yield csv_download("All items by variant (CSV)", "items.csv", tables.item_columns(report), rows)
    if report.flips:
        yield csv_download("Flipped claims (CSV)", "flips.csv", tables.FLIPS, tables.flip_rows(report))
