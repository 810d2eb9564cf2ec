"""`factloop research audit` measures how accurate and biased evaluators are on human-labelled claims."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from typing import TYPE_CHECKING, Annotated

from pydantic import Field

from factloop.cli.console import DONE, step, stopped_with
from factloop.cli.options import ARGUMENT, STATISTICS, Intervals, Seeded, Share, Tabled, Texts, command
from factloop.cli.outputs import deliver, try_outputs
from factloop.core.errors import ConfigError
from factloop.core.extras import require
from factloop.core.files.lines import name_of_data
from factloop.reports.figures import plural
from factloop.setup.marks import Mark

if TYPE_CHECKING:
    from factloop.evaluation.audit.table import PredictionTable


class Audit(Tabled, Intervals, Seeded):
    predictions: Annotated[str, Mark(ARGUMENT, "FILE")]
    """File of labelled claims with scores (JSON Lines, CSV or Parquet; - for standard input)."""
    evaluator: Annotated[Texts, Mark(STATISTICS, "NAME")] = ()
    """Audit only this evaluator."""
    threshold: Annotated[Share | None, Mark(STATISTICS)] = None
    """Also report all figures at this threshold, in addition to 0.5."""
    """Method for adjusting the p-values for pairs of systems within each data set."""
    resamples: Annotated[int, Field(ge=0, le=10_000), Mark(STATISTICS)] = 1000
    """Number of bootstrap resamples for the intervals (0 for none)."""
    level: Annotated[float, Field(ge=0.5, le=0.999), Mark(STATISTICS)] = 0.95
    """Confidence level of the intervals. Tests between pairs of systems use the significance level 1 - level."""


@command()
def audit(given: Audit) -> int:
    require("evaluation", "factloop research audit")
    from factloop.evaluation.audit.rows import load_predictions
    from factloop.evaluation.audit.views.shown import print_audit, render_audit_html
    from factloop.evaluation.audit.whole import audit as audit_table

    try_outputs(given.written, (given.predictions,))
    with stopped_with("Running it again costs nothing."), step("reading", quiet=given.quiet) as say_step:
        name = name_of_data(given.predictions)
        table = _chosen(load_predictions(given.predictions), given)
        say_step(f"auditing {plural(table.n_rows, 'claim')} by {plural(len(table.scores), 'evaluator')}")
        report = audit_table(
            table,
            name=name,
            created_at=datetime.now(UTC),
            threshold=given.threshold,
            alpha=round(1.0 - given.level, 12),
            resamples=given.resamples,
            level=given.level,
            seed=given.seed,
        )
    deliver(given, report, partial(print_audit, report), page=partial(render_audit_html, report))
    return DONE


def _chosen(table: PredictionTable, given: Audit) -> PredictionTable:
    if not given.evaluator:
        return table
    unknown = [name for name in given.evaluator if name not in table.scores]
    if unknown:
        there = ", ".join(table.scores)
        raise ConfigError(f"{given.predictions} has no scores by {', '.join(unknown)}, only by {there}")
    return replace(table, scores={name: scores for name, scores in table.scores.items() if name in given.evaluator})
