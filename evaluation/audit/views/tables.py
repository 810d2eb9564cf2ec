"""The figures of an audit as tables: text in every cell, and what it rests on under it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from factloop.evaluation.audit.adjustment_records import (
    Adjustment,
    AdjustmentMethod,
    AdjustmentReport,
    MeanAdjustment,
    MethodAverage,
    MethodMean,
)
from factloop.evaluation.audit.agreement import PairAgreement
from factloop.evaluation.audit.chunking import Changes, ChunkingBias
from factloop.evaluation.audit.estimate import AuditFigure
from factloop.evaluation.audit.quantification import EvaluatorBias, SystemBias
from factloop.evaluation.audit.ranking import MeanRanking, Order, Ranking
from factloop.evaluation.audit.rates import EvaluatorRates
from factloop.evaluation.audit.surface import SurfaceBias
from factloop.evaluation.audit.views.words import (
    CALIBRATION_WARNINGS,
    LEVELS,
    METHODS,
    NOTHING,
    ORDERS,
    WHY_UNADJUSTED,
)
from factloop.evaluation.mixedqa.views.correlation_figures import coefficient, outcome
from factloop.evaluation.statistics.correlation import Correlation
from factloop.reports.figures import plural


@dataclass(frozen=True)
class Cell:
    text: str
    note: str = ""
    is_undefined: bool = False


@dataclass(frozen=True)
class Line:
    evaluators: tuple[str, ...]
    """Whose figures these are: the line is shown while one of them is chosen."""
    names: tuple[str, ...]
    cells: tuple[Cell, ...]


@dataclass(frozen=True)
class Table:
    title: str
    heads: tuple[str, ...]
    """Of the names, then of the cells."""
    lines: tuple[Line, ...]


def percent(value: float | None) -> str:
    """`70.5`, for a column headed %; never `-0.0`."""
    return NOTHING if value is None else f"{round(100 * value, 1) + 0.0:.1f}"


def estimate_cell(one: AuditFigure) -> Cell:
    """The value in per cent, with its interval and what it rests on; or why it is undefined."""
    rests_on = f"n {one.n:,}"
    if one.n_datasets_undefined:
        rests_on += f", undefined on {plural(one.n_datasets_undefined, 'data set')}"
    if one.value is None:
        return Cell(f"undefined: {one.why}", rests_on, is_undefined=True)
    interval = "" if one.low is None or one.high is None else f"{percent(one.low)} to {percent(one.high)}; "
    return Cell(percent(one.value), interval + rests_on)


def _complement(one: AuditFigure) -> Cell:
    """The value alone: TPR or TNR beside it has the same interval, turned round."""
    return estimate_cell(one) if one.value is None else Cell(percent(one.value))


def share_cell(value: float | None, n: int, why: str) -> Cell:
    return Cell(why, f"n {n:,}", is_undefined=True) if value is None else Cell(percent(value), f"n {n:,}")


def _count(value: int) -> Cell:
    return Cell(f"{value:,}")


def rates_table(found: Iterable[EvaluatorRates]) -> Table:
    heads = ("Evaluator", "Of", "Balanced accuracy", "TPR", "TNR", "Gap TPR − TNR", "FPR", "FNR", "Unscored")
    return Table(
        "Rates in %",
        heads,
        tuple(
            Line(
                (one.evaluator,),
                (one.evaluator, LEVELS[one.level]),
                (
                    *map(estimate_cell, (one.balanced_accuracy, one.tpr, one.tnr, one.gap)),
                    *(_complement(each) for each in (one.fpr, one.fnr)),
                    _count(one.n_unscored),
                ),
            )
            for one in found
        ),
    )


def agreement_table(found: Iterable[PairAgreement]) -> Table:
    heads = ("Evaluator", "And", "IoU of those called wrong", "IoU of those called right", "Left out")
    return Table(
        "IoU in %",
        heads,
        tuple(
            Line(
                (one.evaluator,) if one.other is None else (one.evaluator, one.other),
                (one.evaluator, "the labels" if one.other is None else one.other),
                (estimate_cell(one.unattributable), estimate_cell(one.attributable), _count(one.n_left_out)),
            )
            for one in found
        ),
    )


def bias_table(found: Iterable[EvaluatorBias]) -> Table:
    heads = ("Evaluator", "Of", "Mean, points off", "Worst, points off", "Worst system", "Systems")
    return Table(
        "How far error rates are off",
        heads,
        tuple(
            Line(
                (one.evaluator,),
                (one.evaluator, LEVELS[one.level]),
                (
                    estimate_cell(one.mean_absolute),
                    estimate_cell(one.worst_absolute),
                    Cell(NOTHING if one.worst_system is None else one.worst_system),
                    _count(one.n_systems),
                ),
            )
            for one in found
        ),
    )


def systems_table(found: Iterable[SystemBias]) -> Table:
    heads = ("Evaluator", "Of", "System", "% wrong by label", "% wrong by evaluator", "Bias, points", "Unscored")
    return Table(
        "System by system",
        heads,
        tuple(
            Line(
                (one.evaluator,),
                (one.evaluator, LEVELS[one.level], one.system),
                (*map(estimate_cell, (one.labelled, one.predicted, one.bias)), _count(one.n_unscored)),
            )
            for one in found
        ),
    )


def headroom_table(found: Iterable[EvaluatorBias]) -> Table:
    heads = ("Evaluator", "Of", "Lowest % wrong by label", "By evaluator", "Off by, points", "Magnitude, points")
    return Table(
        "Headroom",
        heads,
        tuple(
            Line(
                (one.evaluator,),
                (one.evaluator, LEVELS[one.level]),
                tuple(
                    map(
                        estimate_cell,
                        (one.headroom_labelled, one.headroom_predicted, one.headroom_bias, one.headroom_absolute),
                    )
                ),
            )
            for one in found
        ),
    )


_NO_PAIR = "undefined: fewer than two systems"


def ranking_table(found: Iterable[Ranking]) -> Table:
    heads = ("Evaluator", "Of", "% of pairs ordered wrongly", "% reversed", "Kendall's tau", "Pearson's r", "Left out")
    return Table(
        "Order of systems",
        heads,
        tuple(
            Line(
                (one.evaluator,),
                (one.evaluator, LEVELS[one.level]),
                (
                    _pairs_cell(one.share_wrong, one.n_wrong, one.n_pairs),
                    _pairs_cell(one.share_reversed, one.n_reversed, one.n_pairs),
                    _coefficient(one.kendall),
                    _coefficient(one.pearson),
                    _count(one.n_left_out),
                ),
            )
            for one in found
        ),
    )


def _pairs_cell(share: float | None, n: int, n_pairs: int) -> Cell:
    if share is None:
        return Cell(_NO_PAIR, is_undefined=True)
    return Cell(percent(share), f"{n:,} of {plural(n_pairs, 'pair')}")


def _coefficient(one: Correlation) -> Cell:
    return Cell(outcome(one), plural(one.n, "system"), is_undefined=one.undefined is not None)


def mean_ranking_table(found: Iterable[MeanRanking]) -> Table:
    heads = ("Evaluator", "Of", "% of pairs ordered wrongly", "% reversed", "Kendall's tau", "Pearson's r")

    def mean(value: float | None, n: int) -> Cell:
        return Cell(
            "undefined on every data set" if value is None else coefficient(value), plural(n, "data set"), value is None
        )

    def share(one: MeanRanking, value: float | None) -> Cell:
        rests_on = f"{plural(one.n_pairs, 'pair')}, {plural(one.n_datasets, 'data set')}"
        return Cell(_NO_PAIR if value is None else percent(value), rests_on, value is None)

    return Table(
        "Order of systems, mean over data sets",
        heads,
        tuple(
            Line(
                (one.evaluator,),
                (one.evaluator, LEVELS[one.level]),
                (
                    share(one, one.share_wrong),
                    share(one, one.share_reversed),
                    mean(one.kendall, one.n_kendall),
                    mean(one.pearson, one.n_pearson),
                ),
            )
            for one in found
        ),
    )


def order_table(found: Iterable[Ranking]) -> Table:
    """The 3 x 3 table of each evaluator and level, a row of it to a line."""
    heads = ("Evaluator", "Of", "By label the first is", *(f"{ORDERS[order]} by evaluator" for order in Order))
    return Table(
        "Pairs of systems, the first of each having the lower labelled error rate",
        heads,
        tuple(
            Line(
                (one.evaluator,),
                (one.evaluator, LEVELS[one.level], ORDERS[order]),
                tuple(_count(cell.n_pairs) for cell in one.cells if cell.labelled is order),
            )
            for one in found
            if one.n_pairs
            for order in Order
        ),
    )


def similarity_table(found: Iterable[SurfaceBias]) -> Table:
    heads = ("Evaluator", "Bin", "ROUGE-2 precision", "TPR in %", "TNR in %")
    return Table(
        "TPR and TNR by wording shared with the document",
        heads,
        tuple(
            Line(
                (one.evaluator,),
                (one.evaluator, f"{number}"),
                (
                    _range(part.low, part.high),
                    share_cell(part.tpr, part.n_attributable, "undefined: no attributable claim"),
                    share_cell(part.tnr, part.n_unattributable, "undefined: no unattributable claim"),
                ),
            )
            for one in found
            for number, part in enumerate(one.bins, 1)
        ),
    )


def _range(low: float | None, high: float | None) -> Cell:
    if low is None or high is None:
        return Cell("no claim", "as many are equally similar", is_undefined=True)
    return Cell(f"{low:.2f} to {high:.2f}")


def chunking_table(found: Iterable[ChunkingBias]) -> Table:
    heads = ("Evaluator", "On chunks", "Claims", "% changed", "% lost", "% gained", "Left out")
    return Table(
        "Predictions that change when the document is cut",
        heads,
        tuple(
            Line(
                (one.evaluator, one.chunked),
                (one.evaluator, f"{one.chunked} ({plural(one.n_words, 'word')})", kind),
                (*_changes(changes), _left_out(one)),
            )
            for one in found
            for kind, changes in (
                ("that one chunk carries (R2-diff 0)", one.within),
                ("that no chunk carries (R2-diff above 0)", one.across),
            )
        ),
    )


def _changes(changes: Changes) -> tuple[Cell, ...]:
    shares = (changes.share_changed, changes.share_lost, changes.share_gained)
    return tuple(share_cell(share, changes.n, "undefined: no such claim") for share in shares)


def _left_out(one: ChunkingBias) -> Cell:
    n = one.n_short + one.n_no_similarity + one.n_unscored
    why = f"{one.n_short:,} short documents, {one.n_no_similarity:,} claims of one word, {one.n_unscored:,} unscored"
    return Cell(f"{n:,}", why if n else "")


def adjustment_table(found: Iterable[AdjustmentReport | MeanAdjustment]) -> Table:
    heads = ("Evaluator", "Method", "Mean, points off", "Worst, points off", "Unadjusted mean", "Unadjusted worst")
    return Table(
        "Error rates adjusted on one labelled system, tested on the others",
        heads,
        tuple(
            Line(
                (one.evaluator,),
                (one.evaluator, METHODS[method.method]),
                (
                    _method_cell(method.mean_bias, _rests_on(method)),
                    _method_cell(method.worst_bias, ""),
                    Cell(percent(method.unadjusted_mean_bias)),
                    Cell(percent(method.unadjusted_worst_bias)),
                ),
            )
            for one in found
            for method in one.methods
        ),
    )


def _rests_on(method: MethodMean | MethodAverage) -> str:
    n = plural(method.n_calibrations, "calibration")
    if isinstance(method, MethodAverage):
        return f"{n}, {plural(method.n_datasets, 'data set')}"
    return n + (f" ({method.n_undefined:,} undefined)" if method.n_undefined else "")


def _method_cell(value: float | None, note: str) -> Cell:
    return Cell("undefined with every system", note, is_undefined=True) if value is None else Cell(percent(value), note)


def calibration_table(found: Iterable[AdjustmentReport]) -> Table:
    """Each choice of the calibration system, with its warnings."""
    heads = ("Evaluator", "Calibrated on", "Its errors", *(METHODS[method].capitalize() for method in AdjustmentMethod))
    return Table(
        "Mean points off, by the system calibrated on",
        (*heads, "Warnings"),
        tuple(
            Line(
                (one.evaluator,),
                (one.evaluator, each.system),
                (
                    Cell(
                        percent(each.labelled) + " %", f"{each.n_errors:,} of {each.n_errors + each.n_attributable:,}"
                    ),
                    *(_adjustment_cell(each.by(method)) for method in AdjustmentMethod),
                    Cell("; ".join(CALIBRATION_WARNINGS[warning] for warning in each.warnings) or "none"),
                ),
            )
            for one in found
            for each in one.calibrations
        ),
    )


def _adjustment_cell(one: Adjustment) -> Cell:
    if one.undefined is not None:
        return Cell(WHY_UNADJUSTED[one.undefined], is_undefined=True)
    note = f"worst {percent(one.worst_bias)}" + (f", {one.n_cut:,} cut off" if one.n_cut else "")
    return Cell(percent(one.mean_bias), note)


def has_lines(tables: Sequence[Table]) -> bool:
    return any(table.lines for table in tables)
