"""Shows the correlations of a MixedQA run next to the paper's figures, on the terminal and as a page."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import groupby

from rich.console import Console
from rich.text import Text

from factloop.evaluation.mixedqa.scores import (
    SOURCE,
    SYSTEMS,
    Gain,
    MetricCorrelation,
    MixedQaResult,
    ReferenceCorrelation,
    TrustMetric,
    metric_name,
)
from factloop.evaluation.statistics.bootstrap import MOST_LOST
from factloop.evaluation.statistics.correlation import FEWEST_DRAWN, Correlation
from factloop.reports.figures import percent, plural
from factloop.reports.page import render_page
from factloop.reports.sheet.table import NOTHING, Cell, Column, ColumnOf, Sheet, name, page_only, sheet_of, value_cell
from factloop.reports.sheet.terminal import print_sheet
from factloop.reports.terminal_parts import Row, notice_rows, print_section, rows_table, usage_rows
from factloop.reports.visible import visible

Found = MetricCorrelation | ReferenceCorrelation


def coefficient(value: float | None) -> str:
    """Formats a coefficient with three decimals, or as a dash if it is None."""
    return NOTHING if value is None else f"{0.0 if abs(value) < 0.0005 else value:.3f}"


def outcome(found: Correlation) -> str:
    return coefficient(found.value) if found.undefined is None else f"undefined ({found.why})"


def interval(found: Correlation) -> str:
    """Formats the interval, as in `[0.253, 0.371]`, or says why it is missing. Returns a dash if there is no value."""
    if found.value is None:
        return NOTHING
    if found.low is None or found.high is None:
        return f"none: {_why_no_interval(found)}"
    return f"[{coefficient(found.low)}, {coefficient(found.high)}]"


def _why_no_interval(found: Correlation) -> str:
    if found.n_clusters < FEWEST_DRAWN:
        return plural(found.n_clusters, "question")
    if not found.n_resamples:
        return "no resamples"
    if found.n_resamples_undefined > MOST_LOST * found.n_resamples:
        return f"undefined in {percent(found.n_resamples_undefined / found.n_resamples)} of resamples"
    return "nothing varies"


def resampling(found: Iterable[Correlation]) -> str:
    """Explains how intervals are computed, when there is no interval, and how many resamples may be left out."""
    drawn = [one for one in found if one.n_resamples]
    if not drawn:
        return f"There are no intervals, because they need at least {FEWEST_DRAWN} questions."
    most = max((one.n_resamples_undefined for one in drawn if one.interval is not None), default=0)
    left_out = f"; up to {most:,} resamples without a coefficient are left out" if most else ""
    level, n = percent(drawn[0].level), drawn[0].n_resamples
    return (
        f"{level} intervals from {n:,} resamples of whole questions{left_out}. There is no interval with fewer than "
        f"{FEWEST_DRAWN} questions, or if more than a twentieth of the resamples have no coefficient."
    )


def correlations_sheet(result: MixedQaResult, system: str | None) -> Sheet:
    given = result.correlations[0].correlation
    columns: tuple[ColumnOf[Found], ...] = (
        (name("Score"), lambda found: found.name),
        (Column(given.method.value.capitalize(), is_strong=True), _coefficient),
        (Column(f"{percent(given.level)} interval"), lambda found: interval(found.correlation)),
        (Column("Paper"), lambda found: coefficient(result.paper(found.name, system))),
        (Column("n"), lambda found: found.correlation.n),
        (Column("Unscored"), lambda found: found.correlation.n_left_out),
        (page_only("Mean score"), lambda found: coefficient(found.mean)),
    )
    groups = [labels for labels in result.systems if system in (labels.system, None)]
    n_responses, n_correct = sum(g.n_responses for g in groups), sum(g.n_correct for g in groups)
    correct = f", {n_correct / n_responses:.0%} judged correct" if n_responses else ""
    title = f"{'All systems' if system is None else system}: {plural(n_responses, 'response')}{correct}"
    return sheet_of(title, columns, shown_correlations(result, system))


def _coefficient(found: Found) -> Cell:
    return value_cell(found.correlation.value, coefficient, found.correlation.why)


def shown_correlations(result: MixedQaResult, system: str | None) -> list[Found]:
    """Leaves out scores that were not requested. Graded TrustBC is shown only if it was computed."""
    asked_for = not result.reference or result.asks_subjects or result.fingerprint.corpus is not None
    shown = {
        found.metric
        for found in result.correlations
        if found.n_scored or (asked_for and found.metric is not TrustMetric.TRUST_BC_GRADED)
    }
    trust = [found for found in result.of(system) if found.metric in shown]
    return [*trust, *(found for found in result.reference if found.system == system)]


def gains_sheet(result: MixedQaResult) -> Sheet:
    """Tabulates TrustOV's gain over each of its two components, next to the gain in the paper."""

    def paper(one: Gain) -> str:
        whole, part = (result.paper(metric_name(metric), one.system) for metric in (TrustMetric.TRUST_OV, one.half))
        return coefficient(None if whole is None or part is None else whole - part)

    def ends(one: Gain) -> str:
        low, high = one.gain.low, one.gain.high
        return NOTHING if low is None or high is None else f"[{coefficient(low)}, {coefficient(high)}]"

    columns: tuple[ColumnOf[Gain], ...] = (
        (name("System"), lambda one: one.system or "All systems"),
        (name("TrustOV less"), lambda one: metric_name(one.half)),
        (Column("Gain", is_strong=True), lambda one: value_cell(one.gain.value, coefficient, one.gain.why)),
        (Column("Interval"), ends),
        (Column("Paper"), paper),
        (Column("n"), lambda one: one.gain.n),
    )
    return sheet_of("What each component of TrustOV adds", columns, result.gains)


