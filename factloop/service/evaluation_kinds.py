"""The reports of the evaluation package that the service shows."""

from __future__ import annotations

from factloop.evaluation.audit.report import AuditReport
from factloop.evaluation.audit.views.html import render_audit_html
from factloop.evaluation.comparing.records import Comparison
from factloop.evaluation.comparing.views.html import render_comparison_html
from factloop.evaluation.experiments.report import ExperimentReport
from factloop.evaluation.experiments.views.html import render_experiment_html
from factloop.evaluation.runs.records import RunSummary
from factloop.evaluation.runs.views.html import render_run_html
from factloop.reports.figures import plural
from factloop.service.headlines import of_audit, of_comparison, of_experiment, of_run
from factloop.service.result_kind import ResultKind


def _audit_title(report: AuditReport) -> str:
    data = report.data
    return f"{plural(len(data.evaluators), 'evaluator')} on {plural(data.n_claims, 'labelled claim')}"


def _run_title(run: RunSummary) -> str:
    return f"{plural(len(run.responses), 'response')} of {plural(len(run.scores.systems), 'system')}"


EVALUATION_KINDS = (
    ResultKind(
        "audit",
        AuditReport,
        render_audit_html,
        _audit_title,
        lambda report: f"of {report.data.name}",
        of_audit,
        is_job=True,
    ),
    ResultKind(
        "run",
        RunSummary,
        render_run_html,
        _run_title,
        lambda run: f"over {run.data}, judged by {run.fingerprint.judge}",
        of_run,
    ),
    ResultKind(
        "experiment",
        ExperimentReport,
        render_experiment_html,
        lambda one: one.name,
        lambda one: f"{plural(len(one.variants), 'variant')} over {plural(one.n_items, 'item')}",
        of_experiment,
    ),
    ResultKind(
        "comparison",
        Comparison,
        render_comparison_html,
        lambda one: f"{one.first.run} and {one.second.run}",
        lambda one: " ".join(one.conclusions[:1]),
        of_comparison,
    ),
)
