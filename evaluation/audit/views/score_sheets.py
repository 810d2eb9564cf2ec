"""How far scores are probabilities, as sheets: the figures of each evaluator, and its scores by tenths."""

from __future__ import annotations

from factloop.evaluation.audit.reliability import Reliability, ScoreBin
from factloop.evaluation.audit.views.scope import EVALUATOR, Scope, count_column, of_evaluator, percent, share_column
from factloop.reports.sheet.table import Cell, ColumnOf, Sheet, name, sheet_of, value_cell


def scores(scope: Scope) -> Sheet:
    columns: tuple[ColumnOf[Reliability], ...] = (
        EVALUATOR,
        (share_column("ECE, 10 equal bins"), lambda one: value_cell(one.ece, _thousandths)),
        (share_column("Brier score"), _brier),
        (share_column("AUC"), lambda one: value_cell(one.auc, _thousandths, "all labels are alike")),
        (count_column("Claims"), _claims),
    )
    title = scope.weighted("Scores as probabilities")
    return sheet_of(title, columns, scope.of_group(scope.at.reliability), of=of_evaluator)


def _brier(one: Reliability) -> Cell:
    """Beside that of the share that holds, given to every claim: what takes no evaluator."""
    return value_cell(one.brier, _thousandths, note=f"by share {_thousandths(one.brier_of_share)}")


def _thousandths(value: float) -> str:
    return f"{value:.3f}"


def _claims(one: Reliability) -> Cell:
    return Cell(f"{one.n:,}", f"{one.n_attributable:,} hold", value=one.n)


Tenth = tuple[Reliability, ScoreBin]


def tenths(scope: Scope) -> Sheet:
    """The bins that hold claims: where scores are probabilities, mean score and share are alike."""
    columns: tuple[ColumnOf[Tenth], ...] = (
        (name("Evaluator"), lambda row: row[0].evaluator),
        (name("Scores"), lambda row: f"{row[1].low:.1f}-{row[1].high:.1f}"),
        (share_column("Mean score"), lambda row: value_cell(row[1].mean_score, percent)),
        (share_column("Hold by label"), lambda row: value_cell(row[1].attributable, percent)),
        (count_column("Claims"), lambda row: row[1].n),
    )
    rows = [(one, each) for one in scope.of_group(scope.at.reliability) for each in one.bins if each.n]
    return sheet_of(scope.weighted("Scores by tenths, %"), columns, rows, of=lambda row: (row[0].evaluator,))
