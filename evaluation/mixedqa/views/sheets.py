"""Correlations of a MixedQA run as sheets, beside the paper's."""

from __future__ import annotations

from factloop.evaluation.mixedqa.scores import MetricCorrelation, MixedQaResult, ReferenceCorrelation, TrustMetric
from factloop.evaluation.mixedqa.views.correlation_figures import coefficient, interval, method_name
from factloop.reports.figures import percent, plural
from factloop.reports.sheet.table import Cell, Column, ColumnOf, Sheet, name, page_only, sheet_of, value_cell

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
    return not result.reference or fingerprint.subject_model is not None or fingerprint.corpus is not None
