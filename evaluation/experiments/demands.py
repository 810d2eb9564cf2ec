"""Demands on an experiment: the metrics that can be demanded, and the differences that demands are about."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial

from factloop.core.errors import ConfigError
from factloop.evaluation.comparing.demands import FLAG, Demand, DemandedDifference, refuse_margin_of_share
from factloop.evaluation.experiments.differences import Contrast
from factloop.evaluation.experiments.report import Quantity
from factloop.evaluation.experiments.words import amount, direction_of, item_of, name_of
from factloop.evaluation.statistics.stratified_means import StratifiedMean
from factloop.reports.figures import plural

METRICS = tuple(one.value for one in Quantity if direction_of(one))
"""The quantities of which one direction is better."""
_AMOUNTS = frozenset({Quantity.COST_USD.value, Quantity.TOKENS.value})
"""Those of them that are no share, and may differ by any amount."""


def refuse_demands(demands: Sequence[Demand]) -> None:
    """Raises ConfigError for an unknown metric, one of which neither direction is better, or a margin past a share."""
    for one in demands:
        if one.metric not in METRICS or one.k is not None:
            known = one.metric in {quantity.value for quantity in Quantity}
            why = "neither direction of it is better between judges" if known else "there is no such metric"
            raise ConfigError(f"{FLAG} {one.name}: {why}; it is one of {', '.join(METRICS)}")
        if one.metric not in _AMOUNTS:
            refuse_margin_of_share(one)


def demanded(
    demands: Sequence[Demand], contrasts: Sequence[Contrast], variants: Sequence[str], kind: str
) -> Iterator[DemandedDifference]:
    """Each demand on each variant but the baseline; a metric that the results do not allow is undefined."""
    for demand in demands:
        quantity = Quantity(demand.metric)
        better = direction_of(quantity)
        for place in range(1, len(variants)):
            one = next((one for one in contrasts if _key(one) == (quantity, 0, place)), None)
            noun = item_of(quantity, kind)
            yield DemandedDifference(
                demand=demand,
                first=variants[0],
                second=variants[place],
                gain=None if one is None else one.apart if better > 0 else _turned(one.apart),
                name=name_of(quantity),
                amount=partial(amount, quantity=quantity, signed=True),
                basis="" if one is None else _basis(one.apart, noun),
                better=better,
                why=_why(one),
            )


def _key(one: Contrast) -> tuple[Quantity, int, int]:
    return one.values.quantity, one.first, one.second


def _turned(apart: StratifiedMean) -> StratifiedMean:
    return StratifiedMean(-apart.sums, apart.counts)


def _basis(apart: StratifiedMean, noun: str) -> str:
    return f"n = {plural(apart.n, noun)} in {plural(apart.n_clusters, 'group')}"


def _why(one: Contrast | None) -> str:
    if one is None:
        return "the experiment does not measure it"
    why = one.values.undefined(one.apart)
    return "" if why is None else why.words
