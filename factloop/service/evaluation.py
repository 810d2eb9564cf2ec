"""Runs audits and shows evaluation reports. Imported only if the evaluation package is installed."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path
from tempfile import TemporaryDirectory

from factloop.core.errors import ConfigError, DataError, ToolError
from factloop.core.figure import Measurement
from factloop.core.files.private import write_private
from factloop.evaluation.audit.report import AuditReport
from factloop.evaluation.audit.views.shown import render_audit_html
from factloop.evaluation.comparing.compare import ComparedRun, compare
from factloop.evaluation.comparing.records import Comparison
from factloop.evaluation.comparing.views.shown import render_comparison_html
from factloop.evaluation.experiments.assess import assess
from factloop.evaluation.experiments.finished import is_experiment, side_by_side
from factloop.evaluation.experiments.records import ExperimentReport
from factloop.evaluation.experiments.views.shown import render_experiment_html
from factloop.evaluation.runs.longform import figures_of
from factloop.evaluation.runs.reading import read_run
from factloop.evaluation.runs.records import RunSummary
from factloop.evaluation.runs.views.sheets import mean_basis
from factloop.evaluation.runs.views.shown import render_run_html
from factloop.reports.figures import plural
from factloop.service.errors import invalid
from factloop.service.reading import output_of
from factloop.service.shapes import MOST_ROWS, AuditSummary, HeadlineFigure, ResultKind

MOST_BYTES = 500_000_000  # memory of an audit, including its report; the process may use four times as much
LONGEST_S = 600  # maximum time of an audit, in seconds
MOST_FIGURES = 3  # number of evaluators or variants whose figures are shown in a list; the page shows all of them


async def look_at_rows(body: bytes) -> bytes:
    """The output of `audit_rows`, which parses the body of a request in its own process."""
    with TemporaryDirectory(prefix="factloop-", ignore_cleanup_errors=True) as folder:
        file = Path(folder, "rows.json")
        await asyncio.to_thread(write_private, file, body)
        return await _output("factloop.service.audit_rows", str(file), str(MOST_ROWS), str(MOST_BYTES))


def n_rows_in(output: bytes) -> int:
    """Raises RequestRefusal if the audit would reject a row."""
    found = json.loads(output)
    if "why" in found:
        raise invalid(found["why"], "rows")
    return int(found["n_rows"])


async def audit(request: bytes, folder: Path) -> tuple[AuditReport, str, AuditSummary]:
    """Runs the audit in a process that can be stopped. Returns the report, its JSON and its summary."""
    file = folder / "rows.json"
    await asyncio.to_thread(write_private, file, request)
    result = (await _output("factloop", "research", "audit", str(file), "--json", "-")).decode()
    report = await asyncio.to_thread(AuditReport.model_validate_json, result)
    data = report.data
    summary = AuditSummary(n_claims=data.n_claims, n_responses=data.n_responses, evaluators=data.evaluators)
    return report, result, summary


async def _output(*arguments: str) -> bytes:
    try:
        output = await output_of(LONGEST_S, *arguments)
    except TimeoutError:
        raise DataError(f"the audit took longer than {LONGEST_S:,} s; audit fewer rows at a time") from None
    except MemoryError as error:
        raise DataError(f"the audit failed: {error}; audit fewer rows") from None
    if output is None:
        raise ToolError("the audit failed", tool="audit")
    return output


@lru_cache(maxsize=4)
def comparison_page(folders: tuple[Path, Path], dates: tuple[object, object]) -> str:  # noqa: ARG001 - for the cache
    """Compares two runs or two experiments. Raises RequestRefusal if they cannot be compared."""
    try:
        if all(map(is_experiment, folders)):
            return render_experiment_html(assess(side_by_side([*map(str, folders)])))
        first, second = (ComparedRun(one.name, run.summary, run) for one in folders for run in [read_run(one)])
        return render_comparison_html(compare(first, second))
    except (ConfigError, DataError) as error:
        raise invalid(str(error).replace(f"{folders[0].parent}/", "")) from error


def _of_audit(report: AuditReport) -> Iterator[HeadlineFigure]:
    found = [one for one in report.at[0].rates if (one.group.kind, one.level) == ("all", "claim")]
    for one in sorted(found, key=lambda rates: -(rates.balanced_accuracy.value or 0.0))[:MOST_FIGURES]:
        figure = one.balanced_accuracy
        yield _measured(one.evaluator, figure, f"balanced accuracy on {plural(figure.n, 'claim')}")


def _of_run(summary: RunSummary) -> Iterator[HeadlineFigure]:
    systems = {one.system: one for one in summary.scores.systems}
    if not systems:
        return
    ranked = [name for ranking in summary.scores.rankings[:1] for name in ranking.systems]
    best = [*ranked, *systems][0]
    whose = best if len(systems) == 1 else f"{best}, the best of {plural(len(systems), 'system')}"
    for measure, k, mean in figures_of(systems[best]):
        if measure.leads:
            yield _measured(measure.heading(k), mean, f"{whose}, {mean_basis(mean)}")


def _measured(name: str, figure: Measurement, grounds: str) -> HeadlineFigure:
    if figure.value is None:
        return HeadlineFigure(name=name, value="–", basis=f"undefined: {figure.why}")
    spread = "" if figure.interval is None else "{:.2f} to {:.2f}, ".format(*figure.interval)
    return HeadlineFigure(name=name, value=f"{figure.value:.2f}", basis=f"{spread}{grounds}")


EVALUATION_KINDS = (
    ResultKind(
        "audit",
        AuditReport,
        render_audit_html,
        lambda one: f"{plural(len(one.data.evaluators), 'evaluator')} on {plural(one.data.n_claims, 'labelled claim')}",
        lambda report: f"of {report.data.name}",
        _of_audit,
        is_job=True,
    ),
    ResultKind(
        "run",
        RunSummary,
        render_run_html,
        lambda run: f"{plural(len(run.responses), 'response')} of {plural(len(run.scores.systems), 'system')}",
        lambda run: f"on {run.data}, judged by {run.fingerprint.judge}",
        _of_run,
    ),
    ResultKind(
        "experiment",
        ExperimentReport,
        render_experiment_html,
        lambda one: one.name,
        lambda one: f"{plural(len(one.variants), 'variant')} over {plural(one.n_items, 'item')}",
        lambda _: (),
    ),
    ResultKind(
        "comparison",
        Comparison,
        render_comparison_html,
        lambda one: f"{one.first.run} and {one.second.run}",
        lambda one: " ".join(one.conclusions[:1]),
        lambda _: (),
    ),
)
