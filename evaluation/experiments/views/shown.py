"""Renders an experiment as a self-contained page or for the terminal, and its demands as JUnit XML or Markdown."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from html import escape
from typing import Any, Literal
from urllib.parse import quote
from xml.etree.ElementTree import Element, SubElement, tostring

from markupsafe import Markup
from rich.console import Console
from rich.table import Table
from rich.text import Text

from factloop.core.errors import ConfigError
from factloop.core.files.json import to_json
from factloop.evaluation.comparing.compare import flat_settings
from factloop.evaluation.comparing.records import DemandResult
from factloop.evaluation.comparing.views import paired
from factloop.evaluation.comparing.views.shown import print_flips
from factloop.evaluation.comparing.words import name_of
from factloop.evaluation.experiments.optimise import OptimiseReport
from factloop.evaluation.experiments.records import Conclusion, ExperimentReport
from factloop.evaluation.experiments.views import sheets
from factloop.reports import figures
from factloop.reports.downloads import Cell, DownloadLink, csv_download, json_download
from factloop.reports.page import render_page
from factloop.reports.sheet.table import Sheet
from factloop.reports.sheet.terminal import print_sheet
from factloop.reports.terminal_parts import Row, notice_rows, one_line, print_section, rows_table
from factloop.reports.visible import visible

MOST_FLIPS = 1000
"""Maximum number of flipped claims on the page. The JSON and CSV files have all of them."""
MOST_ITEMS = 500
"""Maximum number of items on the page, disputed ones first. The JSON and CSV files have all of them."""
MOST_PICTURES = 12
"""Maximum number of comparisons that get a chart. Drawing a chart takes a tenth of a second."""
CONTEXT = 3


@dataclass(frozen=True)
class ShownComparison:
    conclusion: Conclusion
    sheet: Sheet
    words: tuple[str, ...]
    picture: Markup | None


DiffLine = tuple[Literal["same", "out", "in", "gap"], str]
"""`gap` stands for omitted lines, which do not differ."""


@dataclass(frozen=True)
class PromptDiff:
    """A variant's prompt compared with the baseline's. A missing prompt counts as empty."""

    variant: str
    prompt: str
    lines: tuple[DiffLine, ...]


def render_optimise_html(found: OptimiseReport) -> str:
    proposals = sheets.proposals(found)
    if found.held_out is not None:
        return render_experiment_html(found.held_out, proposals=proposals)
    room, title = "factloop.evaluation.comparing.views", f"{found.name}: no better prompt found"
    return render_page("optimise.html.j2", room=room, styles=("run.css",), title=title, proposals=proposals)


def render_experiment_html(report: ExperimentReport, *, proposals: Sheet | None = None) -> str:
    """The output is deterministic. Rendering takes time linear in the number of comparisons and flips."""
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
        proposals=proposals,
        history=sheets.history(report) if report.history else None,
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
    rows = [one for one in report.differences if one.is_headline]
    name = name_of(report.headline, report.headline_k)
    against = any(one.first != report.baseline for one in rows)
    return paired.draw_differences(
        [(f"{one.second} against {one.first}" if against else one.second, one) for one in rows],
        axis=f"points of {name}" + ("" if against else f" above {report.baseline}"),
        alt=f"{name}: {{}} comparisons with their intervals; filled if a difference is shown.",
    )


def _compared(report: ExperimentReport) -> Iterator[ShownComparison]:
    for number, one in enumerate(report.conclusions):
        differences = report.differences_of(one.first, one.second)
        picture = None
        if number < MOST_PICTURES:
            picture = paired.draw_differences(
                [(name_of(each.quantity, each.k), each) for each in differences],
                axis=f"← {one.first} is higher · points · {one.second} is higher →",
                alt=f"{one.second} minus {one.first}: {{}} quantities with their intervals; filled if shown.",
            )
        words = tuple(each.words for each in differences)
        yield ShownComparison(one, sheets.differences(report, one), words, picture)


def _settings(report: ExperimentReport) -> list[tuple[str, list[str]]]:
    flat = [flat_settings(one.variant.fingerprint.model_dump(mode="json")) for one in report.variants]
    names = sorted({name for one in flat for name in one})
    rows = [(name, [one.get(name) or "–" for one in flat]) for name in names]
    return [(name, cells) for name, cells in rows if len({*cells}) > 1]


def prompt_diffs(report: ExperimentReport) -> Iterator[PromptDiff]:
    baseline = report.variants[0].variant.prompt_texts
    for one in report.variants[1:]:
        texts = one.variant.prompt_texts
        for name in sorted({*baseline, *texts} if texts else ()):
            before, after = baseline.get(name, ""), texts.get(name, "")
            if before != after:
                yield PromptDiff(one.variant.name, name, tuple(_lines(before, after)))


def _lines(before: str, after: str) -> Iterator[DiffLine]:
    kinds: dict[str, Any] = {"@": "gap", "+": "in", "-": "out", " ": "same"}
    found = difflib.unified_diff(before.splitlines(), after.splitlines(), n=CONTEXT, lineterm="")
    for line in list(found)[2:]:  # skips the names of the two files
        if not line.startswith(("@@ -1 ", "@@ -1,", "@@ -0")):
            yield kinds[line[0]], "…" if line[0] == "@" else line[1:]


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
    for variant in report.variants:
        figures = [(one.quantity, one.k, one) for one in variant.figures]
        for quantity, k, one in (*figures, ("stability", None, variant.stability)):
            yield variant.variant.name, quantity, k, *(getattr(one, field) for field in _FIGURE)


def _item_rows(report: ExperimentReport) -> Iterator[tuple[Cell, ...]]:
    for one in report.items:
        cells = (getattr(cell, name) for cell in one.cells for name in _CELL)
        yield one.group, one.item_id, one.claim, one.gold, *cells


def print_experiment(report: ExperimentReport, console: Console) -> None:
    """Prints the experiment at the console's width. Names and text are printed literally, without markup."""
    if report.conclusions:
        print_section(console, one_line(sheets.title_of(report)), _conclusions(report))
    print_sheet(console, sheets.variants(report))
    for one in report.conclusions:
        print_sheet(console, sheets.differences(report, one, details=False))
    if report.conclusions:
        console.print(Text("The JSON report and the page contain all other quantities.\n", style="dim"))
    if report.flip_counts:
        print_flips(console, report.flip_counts, report.flips)
    print_section(console, "Experiment", rows_table(_rows(report)))


