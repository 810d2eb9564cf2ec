"""The figures of an audit at one threshold, over one data set or all, as they stand on the terminal."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from factloop.evaluation.audit.adjustment_records import AdjustmentMethod
from factloop.evaluation.audit.chunking import Changes
from factloop.evaluation.audit.estimate import AuditFigure, Group
from factloop.evaluation.audit.quantification import EvaluatorBias
from factloop.evaluation.audit.ranking import MeanRanking, Ranking
from factloop.evaluation.audit.rates import EvaluatorRates
from factloop.evaluation.audit.report import AuditAt
from factloop.evaluation.audit.surface import SimilarityBin, SurfaceBias
from factloop.evaluation.audit.units import Level
from factloop.evaluation.audit.views.tables import Cell, percent
from factloop.evaluation.audit.views.terminal_layout import Block, Grid
from factloop.evaluation.audit.views.words import LEVELS, NOTHING, title_of
from factloop.evaluation.mixedqa.views.correlation_figures import coefficient

MOST_PAIRS = 15
"""Pairs of evaluators whose overlap is shown; with more, only that with the labels."""
MOST_LINES = 40
"""Of the figures by data set."""
_METHODS = {
    AdjustmentMethod.UNADJUSTED: "unadjusted",
    AdjustmentMethod.ADJUSTED_COUNTS: "counts",
    AdjustmentMethod.ZERO_BIAS: "zero bias",
    AdjustmentMethod.BALANCED_ACCURACY: "balanced",
}
_UNDEFINED = "undefined"


def grids(at: AuditAt, group: Group) -> Iterator[Grid]:
    """The tables of one data set, or of all; those of task groups and single data sets come down to one."""
    yield _rates(at, group)
    yield _biases(at, group)
    yield _order(at, group)
    yield _agreement(at, group)
    yield _adjustment(at, group)
    yield _wording(at, group)
    yield _chunking(at, group)
    if group.kind == "all":
        yield _by_group(at)


def _wide(*heads: str) -> tuple[tuple[str, int], ...]:
    """With room for an interval."""
    return tuple((head, 13) for head in heads)


def _levels(lines: Iterable[tuple[Level, str, tuple[Cell, ...]]]) -> tuple[Block, ...]:
    given = list(lines)
    return tuple(
        Block(LEVELS[level].capitalize(), tuple((name, cells) for of, name, cells in given if of is level))
        for level in Level
    )


def _estimate(one: AuditFigure) -> Cell:
    """In per cent or points."""
    if one.value is None:
        return Cell(f"{_UNDEFINED}: {one.why}", is_undefined=True)
    note = "" if one.low is None or one.high is None else f"[{percent(one.low)},{percent(one.high)}]"
    return Cell(percent(one.value), note)


def _n(scored: int, unscored: int) -> Cell:
    return Cell(f"{scored:,}", f"{unscored:,} without" if unscored else "")


def _rates(at: AuditAt, group: Group) -> Grid:
    def cells(one: EvaluatorRates) -> tuple[Cell, ...]:
        figures = map(_estimate, (one.balanced_accuracy, one.tpr, one.tnr, one.gap))
        return (*figures, _n(one.n_attributable + one.n_unattributable, one.n_unscored))

    lines = [(one.level, one.evaluator, cells(one)) for one in at.rates.rates if one.group == group]
    heads = (*_wide("balanced accuracy", "TPR", "TNR", "TPR - TNR"), ("scored", 9))
    return Grid("How often it is right, %", heads, _levels(lines))


def _biases(at: AuditAt, group: Group) -> Grid:
    def cells(one: EvaluatorBias) -> tuple[Cell, ...]:
        figures = map(_estimate, (one.mean_absolute, one.worst_absolute, one.headroom_labelled, one.headroom_bias))
        return (*figures, Cell(f"{one.n_systems:,}"))

    lines = [(one.level, one.evaluator, cells(one)) for one in at.quantification.evaluators if one.group == group]
    heads = (*_wide("mean points off", "worst system", "lowest rate by label, %", "its bias in points"), ("systems", 9))
    return Grid("Error rates of systems", heads, _levels(lines))


def _order(at: AuditAt, group: Group) -> Grid:
    heads = (*_wide("% of pairs wrong", "% of pairs reversed", "Kendall's tau", "Pearson's r"), ("pairs", 9))
    return Grid("Order of systems", heads, _levels(_order_lines(at, group)))


def _order_lines(at: AuditAt, group: Group) -> list[tuple[Level, str, tuple[Cell, ...]]]:
    found: Sequence[Ranking | MeanRanking] = (
        [one for one in at.rankings if one.dataset == group.name]
        if group.kind == "dataset"
        else [one for one in at.mean_rankings if one.group == group]
    )
    return [(one.level, one.evaluator, _order_cells(one)) for one in found]


def _order_cells(one: Ranking | MeanRanking) -> tuple[Cell, ...]:
    shares = (one.share_wrong, one.share_reversed)
    taus = (one.kendall.value, one.pearson.value) if isinstance(one, Ranking) else (one.kendall, one.pearson)
    return (
        *map(_share, shares),
        *(_or_undefined(value, coefficient(value)) for value in taus),
        Cell(f"{one.n_pairs:,}"),
    )


def _share(value: float | None, note: str = "") -> Cell:
    return _or_undefined(value, percent(value), note)


def _or_undefined(value: float | None, text: str, note: str = "") -> Cell:
    return Cell(_UNDEFINED, note, is_undefined=True) if value is None else Cell(text, note)


def _agreement(at: AuditAt, group: Group) -> Grid:
    pairs = [one for one in at.agreement.pairs if one.group == group]
    if len(pairs) > MOST_PAIRS:
        pairs = [one for one in pairs if one.other is None]
    heads = (*_wide("called wrong", "called right"), ("left out", 9))
    lines = tuple(
        (
            f"{one.evaluator} and {'the labels' if one.other is None else one.other}",
            (_estimate(one.unattributable), _estimate(one.attributable), Cell(f"{one.n_left_out:,}")),
        )
        for one in sorted(pairs, key=lambda one: one.other is not None)
    )
    return Grid("Claims that both call so, of those that either does: IoU, %", heads, (Block("", lines),))


def _adjustment(at: AuditAt, group: Group) -> Grid:
    found = (
        [(one.evaluator, one.methods) for one in at.adjustment if one.dataset == group.name]
        if group.kind == "dataset"
        else [(one.evaluator, one.methods) for one in at.mean_adjustments if one.group == group]
    )
    lines = tuple(
        (
            name,
            (
                *(
                    _share(one.mean_bias, "" if one.worst_bias is None else f"worst {percent(one.worst_bias)}")
                    for one in methods
                ),
                Cell(f"{max(one.n_calibrations for one in methods):,}"),
            ),
        )
        for name, methods in found
    )
    heads = (*_wide(*_METHODS.values()), ("trials", 9))
    return Grid("Mean points off when adjusted on one labelled system", heads, (Block("", lines),))


def _wording(at: AuditAt, group: Group) -> Grid:
    found = [one for one in at.surface if (one.group.kind, one.group.name) == (group.kind, group.name)]
    lines = [
        (f"{one.evaluator} {name}", tuple(_bin(each, name) for each in one.bins))
        for one in found
        for name in ("TPR", "TNR")
    ]
    heads = tuple((head, 11) for head in ("least alike", "2nd fifth", "3rd fifth", "4th fifth", "most alike"))
    blocks = (Block("", ((_RANGE, _ranges(found)), *lines) if found else ()),)
    return Grid("Rates by wording that the claim shares with the document, %", heads, blocks)


_RANGE = "ROUGE-2"


def _ranges(found: Sequence[SurfaceBias]) -> tuple[Cell, ...]:
    """Of the first evaluator that scored a claim; others may have left some out."""
    one = max(found, key=lambda one: one.n)
    return tuple(
        Cell(NOTHING if each.low is None or each.high is None else f"{each.low:.2f}-{each.high:.2f}")
        for each in one.bins
    )


def _bin(one: SimilarityBin, name: str) -> Cell:
    share, n = (one.tpr, one.n_attributable) if name == "TPR" else (one.tnr, one.n_unattributable)
    return Cell(NOTHING if share is None else percent(share), f"of {n:,}", is_undefined=share is None)


def _chunking(at: AuditAt, group: Group) -> Grid:
    lines = tuple(
        (one.chunked, (*_changes(one.within), *_changes(one.across)))
        for one in at.chunking
        if (one.group.kind, one.group.name) == (group.kind, group.name)
    )
    heads = _wide("one chunk has it: changed", "lost", "no chunk has it: changed", "lost")
    return Grid("Predictions that change when documents are cut, %", heads, (Block("", lines),))


def _changes(found: Changes) -> tuple[Cell, ...]:
    return _share(found.share_changed, f"of {found.n:,}"), _share(found.share_lost, f"of {found.n:,}")


def _by_group(at: AuditAt) -> Grid:
    """The leading figures on each data set and task group, at claim level; nothing where there are very many."""
    names = list(dict.fromkeys(one.evaluator for one in at.rates.rates))
    groups = list(dict.fromkeys(one.group for one in at.rates.rates if one.group.kind != "all"))
    blocks = (
        Block(title_of(group), tuple((name, _group_cells(at, name, group)) for name in names)) for group in groups
    )
    heads = tuple(
        (head, 11)
        for head in ("balanced accuracy", "TPR - TNR", "mean points off", "% of pairs wrong", "Kendall's tau")
    )
    return Grid("Claims, by data set", heads, tuple(blocks) if len(groups) * len(names) <= MOST_LINES else ())


def _group_cells(at: AuditAt, evaluator: str, group: Group) -> tuple[Cell, ...]:
    rates, bias = at.rates.find(evaluator, group), at.quantification.find(evaluator, group)
    order = next(cells for level, name, cells in _order_lines(at, group) if (level, name) == (Level.CLAIM, evaluator))
    figures = (rates.balanced_accuracy, rates.gap, bias.mean_absolute)
    return (*(_or_undefined(one.value, percent(one.value)) for one in figures), order[0], order[2])
