"""The figures of an audit as sheets, for one group at one threshold: what the terminal and the page have in common."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import Any, TypeVar

from factloop.evaluation.audit.adjustment_records import (
    Adjustment,
    AdjustmentMethod,
    AdjustmentReport,
    Calibration,
    MeanAdjustment,
    MethodAverage,
    MethodMean,
)
from factloop.evaluation.audit.chunking import Changes, ChunkingBias
from factloop.evaluation.audit.estimate import AuditFigure, Group
from factloop.evaluation.audit.quantification import EvaluatorBias, SystemBias
from factloop.evaluation.audit.ranking import MeanRanking, Order, Ranking
from factloop.evaluation.audit.rates import EvaluatorRates
from factloop.evaluation.audit.report import AuditAt
from factloop.evaluation.audit.surface import SimilarityBin, SurfaceBias
from factloop.evaluation.audit.units import Level
from factloop.evaluation.audit.views.words import (
    CALIBRATION_WARNINGS,
    LEVELS,
    METHODS,
    ORDERS,
    WHY_UNADJUSTED,
    title_of,
)
from factloop.evaluation.mixedqa.views.correlation_figures import coefficient
from factloop.evaluation.statistics.correlation import Correlation
from factloop.reports.figures import plural
from factloop.reports.sheet.table import (
    NOTHING,
    Cell,
    Column,
    Sheet,
    Told,
    count_cell,
    figure_cell,
    name,
    page_only,
    sheet_of,
    value_cell,
)

MOST_PAIRS = 15
"""Pairs of evaluators whose overlap the terminal shows; with more, only that with the labels."""
MOST_LINES = 40
"""Of the figures by data set."""
Found = TypeVar("Found")
Ranked = Ranking | MeanRanking


@dataclass(frozen=True)
class Scope:
    """One group at one threshold."""

    at: AuditAt
    group: Group

    def of_group(self, found: Sequence[Found]) -> list[Found]:
        """Those of the group, whether they are pooled or averaged over it."""
        wanted = (self.group.kind, self.group.name)
        return [one for one in found if (one.group.kind, one.group.name) == wanted]  # type: ignore[attr-defined]

    def of_dataset(self, found: Sequence[Found]) -> list[Found]:
        is_one = self.group.kind == "dataset"
        return [one for one in found if is_one and one.dataset == self.group.name]  # type: ignore[attr-defined]


def on_terminal(scope: Scope) -> Iterator[Sheet]:
    """Those that the terminal shows of one data set, or of all; those of all end with a line for each data set."""
    yield rates(scope)
    yield error_rates(scope)
    yield ranking(scope)
    yield agreement(scope, most=MOST_PAIRS)
    yield adjustment(scope)
    yield wording(scope)
    yield chunking(scope)
    if scope.group.kind == "all":
        yield by_group(scope.at)


def percent(value: float) -> str:
    """`70.5`, for a column headed %; never `-0.0`."""
    return f"{round(100 * value, 1) + 0.0:.1f}"


def estimate_cell(one: AuditFigure) -> Cell:
    """The value in per cent, with its interval and what it rests on; or why it is undefined."""
    rests_on = f"n {one.n:,}"
    if one.n_datasets_undefined:
        rests_on += f", undefined on {plural(one.n_datasets_undefined, 'data set')}"
    return figure_cell(one, percent, basis=rests_on)


def _share(head: str, width: int = 13) -> Column:
    """With room for an interval."""
    return Column(head, width=width)


def _count(head: str) -> Column:
    return Column(head, width=9)


def _of(one: Any) -> tuple[str, ...]:
    return (one.evaluator,)


_EVALUATOR: Told[Any] = (name("Evaluator"), lambda one: one.evaluator)
_LEVEL: Told[Any] = (Column("Of", is_name=True, is_heading=True), lambda one: LEVELS[one.level])
_BY_LEVEL = (_EVALUATOR, _LEVEL)


def rates(scope: Scope) -> Sheet:
    told: tuple[Told[EvaluatorRates], ...] = (
        *_BY_LEVEL,
        (_share("Balanced accuracy"), lambda one: estimate_cell(one.balanced_accuracy)),
        (_share("TPR"), lambda one: estimate_cell(one.tpr)),
        (_share("TNR"), lambda one: estimate_cell(one.tnr)),
        (_share("TPR − TNR"), lambda one: estimate_cell(one.gap)),
        (page_only("FPR"), lambda one: _complement(one.fpr)),
        (page_only("FNR"), lambda one: _complement(one.fnr)),
        (_count("Scored"), lambda one: _scored(one.n_attributable + one.n_unattributable, one.n_unscored)),
    )
    return sheet_of("How often it is right, %", told, scope.of_group(scope.at.rates.rates), of=_of)


def _complement(one: AuditFigure) -> Cell:
    """The value alone: TPR or TNR beside it has the same interval, turned round."""
    return value_cell(one.value, percent, one.why)


def _scored(n: int, n_unscored: int) -> Cell:
    return replace(count_cell(n), note=f"{n_unscored:,} unscored" if n_unscored else "")


_BIAS: tuple[Told[EvaluatorBias], ...] = (
    (_share("Mean, points off"), lambda one: estimate_cell(one.mean_absolute)),
    (_share("Worst, points off"), lambda one: estimate_cell(one.worst_absolute)),
    (page_only("Worst system"), lambda one: one.worst_system or NOTHING),
)
_HEADROOM: tuple[Told[EvaluatorBias], ...] = (
    (_share("Lowest by label, %"), lambda one: estimate_cell(one.headroom_labelled)),
    (page_only("Lowest by evaluator, %"), lambda one: estimate_cell(one.headroom_predicted)),
    (_share("Lowest, points off"), lambda one: estimate_cell(one.headroom_bias)),
    (page_only("Magnitude, points"), lambda one: estimate_cell(one.headroom_absolute)),
)
_SYSTEMS: Told[EvaluatorBias] = (_count("Systems"), lambda one: one.n_systems)


def bias(scope: Scope) -> Sheet:
    return _error_rates("How far error rates are off", (*_BIAS, _SYSTEMS), scope)


def headroom(scope: Scope) -> Sheet:
    return _error_rates("Headroom", _HEADROOM, scope)


def error_rates(scope: Scope) -> Sheet:
    """Bias and headroom beside each other."""
    return _error_rates("Error rates of systems", (*_BIAS, *_HEADROOM, _SYSTEMS), scope)


def _error_rates(title: str, told: Sequence[Told[EvaluatorBias]], scope: Scope) -> Sheet:
    return sheet_of(title, (*_BY_LEVEL, *told), scope.of_group(scope.at.quantification.evaluators), of=_of)


def systems(scope: Scope) -> Sheet:
    told: tuple[Told[SystemBias], ...] = (
        *_BY_LEVEL,
        (name("System"), lambda one: one.system),
        (Column("% wrong by label"), lambda one: estimate_cell(one.labelled)),
        (Column("% wrong by evaluator"), lambda one: estimate_cell(one.predicted)),
        (Column("Bias, points"), lambda one: estimate_cell(one.bias)),
        (Column("Unscored"), lambda one: one.n_unscored),
    )
    return sheet_of("System by system", told, scope.of_dataset(scope.at.quantification.systems), of=_of)


def _wrong(one: Ranked) -> Cell:
    return _pairs_cell(one, one.share_wrong, "n_wrong")


def _tau(one: Ranked) -> Cell:
    return _coefficient(one.kendall, one, "n_kendall")


_RANKING: tuple[Told[Ranked], ...] = (
    *_BY_LEVEL,
    (_share("% of pairs ordered wrongly"), _wrong),
    (_share("% of pairs reversed"), lambda one: _pairs_cell(one, one.share_reversed, "n_reversed")),
    (_share("Kendall's tau"), _tau),
    (_share("Pearson's r"), lambda one: _coefficient(one.pearson, one, "n_pearson")),
    (_count("Pairs"), lambda one: one.n_pairs),
)
_LEFT_OUT: Told[Ranking] = (page_only("Left out"), lambda one: one.n_left_out)


def ranking(scope: Scope) -> Sheet:
    """Of one data set, or the means over several."""
    title = "Order of systems"
    if scope.group.kind == "dataset":
        return sheet_of(title, (*_RANKING, _LEFT_OUT), scope.of_dataset(scope.at.rankings), of=_of)
    return sheet_of(f"{title}, mean over data sets", _RANKING, scope.of_group(scope.at.mean_rankings), of=_of)


def _pairs_cell(one: Ranked, share: float | None, count: str) -> Cell:
    rests_on = (
        f"{getattr(one, count):,} of {plural(one.n_pairs, 'pair')}"
        if isinstance(one, Ranking)
        else f"{plural(one.n_pairs, 'pair')}, {plural(one.n_datasets, 'data set')}"
    )
    return value_cell(share, percent, "fewer than two systems", basis=rests_on if one.n_pairs else "")


def _coefficient(found: Correlation | float | None, one: Ranked, count: str) -> Cell:
    if isinstance(found, Correlation):
        return figure_cell(found, coefficient, basis=plural(found.n, "system"))
    return value_cell(found, coefficient, "on every data set", basis=plural(getattr(one, count), "data set"))


def order_table(scope: Scope) -> Sheet:
    """The 3 x 3 table of each evaluator and level, a row of it to a line."""

    def n_pairs(order: Order) -> Callable[[tuple[Ranking, Order]], int]:
        return lambda row: next(
            cell.n_pairs for cell in row[0].cells if (cell.labelled, cell.predicted) == (row[1], order)
        )

    told: tuple[Told[tuple[Ranking, Order]], ...] = (
        (name("Evaluator"), lambda row: row[0].evaluator),
        (name("Of"), lambda row: LEVELS[row[0].level]),
        (name("By label the first is"), lambda row: ORDERS[row[1]]),
        *((Column(f"{ORDERS[order].capitalize()} by evaluator"), n_pairs(order)) for order in Order),
    )
    rows = [(one, order) for one in scope.of_dataset(scope.at.rankings) if one.n_pairs for order in Order]
    title = "Pairs of systems, the first of each having the lower labelled error rate"
    return sheet_of(title, told, rows, of=lambda row: (row[0].evaluator,))


def agreement(scope: Scope, *, most: int | None = None) -> Sheet:
    """Each evaluator with the labels, then with the others; with the labels alone where there are more than `most`."""
    found = sorted(scope.of_group(scope.at.agreement.pairs), key=lambda one: one.other is not None)
    if most is not None and len(found) > most:
        found = [one for one in found if one.other is None]
    return sheet_of(
        "Claims that both call so, of those that either does: IoU, %",
        (
            (name("Evaluators"), lambda one: f"{one.evaluator} and {one.other or 'the labels'}"),
            (_share("Called wrong"), lambda one: estimate_cell(one.unattributable)),
            (_share("Called right"), lambda one: estimate_cell(one.attributable)),
            (_count("Left out"), lambda one: one.n_left_out),
        ),
        found,
        of=lambda one: (one.evaluator, *([one.other] if one.other is not None else [])),
    )


_FIFTHS = ("Least alike", "2nd fifth", "3rd fifth", "4th fifth", "Most alike")
_RATES: tuple[tuple[str, Callable[[SimilarityBin], Cell]], ...] = (
    ("ROUGE-2", lambda one: _range(one.low, one.high)),
    ("TPR", lambda one: value_cell(one.tpr, percent, note=f"of {one.n_attributable:,}")),
    ("TNR", lambda one: value_cell(one.tnr, percent, note=f"of {one.n_unattributable:,}")),
)
Wording = tuple[SurfaceBias, str, Callable[[SimilarityBin], Cell]]


def wording(scope: Scope) -> Sheet:
    """Under the range of each fifth of the claims the rates in it; a dash where as many claims are equally similar."""

    def fifth(place: int) -> Callable[[Wording], Cell]:
        return lambda row: row[2](row[0].bins[place])

    told: tuple[Told[Wording], ...] = (
        (name("Evaluator"), lambda row: f"{row[0].evaluator} {row[1]}"),
        *((_share(head, 11), fifth(place)) for place, head in enumerate(_FIFTHS)),
    )
    rows = [(one, *rate) for one in scope.of_group(scope.at.surface) for rate in _RATES]
    title = "Rates by wording that the claim shares with the document, %"
    return sheet_of(title, told, rows, of=lambda row: (row[0].evaluator,))


def _range(low: float | None, high: float | None) -> Cell:
    return Cell(NOTHING) if low is None or high is None else Cell(f"{low:.2f}-{high:.2f}")


def chunking(scope: Scope) -> Sheet:
    def changes(where: str, of: Callable[[ChunkingBias], Changes]) -> Iterator[Told[ChunkingBias]]:
        yield _share(f"{where}: changed"), lambda one: _change(of(one), of(one).share_changed)
        yield _share(f"{where}: lost"), lambda one: _change(of(one), of(one).share_lost)
        yield page_only(f"{where}: gained"), lambda one: _change(of(one), of(one).share_gained)

    told: tuple[Told[ChunkingBias], ...] = (
        (name("Evaluator"), lambda one: Cell(one.chunked, basis=f"chunks of {plural(one.n_words, 'word')}")),
        *changes("One chunk has it", lambda one: one.within),
        *changes("No chunk has it", lambda one: one.across),
        (page_only("Left out"), _left_out),
    )
    title = "Predictions that change when documents are cut, %"
    return sheet_of(title, told, scope.of_group(scope.at.chunking), of=lambda one: (one.evaluator, one.chunked))


def _change(changes: Changes, share: float | None) -> Cell:
    return value_cell(share, percent, "no such claim", note=f"of {changes.n:,}")


def _left_out(one: ChunkingBias) -> Cell:
    n = one.n_short + one.n_no_similarity + one.n_unscored
    why = f"{one.n_short:,} short documents, {one.n_no_similarity:,} claims of one word, {one.n_unscored:,} unscored"
    return replace(count_cell(n), basis=why if n else "")


def adjustment(scope: Scope) -> Sheet:
    """A column for each method, over all choices of the system whose labels are used."""

    def method(place: int) -> Callable[[AdjustmentReport | MeanAdjustment], Cell]:
        return lambda one: _method_cell(one.methods[place])

    told: tuple[Told[AdjustmentReport | MeanAdjustment], ...] = (
        _EVALUATOR,
        *((_share(METHODS[one].capitalize()), method(place)) for place, one in enumerate(AdjustmentMethod)),
        (_count("Trials"), lambda one: max(method.n_calibrations for method in one.methods)),
    )
    of_dataset = scope.of_dataset(scope.at.adjustment)
    found: Sequence[AdjustmentReport | MeanAdjustment] = of_dataset or scope.of_group(scope.at.mean_adjustments)
    return sheet_of("Mean points off when adjusted on one labelled system", told, found, of=_of)


def _method_cell(one: MethodMean | MethodAverage) -> Cell:
    rests_on = plural(one.n_calibrations, "trial")
    if isinstance(one, MethodAverage):
        rests_on += f", {plural(one.n_datasets, 'data set')}"
    elif one.n_undefined:
        rests_on += f" ({one.n_undefined:,} undefined)"
    before, worst_before = one.unadjusted_mean_bias, one.unadjusted_worst_bias
    if one.method is not AdjustmentMethod.UNADJUSTED and before is not None and worst_before is not None:
        rests_on += f"; unadjusted {percent(before)}, worst {percent(worst_before)}"
    note = "" if one.worst_bias is None else f"worst {percent(one.worst_bias)}"
    return value_cell(one.mean_bias, percent, "with every system", note=note, basis=rests_on)


def calibrations(scope: Scope) -> Sheet:
    """Each choice of the system calibrated on, with its warnings."""

    def adjusted(method: AdjustmentMethod) -> Callable[[tuple[str, Calibration]], Cell]:
        return lambda row: _adjustment_cell(row[1].by(method))

    told: tuple[Told[tuple[str, Calibration]], ...] = (
        (name("Evaluator"), lambda row: row[0]),
        (name("Calibrated on"), lambda row: row[1].system),
        (Column("Its errors, %"), lambda row: _errors(row[1])),
        *((Column(METHODS[method].capitalize()), adjusted(method)) for method in AdjustmentMethod),
        (name("Warnings"), lambda row: "; ".join(CALIBRATION_WARNINGS[one] for one in row[1].warnings) or "none"),
    )
    rows = [(one.evaluator, each) for one in scope.of_dataset(scope.at.adjustment) for each in one.calibrations]
    return sheet_of("Mean points off, by the system calibrated on", told, rows, of=lambda row: row[:1])


def _errors(one: Calibration) -> Cell:
    return value_cell(one.labelled, percent, basis=f"{one.n_errors:,} of {one.n_errors + one.n_attributable:,}")


def _adjustment_cell(one: Adjustment) -> Cell:
    if one.undefined is not None or one.worst_bias is None:
        return Cell(NOTHING, why=WHY_UNADJUSTED[one.undefined] if one.undefined is not None else "")
    note = f"worst {percent(one.worst_bias)}" + (f", {one.n_cut:,} cut off" if one.n_cut else "")
    return value_cell(one.mean_bias, percent, note=note)


def by_group(at: AuditAt) -> Sheet:
    """The leading figures on each data set and task group, at claim level; nothing where there are very many."""
    groups = list(dict.fromkeys(one.group for one in at.rates.rates if one.group.kind != "all"))
    names = list(dict.fromkeys(one.evaluator for one in at.rates.rates))
    if len(groups) * len(names) > MOST_LINES:
        groups = []
    leading: tuple[tuple[str, Callable[[Group, str], Cell | str | int]], ...] = (
        ("Balanced accuracy", lambda group, one: _complement(at.rates.find(one, group).balanced_accuracy)),
        ("TPR − TNR", lambda group, one: _complement(at.rates.find(one, group).gap)),
        ("Mean, points off", lambda group, one: _complement(at.quantification.find(one, group).mean_absolute)),
        ("% of pairs ordered wrongly", lambda group, one: _wrong(_ranked(at, group, one))),
        ("Kendall's tau", lambda group, one: _tau(_ranked(at, group, one))),
    )
    told: tuple[Told[tuple[Group, str]], ...] = (
        (name("Evaluator"), lambda row: row[1]),
        (Column("Of", is_name=True, is_heading=True), lambda row: title_of(row[0])),
        *((_share(head, 11), _of_both(say)) for head, say in leading),
    )
    return sheet_of("Claims, by data set", told, [(group, one) for group in groups for one in names])


def _of_both(say: Callable[[Group, str], Cell | str | int]) -> Callable[[tuple[Group, str]], Cell | str | int]:
    return lambda row: say(*row)


def _ranked(at: AuditAt, group: Group, evaluator: str) -> Ranked:
    found: Iterator[Ranked] = chain(
        Scope(at, group).of_dataset(at.rankings), Scope(at, group).of_group(at.mean_rankings)
    )
    return next(one for one in found if (one.level, one.evaluator) == (Level.CLAIM, evaluator))