def _conclusions(report: ExperimentReport) -> Table:
    table = Table(box=None, padding=(0, 1, 0, 0), show_header=False)
    if report.look is not None:
        table.title = Text(visible(report.look.words))
        table.title_justify = "left"
    table.add_column(no_wrap=True)
    table.add_column(overflow="fold")
    for one in report.conclusions:
        shown = paired.OUTCOMES[one.outcome]
        table.add_row(Text(shown.sign, style=shown.style), Text(visible(one.words)))
    for words in report.pooled:
        table.add_row("", Text(visible(words)))
    return table


def _rows(report: ExperimentReport) -> list[Row]:
    rows: list[Row] = [(name, Text(one_line(said))) for name, said in sheets.basis_rows(report)]
    paid = report.paid
    rows.append(
        ("Paid, in all attempts", Text(f"{figures.calls(paid)}; {figures.tokens(paid)} tokens; {figures.cost(paid)}"))
    )
    return rows + notice_rows("Caution", report.warnings)


def demands_view(file: str) -> Callable[[ExperimentReport, str | None], str]:
    """Returns the function that renders the demands in the file's format. Raises ConfigError for unknown formats."""
    for ending, view in ((".xml", render_junit), (".md", render_markdown)):
        if file.endswith(ending):
            return view
    raise ConfigError(f"--out {file}: use a file name that ends in .xml (JUnit) or .md (Markdown)")


def _demand_name(one: DemandResult) -> str:
    return f"{one.second}: {one.demand or one.metric}"


def _legal(text: str) -> str:
    return visible(text).translate(dict.fromkeys((0xFFFE, 0xFFFF)))


def render_junit(report: ExperimentReport, page: str | None = None) -> str:
    """Returns a test case for each demand, with the claims that fail it. Missing verdicts make it an error."""
    name, missed = _legal(report.name), [bool(one.unscored) for one in report.demands if not one.is_met]
    counts = {"tests": len(report.demands), "failures": missed.count(False), "errors": missed.count(True)}
    suite = Element("testsuite", {"name": name, **{head: str(n) for head, n in counts.items()}})
    for one in report.demands:
        case = SubElement(suite, "testcase", classname=name, name=_legal(_demand_name(one)))
        if one.is_met:
            SubElement(case, "system-out").text = _legal(one.said)
        else:
            said = f"no verdict: {one.unscored}" if one.unscored else one.words
            failure = SubElement(case, "error" if one.unscored else "failure", message=_legal(said))
            failure.text = "\n".join([_legal(said) for said in (*one.claims, *([page] if page else []))])
    return tostring(suite, encoding="unicode", xml_declaration=True) + "\n"


def render_markdown(report: ExperimentReport, page: str | None = None) -> str:
    return "\n".join(_markdown_lines(report, page)) + "\n"


def _markdown_lines(report: ExperimentReport, page: str | None) -> Iterator[str]:
    yield f"### {_plain(sheets.title_of(report))}\n"
    yield from (f"- {_plain(one.words)}" for one in report.conclusions)
    for one in report.demands:
        yield f"\n{'✅' if one.is_met else '❌'} **{_plain(_demand_name(one))}** {_plain(one.said)}"
        yield from (f"- {_plain(claim)}" for claim in one.claims)
    if page:
        yield f"\n[Full report]({quote(page)})"


def _plain(text: str) -> str:
    marked = escape(" ".join(visible(text).split()), quote=False)
    return "".join(f"\\{one}" if one in "\\`*_[]|" else one for one in marked)
