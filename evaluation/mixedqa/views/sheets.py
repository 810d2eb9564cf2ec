"""Correlations of a MixedQA run as sheets, beside the paper's."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

from factloop.evaluation.mixedqa.gains import Gain
from factloop.evaluation.mixedqa.scores import (
    MetricCorrelation,
    MixedQaResult,
    ReferenceCorrelation,
    TrustMetric,
    metric_name,
)
from factloop.evaluation.mixedqa.views.correlation_figures import coefficient, interval, method_name
from factloop.reports.figures import percent, plural
from factloop.reports.sheet.table import NOTHING, Cell, Column, ColumnOf, Sheet, name, page_only, sheet_of, value_cell

Found = MetricCorrelation | ReferenceCorrelation


def correlations(result: MixedQaResult, system: str | None) -> Sheet:
    """The correlations of one system, or of all: a line for each of `shown_correlations`."""
    given = [one.correlation for one in result.correlations]
    columns: tuple[ColumnOf[Found], ...] = (
        (name("Score"), lambda found: found.name),
        (Column(method_name(given), is_strong=True), _coefficient),
        (Column(f"{percent(given[0].level)} interval"), lambda found: interval(found.correlation)),
        (Column("Paper"), lambda found: coefficient(result.paper(found.name, system))),
        (Column("n"), lambda found: found.correlation.n),
        (Column("Unscored"), lambda found: found.correlation.n_left_out),
        (page_only("Mean score"), lambda found: coefficient(found.mean)),
    )
    return sheet_of(group_title(result, system), columns, shown_correlations(result, system))


def table_one(result: MixedQaResult) -> Sheet:
    """Table 1 of the paper: a line for each score, and for each system our coefficient beside the paper's."""
    systems = [labels.system for labels in result.systems]
    by_system = {system: {one.name: one for one in shown_correlations(result, system)} for system in systems}
    columns: list[ColumnOf[str]] = [(name("Score"), lambda score: score)]
    for system in systems:
        columns += [
            (Column(system, is_strong=True), partial(_of_score, by_system[system])),
            (Column("Paper", key=f"{system}, paper"), partial(_of_paper, result, system)),
        ]
    return sheet_of("Table 1: every system", columns, list(by_system[systems[0]]))


def _of_score(found: Mapping[str, Found], score: str) -> Cell:
    return _coefficient(found[score])


def _of_paper(result: MixedQaResult, system: str, score: str) -> str:
    return coefficient(result.paper(score, system))


def gains(result: MixedQaResult) -> Sheet:
    """What TrustOV has over each of its halves, beside the differences between the rows of the paper's table."""
    half = {"trust_bc": TrustMetric.TRUST_BC, "trust_fc": TrustMetric.TRUST_FC}
    columns: tuple[ColumnOf[Gain], ...] = (
        (name("System"), lambda one: one.system or "All systems"),
        (name("TrustOV less"), lambda one: metric_name(half[one.over])),
        (Column("Gain", is_strong=True), lambda one: value_cell(one.gain.value, coefficient, one.gain.why)),
        (Column("Interval"), lambda one: _gain_interval(one)),
        (Column("Paper"), lambda one: coefficient(_papers_gain(result, one, half[one.over]))),
        (Column("n"), lambda one: one.gain.n),
    )
    return sheet_of("What each half of TrustOV adds", columns, result.gains)


def _gain_interval(one: Gain) -> str:
    low, high = one.gain.low, one.gain.high
    return NOTHING if low is None or high is None else f"[{coefficient(low)}, {coefficient(high)}]"


def _papers_gain(result: MixedQaResult, one: Gain, half: TrustMetric) -> float | None:
    whole, part = (result.paper(metric_name(metric), one.system) for metric in (TrustMetric.TRUST_OV, half))
    return None if whole is None or part is None else whole - part


def _coefficient(found: Found) -> Cell:
    return value_cell(found.correlation.value, coefficient, found.correlation.why)


def group_title(result: MixedQaResult, system: str | None) -> str:
    """`llama-7b: 1,000 responses, 34% judged correct`."""
    groups = [labels for labels in result.systems if system in (labels.system, None)]
    n_responses, n_correct = sum(g.n_responses for g in groups), sum(g.n_correct for g in groups)
    correct = f", {n_correct / n_responses:.0%} judged correct" if n_responses else ""
    return f"{'All systems' if system is None else system}: {plural(n_responses, 'response')}{correct}"


def shown_correlations(result: MixedQaResult, system: str | None) -> list[Found]:
    """Those of one group: TrustScores that were asked for, the graded one where some server gave probabilities."""
    asked = {found.metric for found in result.correlations if found.n_scored or _is_asked_for(result, found.metric)}
    trust = [found for found in result.of(system) if found.metric in asked]
    return [*trust, *(found for found in result.reference if found.system == system)]


def _is_asked_for(result: MixedQaResult, metric: TrustMetric) -> bool:
    """Whether the run was to give this score, so that its absence tells something."""
    fingerprint = result.fingerprint
    if metric is TrustMetric.TRUST_BC_GRADED:
        return False
    return not result.reference or result.asks_subjects or fingerprint.corpus is not None
