"""Shows a run's scores on a self-contained HTML page and on the terminal."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from markupsafe import Markup
from rich.console import Console
from rich.padding import Padding
from rich.text import Text

from factloop.core.factuality import precision
from factloop.core.files.json import to_json
from factloop.core.records import Counts
from factloop.evaluation.audit.views.pictures import Mark, short
from factloop.evaluation.runs.label_agreement import LabelAgreement
from factloop.evaluation.runs.longform import F1, CurvePoint, LongFormScores, figures_of
from factloop.evaluation.runs.records import ResponseLine, RunSummary
from factloop.evaluation.runs.views import calibration, sheets
from factloop.evaluation.runs.views.calibration import print_calibration
from factloop.reports.downloads import Cell, DownloadLink, csv_download, json_download
from factloop.reports.figures import citations, percent, plural, savings_words
from factloop.reports.page import render_page
from factloop.reports.pictures import INK, QUIET, draw
from factloop.reports.sheet.table import Sheet, sheet_download
from factloop.reports.sheet.terminal import print_sheet, stacked
from factloop.reports.terminal_parts import Row, notice_rows, one_line, print_section, rows_table, usage_rows
from factloop.reports.visible import visible

if TYPE_CHECKING:
    from matplotlib.axes import Axes


MOST_ROWS = 5000
"""Maximum number of responses listed on the page. The downloadable table contains all of them."""


@dataclass(frozen=True)
class ResponseRow:
    line: ResponseLine
    group: str
    outcome: str
    precision: float | None
    f1: float | None


def render_run_html(summary: RunSummary) -> str:
    """Renders the page in linear time. The output is deterministic."""
    scores = summary.scores
    rows = sorted((_row(line, summary) for line in summary.responses), key=_worst_first)
    leading = _leading(summary)
    return render_page(
        "run.html.j2",
        room="factloop.evaluation.runs.views",
        styles=("list.css", "pictures.css", "run.css"),
        scripts=("list.js",),
        summary=summary,
        scores=scores,
        saved=list(savings_words(summary.cascade, summary.fingerprint.cascade)) if summary.cascade is not None else [],
        counts=Counts.sum_of(one.counts for one in scores.systems),
        picture=draw_curve(summary.curve, [choice.k for choice in scores.ks], leading[:MOST_SYSTEMS]),
        n_not_drawn=max(0, len(leading) - MOST_SYSTEMS),
        curve=_curve(summary),
        tiles=list(_tiles(summary)) if len(scores.systems) == 1 else [],
        system_choices=[(one.system, one.system) for one in scores.systems],
        rows=rows[:MOST_ROWS],
        downloads=list(_downloads(summary, rows)),
        said=sheets,
        corrections=calibration,
    )


def _tiles(summary: RunSummary) -> Iterator[tuple[str, str, str]]:
    found = {} if summary.calibration is None else calibration.tiles(summary.calibration.systems[0])
    yield from ((f"{name}, corrected", *tile) for name, tile in found.items())
    for measure, k, mean in figures_of(summary.scores.systems[0]):
        name, basis = measure.heading(k), f"{sheets.interval(mean.low, mean.high)}, {sheets.mean_basis(mean)}"
        if measure.leads and name not in found:
            before = "" if summary.calibration is None else ", before correction"
            yield f"{name}{before}", sheets.share(mean.value), basis
    yield from ((sheets.REACH, said, "") for said in sheets.reachable(summary).values())


def _row(line: ResponseLine, summary: RunSummary) -> ResponseRow:
    scores = summary.scores
    group, outcome = _outcome(line)
    return ResponseRow(
        line=line.model_copy(update={"counts": line.as_counted}),
        group=group,
        outcome=outcome,
        precision=precision(line.as_counted),
        f1=F1.value(line, scores.ks[0].k, scores.abstention) if scores.ks else None,
    )


def _outcome(line: ResponseLine) -> tuple[str, str]:
    if line.abstained:
        return "abstained", "no claims (abstained)"
    if line.unscored:
        return "unscored", "no claim is supported or not"
    if line.as_counted.not_supported:
        return "unsupported", "some not supported"
    return "supported", "none unsupported"


def _worst_first(row: ResponseRow) -> tuple[bool, float, int, str, str]:
    share, line = row.precision, row.line
    return share is None, share or 0.0, -line.counts.not_supported, line.system, line.prompt_id


def _leading(summary: RunSummary) -> list[str]:
    names = [one.system for one in summary.scores.systems]
    ranked = summary.scores.rankings[0].systems if summary.scores.rankings else ()
    return [*ranked, *(name for name in names if name not in ranked)]


def _curve(summary: RunSummary) -> Sheet:
    return sheets.curve(summary.curve, [one.system for one in summary.scores.systems])


def _downloads(summary: RunSummary, rows: Sequence[ResponseRow]) -> Iterator[DownloadLink]:
    yield json_download("The whole summary (JSON)", "summary.json", to_json(summary))
    yield csv_download("Scores (CSV)", "scores.csv", _SCORES, _score_rows(summary))
    yield sheet_download("F1@K against K (CSV)", "curve.csv", _curve(summary))
    yield csv_download("Responses (CSV)", "responses.csv", _RESPONSES, map(_response_cells, rows))


_SCORES = ("system", "metric", "k", "value", "low", "high", "n_responses", "n_prompts")
_RESPONSES = ("id", "system", "prompt_id", "supported", "not_supported", "irrelevant", "unscored", "precision", "f1")


def _score_rows(summary: RunSummary) -> Iterator[tuple[Cell, ...]]:
    for one in summary.scores.systems:
        places = {at.k: place for place, at in enumerate(one.at_k, start=1)}
        for measure, k, mean in sorted(figures_of(one), key=lambda figure: places.get(figure[1] or 0, 0)):
            yield one.system, measure.quantity, k, mean.value, mean.low, mean.high, mean.n, mean.n_prompts


def _response_cells(row: ResponseRow) -> tuple[Cell, ...]:
    line, counts = row.line, row.line.counts
    found = (counts.supported, counts.not_supported, counts.irrelevant, counts.unscored)
    return line.id, line.system, line.prompt_id, *found, row.precision, row.f1


MOST_SYSTEMS = 16
"""With more systems, their lines could not be told apart."""
_LOGARITHMIC_FROM = 100
_MARKED = 8
"""Approximate number of markers on each line."""


def draw_curve(curve: Sequence[CurvePoint], ks: Sequence[int], systems: Sequence[str]) -> Markup | None:
    """Draws a line per system and marks the run's Ks. Returns None if no system has a value."""
    lines = {name: [(one.k, one.f1.get(name)) for one in curve] for name in systems}
    drawn = {name: line for name, line in lines.items() if any(value is not None for _, value in line)}
    if not drawn:
        return None

    def paint(axes: Axes) -> None:
        highest = max(one.k for one in curve)
        for k in ks:
            if k <= highest:
                axes.axvline(k, color=QUIET, linewidth=1, linestyle="dotted")
        for number, (name, line) in enumerate(drawn.items()):
            mark, points = Mark(number, name), [(k, 100 * value) for k, value in line if value is not None]
            axes.plot(
                [k for k, _ in points],
                [value for _, value in points],
                color=mark.colour,
                marker=mark.marker,
                markevery=max(1, len(points) // _MARKED),
                markersize=5,
                linewidth=1.6,
                label=short(name),
            )
        if highest >= _LOGARITHMIC_FROM:
            axes.set_xscale("log")
            axes.xaxis.set_major_formatter(lambda value, _: f"{value:g}")
            axes.xaxis.set_minor_formatter("")
        else:
            axes.locator_params(axis="x", integer=True)
        axes.set_ylim(-2, 102)
        axes.set_xlabel("K, the desired number of supported claims")
        axes.set_ylabel("F1@K, %")
        if len(drawn) > 1:
            axes.legend(loc="center left", bbox_to_anchor=(1.0, 0.5), labelcolor=INK, handlelength=2.5)

    alt = f"Mean F1@K of {plural(len(drawn), 'system')} against K from 1 to {curve[-1].k:,}."
    return draw(paint, alt=alt, width=8.0, height=max(3.4, 0.9 + 0.2 * len(drawn)))


def print_run(summary: RunSummary, console: Console) -> None:
    """Prints the run at the console's width. Names are printed literally, without markup or escape sequences."""
    if not summary.scores.systems:
        print_section(console, "Scores", Text("The run contains no responses."))
    _print_scores(console, "Scores", summary.scores, sheets.reachable(summary))
    if said := sheets.how_far(summary):
        console.print(Padding(Text(said), (0, 1, 1, 1)))
    if summary.every_claim is not None:
        _print_scores(console, "Scores with every claim counted", summary.every_claim)
    if summary.labelled is not None:
        _print_scores(console, "Scores from human labels", summary.labelled)
    if summary.agreement is not None:
        print_agreement(summary.agreement, console)
    if summary.calibration is not None:
        print_calibration(summary.calibration, console)
    print_sheet(console, sheets.claims(summary.scores))
    print_section(console, "Run", rows_table(_rows(summary)))


def _print_scores(console: Console, title: str, scores: LongFormScores, *reach: Mapping[str, str]) -> None:
    whole = sheets.scores_of(scores, *reach)
    shown = whole.turned(title, measure="Measure", value="Mean", interval=sheets.interval_head(scores.level))
    print_sheet(console, shown, lambda _: stacked(whole), whole=replace(whole, title=title))


def print_agreement(found: LabelAgreement, console: Console) -> None:
    figures = sheets.agreement(found)
    shown = figures.turned(figures.title, measure="Measure", value="", interval=sheets.interval_head(found.level))
    print_sheet(console, shown, lambda _: stacked(figures), whole=figures)
    print_sheet(console, sheets.verdicts(found))


def _rows(summary: RunSummary) -> list[Row]:
    scores = summary.scores
    n_prompts = len({line.prompt_id for line in summary.responses})
    basis = f"{plural(len(summary.responses), 'response')} to {plural(n_prompts, 'prompt')}"
    abstained = plural(sum(system.n_abstained for system in scores.systems), "such response")
    n_repeated = sum(system.counts.repeated for system in scores.systems)
    left_out = f" ({plural(n_repeated, 'claim')} left out)" if n_repeated else ""
    rows = [
        ("Data", Text(f"{visible(summary.data)}: {basis}")),
        ("Abstentions", Text(f"{sheets.POLICY_WORDS[scores.abstention]}; {abstained}")),
        ("Repeats", Text(f"{sheets.REPEATS_WORDS[summary.fingerprint.repeats]}{left_out}")),
        ("F1@K", Text(f"{'; '.join(map(sheets.k_words, scores.ks))}. {sheets.ABOUT_K}")),
        ("Judge", Text(visible(summary.fingerprint.judge))),
    ]
    if scores.n_resamples:
        said = f"{percent(scores.level)}: Wilson's for shares, {scores.n_resamples:,} resamples of prompts for means"
        few = sheets.few_prompts_of(scores)
        if summary.agreement is not None:
            few = few or sheets.few_prompts_of_labels(summary.agreement)
        rows.append(("Intervals", Text(f"{said}. {few}" if few else said)))
    if summary.cascade is not None:
        saved = savings_words(summary.cascade, summary.fingerprint.cascade)
        rows += [("Cascade", Text(one_line(sentence))) for sentence in saved]
    if summary.citations is not None:
        rows.append(("Citations", Text(citations(summary.citations))))
    return rows + usage_rows(summary.usage) + notice_rows("Warning", summary.warnings)