def _groups(result: MixedQaResult) -> tuple[str | None, ...]:
    return (*(labels.system for labels in result.systems), None)


def subject_note(result: MixedQaResult) -> str:
    """Says which model was asked about which responses, and how this departs from the paper."""
    if result.subjects:
        asked = "; ".join(f"{one.model} about those of {one.system}" for one in result.subjects)
        return f"Each system was asked about its own responses, as in the paper: {asked}."
    subject = result.fingerprint.subject_model
    if subject is None:
        return "No subject model was asked."
    return f"{subject} was asked about the responses of every system; in the paper, each is asked about its own."


def print_mixedqa(result: MixedQaResult, console: Console) -> None:
    """Prints a table for each system and one for all systems. Names are printed literally."""
    for system in _groups(result):
        print_sheet(console, correlations_sheet(result, system))
    if result.gains:
        print_sheet(console, gains_sheet(result))
    found = (one.correlation for one in (*result.correlations, *result.reference))
    rows: list[Row] = [("Data", Text(visible(result.data)))] if result.data else []
    rows += [
        ("Questions", Text(f"{result.n_questions:,}")),
        ("Subject", Text(visible(subject_note(result)))),
        ("Judge", Text(visible(result.fingerprint.judge or "none: no corpus, so no TrustFC"))),
        ("Intervals", Text(resampling(found))),
        ("Paper", Text(f"{SOURCE}, 1,000 responses per system.")),
    ]
    rows += usage_rows(result.usage) + notice_rows("Warning", result.warnings)
    print_section(console, "Result", rows_table(rows))


STEP = 0.25
"""Distance between two ticks of the axis."""


@dataclass(frozen=True)
class Axis:
    """The axis of a forest plot, from `low` to `high`, which are multiples of `STEP`."""

    low: float
    high: float

    @classmethod
    def around(cls, found: Iterable[Correlation], published: Iterable[float | None]) -> Axis:
        drawn = [value for one in found for value in (one.value, one.low, one.high)] + list(published)
        values = [0.0, STEP, *(value for value in drawn if value is not None)]
        return cls(math.floor(min(values) / STEP) * STEP, math.ceil(max(values) / STEP) * STEP)

    @property
    def marks(self) -> tuple[float, ...]:
        return tuple(self.low + STEP * place for place in range(round((self.high - self.low) / STEP) + 1))

    def at(self, value: float) -> str:
        """Returns a coefficient's position as a percentage of the axis, such as `43.25%`."""
        return f"{100 * (value - self.low) / (self.high - self.low):.2f}%"


def render_mixedqa_html(result: MixedQaResult) -> str:
    """Renders a page with forest plots, the paper's table, and the run's cost. The output is deterministic."""
    everything: tuple[Found, ...] = (*result.correlations, *result.reference)
    papers = [result.paper(found.name, found.system) for found in everything]
    return render_page(
        "mixedqa.html.j2",
        room="factloop.evaluation.mixedqa",
        styles=("run.css", "mixedqa.css"),
        result=result,
        gains=gains_sheet(result) if result.gains else None,
        groups=[(correlations_sheet(result, one), shown_correlations(result, one)) for one in _groups(result)],
        axis=Axis.around((found.correlation for found in everything), papers),
        published=[(kind, list(rows)) for kind, rows in groupby(result.published, key=lambda row: row.kind)],
        method=result.correlations[0].correlation.method.value.capitalize(),
        resampling=resampling(found.correlation for found in everything),
        subject_note=subject_note(result),
        correlations={"coefficient": coefficient, "interval": interval, "outcome": outcome},
        source=SOURCE,
        systems=SYSTEMS,
    )
