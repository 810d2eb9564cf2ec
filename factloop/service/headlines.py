"""The leading figures of results of the evaluation package, as a list of results shows them."""

from __future__ import annotations

from collections.abc import Iterator

from factloop.core.figure import Measurement
from factloop.evaluation.audit.report import AuditReport
from factloop.evaluation.comparing.records import Comparison
from factloop.evaluation.comparing.words import name_of, point_interval, points
from factloop.evaluation.experiments.report import ExperimentReport
from factloop.evaluation.experiments.views.figures import heading
from factloop.evaluation.experiments.words import amount, basis, item_of
from factloop.evaluation.experiments.words import interval as interval_of
from factloop.evaluation.runs.measures import figures_of
from factloop.evaluation.runs.records import RunSummary
from factloop.evaluation.runs.views.words import mean_basis
from factloop.reports.figures import plural
from factloop.service.shapes import HeadlineFigure

MOST = 3
"""Evaluators, systems or variants whose figures lead; the page of the result has all."""


def of_audit(report: AuditReport) -> Iterator[HeadlineFigure]:
    """Balanced accuracy of the best evaluators over all claims."""
    found = [one for one in report.at[0].rates.rates if (one.group.kind, one.level) == ("all", "claim")]
    for one in sorted(found, key=lambda rates: -(rates.balanced_accuracy.value or 0.0))[:MOST]:
        figure = one.balanced_accuracy
        yield _measured(one.evaluator, figure, f"balanced accuracy on {plural(figure.n, 'claim')}")


def of_run(summary: RunSummary) -> Iterator[HeadlineFigure]:
    """Precision and F1@K of the best system at the first K."""
    systems = {one.system: one for one in summary.scores.systems}
    if not systems:
        return
    ranked = [name for ranking in summary.scores.rankings[:1] for name in ranking.systems]
    best = [*ranked, *systems][0]
    whose = best if len(systems) == 1 else f"{best}, the best of {plural(len(systems), 'system')}"
    for measure, k, mean in figures_of(systems[best]):
        if measure.leads:
            yield _measured(measure.heading(k), mean, f"{whose}, {mean_basis(mean)}")


def of_experiment(report: ExperimentReport) -> Iterator[HeadlineFigure]:
    """The headline quantity of the first variants."""
    quantity = report.headline
    noun = item_of(quantity, report.kind)
    for one in report.variants[:MOST]:
        found = one.find(quantity, report.headline_k)
        if found is None:
            continue
        if found.value is None:
            grounds = f"undefined: {found.why}"
        else:
            spread = "" if found.interval is None else f"{interval_of(found, quantity)}, "
            grounds = f"{spread}{basis(found, noun)}"
        named = f"{one.variant.name}: {heading(quantity, report.headline_k, report)}"
        yield HeadlineFigure(name=named, value=amount(found.value, quantity), basis=grounds)


def of_comparison(comparison: Comparison) -> Iterator[HeadlineFigure]:
    """The differences of the compared measures, in points."""
    for one in comparison.differences:
        if one.difference is None:
            yield HeadlineFigure(name=name_of(one), value="–", basis="no pair has two values")
            continue
        spread = "" if one.low is None or one.high is None else f" ({point_interval(one.low, one.high)})"
        pairs = plural(one.n_pairs, "pair")
        yield HeadlineFigure(name=name_of(one), value=points(one.difference), basis=f"points{spread} over {pairs}")


def _measured(name: str, figure: Measurement, grounds: str) -> HeadlineFigure:
    if figure.value is None:
        return HeadlineFigure(name=name, value="–", basis=f"undefined: {figure.why}")
    spread = "" if figure.interval is None else "{:.2f} to {:.2f}, ".format(*figure.interval)
    return HeadlineFigure(name=name, value=f"{figure.value:.2f}", basis=f"{spread}{grounds}")
