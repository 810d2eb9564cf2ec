"""An experiment as one self-contained HTML page: verdicts first, then differences, flips, settings and prompts."""

from __future__ import annotations

import difflib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from markupsafe import Markup

from factloop.core.files.json import to_json
from factloop.evaluation.comparing.compare import flat_settings
from factloop.evaluation.comparing.views import paired
from factloop.evaluation.comparing.words import name_of
from factloop.evaluation.experiments.records import Conclusion, ExperimentReport
from factloop.evaluation.experiments.views import sheets
from factloop.reports.downloads import Cell, DownloadLink, csv_download, json_download
from factloop.reports.page import render_page
from factloop.reports.sheet.table import Sheet

MOST_FLIPS = 1000
"""Claims with both sides' grounds on the page; the JSON and the CSV have all."""
MOST_ITEMS = 500
"""Items against all variants on the page, those on which variants differ first; the JSON and the CSV have all."""
MOST_PICTURES = 12
"""Comparisons whose differences are drawn one by one; drawing takes a tenth of a second each."""
CONTEXT = 3
"""Lines kept around each change of a prompt."""


@dataclass(frozen=True)
class ShownComparison:
    """One comparison on the page."""

    conclusion: Conclusion
    sheet: Sheet
    words: tuple[str, ...]
    picture: Markup | None


Kind = Literal["same", "out", "in", "gap"]


@dataclass(frozen=True)
class DiffLine:
    kind: Kind
    """`gap` stands for lines left out, which are the same."""
    text: str


@dataclass(frozen=True)
class PromptDiff:
    """One prompt of one variant against the baseline's; a side without it is empty."""

    variant: str
    prompt: str
    lines: tuple[DiffLine, ...]


def render_experiment_html(report: ExperimentReport) -> str:
    """The page. Equal reports give equal pages. Takes time linear in the number of comparisons and flips."""
    flips = report.flips[:MOST_FLIPS]
    return render_page(
        "experiment.html.j2",
        room="factloop.evaluation.comparing.views",
        styles=("list.css", "pictures.css", "run.css", "experiment.css"),
        scripts=("list.js",),
        report=report,
        title=sheets.title_of(report),
        basis=list(sheets.basis_rows(report)),
        variants=sheets.variants(report),
        items=sheets.items(report, MOST_ITEMS),
        n_items_shown=min(MOST_ITEMS, len(report.items)),
        glance=_glance(report),
        compared=_compared(report),
        flips=flips,
        filters=paired.flip_filters(flips),
        settings=_settings(report),
        diffs=list(prompt_diffs(report)),
        downloads=list(_downloads(report)),
        told=paired,
        noun=report.kind.removesuffix("s"),
    )


def _glance(report: ExperimentReport) -> Markup | None:
    """The headline of every comparison in one picture."""
    rows = [one for one in report.differences if one.is_headline]
    name = name_of(report.headline, report.headline_k)
    against = any(one.first != report.baseline for one in rows)
    return paired.draw_differences(
        [(f"{one.second} against {one.first}" if against else one.second, one) for one in rows],
        axis=f"points of {name}" + ("" if against else f" above {report.baseline}"),
        alt=f"{name}: {{}} comparisons with their intervals; filled where a difference is shown.",
    )


def _compared(report: ExperimentReport) -> Iterator[ShownComparison]:
    for number, one in enumerate(report.conclusions):
        differences = report.differences_of(one.first, one.second)
        picture = None
        if number < MOST_PICTURES:
            picture = paired.draw_differences(
                [(name_of(each.quantity, each.k), each) for each in differences],
                axis=f"← {one.first} is higher · points · {one.second} is higher →",
                alt=f"{one.second} minus {one.first}: {{}} quantities with their intervals; filled where shown.",
            )
        words = tuple(each.words for each in differences)
        yield ShownComparison(one, sheets.differences(report, one), words, picture)


def _settings(report: ExperimentReport) -> list[tuple[str, list[str]]]:
    """Settings and prompt hashes in which variants differ: a row each, a cell for each variant."""
    flat = [flat_settings(one.variant.fingerprint.model_dump(mode="json")) for one in report.variants]
    names = sorted({name for one in flat for name in one})
    rows = [(name, [one.get(name) or "–" for one in flat]) for name in names]
    return [(name, cells) for name, cells in rows if len({*cells}) > 1]


def prompt_diffs(report: ExperimentReport) -> Iterator[PromptDiff]:
    """The differences of every prompt whose texts are given and differ, by variant and name."""
    baseline = report.variants[0].variant.prompt_texts
    for one in report.variants[1:]:
        texts = one.variant.prompt_texts
        for name in sorted({*baseline, *texts} if texts else ()):
            before, after = baseline.get(name, ""), texts.get(name, "")
            if before != after:
                yield PromptDiff(one.variant.name, name, tuple(_lines(before, after)))


def _lines(before: str, after: str) -> Iterator[DiffLine]:
    kinds: dict[str, Kind] = {"@": "gap", "+": "in", "-": "out", " ": "same"}
    found = difflib.unified_diff(before.splitlines(), after.splitlines(), n=CONTEXT, lineterm="")
    for line in list(found)[2:]:  # after the names of two files
        if not line.startswith(("@@ -1 ", "@@ -1,", "@@ -0")):
            yield DiffLine(kinds[line[0]], "…" if line[0] == "@" else line[1:])


_CELL = ("verdict", "unscored_reason", "value", "n_scored", "n_repeats")
_FIGURE = ("value", "low", "high", "n", "n_groups", "n_left_out", "undefined")


def _downloads(report: ExperimentReport) -> Iterator[DownloadLink]:
    yield json_download("The whole experiment (JSON)", "experiment.json", to_json(report))
    figures = ("variant", "quantity", "k", *_FIGURE)
    yield csv_download("Figures of variants (CSV)", "variants.csv", figures, _figure_rows(report))
    if report.differences:
        yield paired.differences_download(report.differences)
    if report.items:
        of_variants = (f"{one.variant.name}_{name}" for one in report.variants for name in _CELL)
        head = ("group", "item_id", "claim", "gold", *of_variants)
        yield csv_download("All items by variant (CSV)", "items.csv", head, _item_rows(report))
    if report.flips:
        yield paired.flips_download(report.flips)


def _figure_rows(report: ExperimentReport) -> Iterator[tuple[Cell, ...]]:
    """Stability stands among a variant's figures as `stability`."""
    for variant in report.variants:
        figures = [(one.quantity, one.k, one) for one in variant.figures]
        for quantity, k, one in (*figures, ("stability", None, variant.stability)):
            yield variant.variant.name, quantity, k, *(getattr(one, field) for field in _FIGURE)


def _item_rows(report: ExperimentReport) -> Iterator[tuple[Cell, ...]]:
    for one in report.items:
        cells = (getattr(cell, name) for cell in one.cells for name in _CELL)
        yield one.group, one.item_id, one.claim, one.gold, *cells
