"""Demands on a comparison, for continuous integration: no other side may be worse than the first.

A demand without a margin fails where a loss is shown; one with a margin fails unless a loss as large as the margin is
ruled out, which is a test of non-inferiority. Both are one-sided sign-flip tests of whole groups. The first lets
through what too few items cannot show, the second does not.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from factloop.core.errors import ConfigError
from factloop.evaluation.comparing.differences import Contrast
from factloop.evaluation.comparing.records import DemandResult, Quantity
from factloop.evaluation.comparing.table import ItemValues
from factloop.evaluation.comparing.words import amount, direction_of, equals, item_of, name_of, p_value, size
from factloop.evaluation.statistics.discrete_tests import DiscreteTest, holm_tarone
from factloop.evaluation.statistics.sign_flip_intervals import noninferiority_p, sign_flip_interval
from factloop.evaluation.statistics.significance import least_p
from factloop.evaluation.statistics.stratified_means import StratifiedMean
from factloop.reports.figures import plural

FLAG = "--fail-if-worse"
_FORM = re.compile(r"(?P<metric>[a-z0-9_]+)(?:@(?P<k>[1-9][0-9]*))?(?::(?P<margin>.+))?")


@dataclass(frozen=True)
class Demand:
    """What is asked for: a metric, and the loss that is too much."""

    metric: str
    k: int | None = None
    """The K of F1@K."""
    margin: float | None = None
    """Above 0, in the metric's own unit, of a share below 1; None where only a loss that is shown is too much."""

    @property
    def name(self) -> str:
        """`tnr`, `f1@64`."""
        return self.metric if self.k is None else f"{self.metric}@{self.k}"


METRICS = tuple(one.value for one in Quantity if direction_of(one))
"""The quantities of which one direction is better between judges."""
_AMOUNTS = frozenset({Quantity.COST_USD.value, Quantity.TOKENS.value})
"""Quantities that are no share, and may differ by any amount."""


@dataclass(frozen=True)
class DemandedDifference:
    """A demand with the difference that it is about; None where the metric was not measured."""

    demand: Demand
    first: str
    second: str
    kind: str
    """Of the data: `claims`, `responses`."""
    group: str
    contrast: Contrast | None

    @property
    def quantity(self) -> Quantity:
        return Quantity(self.demand.metric)

    @property
    def better(self) -> int:
        """1 where more of the metric is better, -1 where less is."""
        return direction_of(self.quantity) or 1

    @property
    def gain(self) -> StratifiedMean | None:
        """Second minus first, turned where less is better: above 0 the second is better."""
        if self.contrast is None:
            return None
        apart = self.contrast.apart
        return apart if self.better > 0 else StratifiedMean(-apart.sums, apart.counts)

    @property
    def why(self) -> str:
        """Why there is no difference."""
        if self.contrast is None:
            return "it is not measured here"
        why = self.contrast.values.undefined(self.contrast.apart)
        return "" if why is None else why.words


def read_demand(text: str) -> Demand:
    """`METRIC`, `METRIC:MARGIN`, `f1@K:MARGIN`. Raises ConfigError for anything else."""
    found = _FORM.fullmatch(text.strip())
    if found is None:
        raise ConfigError(f"{FLAG} {text!r}: METRIC or METRIC:MARGIN, such as tnr or balanced_accuracy:0.05")
    margin = None
    if (given := found["margin"]) is not None:
        try:
            margin = float(given)
        except ValueError:
            margin = math.nan
        if not 0.0 < margin < math.inf:
            raise ConfigError(f"{FLAG} {text!r}: the margin is a number above 0; without one, leave out the colon")
    return Demand(found["metric"], None if found["k"] is None else int(found["k"]), margin)


def refuse_demands(demands: Sequence[Demand], metrics: Sequence[str] = METRICS, of: str = "variants") -> None:
    """Raises ConfigError for a metric that is not among these (`tnr`, `f1@64`), or a margin that no share can reach."""
    for one in demands:
        name = one.name
        if not any(_is_about(one, metric) for metric in metrics):
            raise ConfigError(f"{FLAG} {name}: of {of} there is {', '.join(metrics) or 'nothing to demand'}")
        if one.margin is not None and one.margin >= 1.0 and one.metric not in _AMOUNTS:
            of_share = f"{FLAG} {name}:{one.margin:g}: the margin of a share is below 1"
            raise ConfigError(f"{of_share}: 0.05 is five points")


def demanded(
    demands: Sequence[Demand], contrasts: Sequence[Contrast], sides: Sequence[str], kind: str, group: str = "group"
) -> Iterator[DemandedDifference]:
    """Each demand on each side but the first; `f1` without a K is F1 at every K that is compared."""
    for demand in demands:
        for place in range(1, len(sides)):
            pairs = [one for one in contrasts if (one.first, one.second) == (0, place)]
            about: list[Contrast | None] = [one for one in pairs if _is_about(demand, metric_of(one.values))]
            for one in about or [None]:
                of_k = demand if one is None else replace(demand, k=one.values.k)
                yield DemandedDifference(of_k, sides[0], sides[place], kind, group, one)


def metric_of(values: ItemValues) -> str:
    """`tnr`, `f1@64`."""
    return Demand(values.quantity.value, values.k).name


def _is_about(demand: Demand, metric: str) -> bool:
    return metric == demand.name or (demand.k is None and metric.partition("@")[0] == demand.metric)


def judge_demands(asked: Sequence[DemandedDifference], *, alpha: float, seed: int) -> tuple[DemandResult, ...]:
    """Whether each demand is met, in the order given; one whose difference is undefined is not."""
    tests = [_test(one) for one in asked]
    family = [test if one.demand.margin is None else None for one, test in zip(asked, tests, strict=True)]
    adjusted = iter(holm_tarone([test for test in family if test is not None]))
    held = [None if test is None else next(adjusted) for test in family]
    return tuple(
        _result(one, test, of_test, alpha, seed) for one, test, of_test in zip(asked, tests, held, strict=True)
    )


def _test(one: DemandedDifference) -> DiscreteTest | None:
    if one.gain is None or one.gain.value is None:
        return None
    if one.demand.margin is None:
        loss = StratifiedMean(-one.gain.sums, one.gain.counts)
        p, least = noninferiority_p(loss, 0.0), least_p(loss.parts) / 2.0
    else:
        p, least = noninferiority_p(one.gain, one.demand.margin), 0.0
    return None if p is None else DiscreteTest(p, min(p, least))


def _result(
    one: DemandedDifference, test: DiscreteTest | None, p_adjusted: float | None, alpha: float, seed: int
) -> DemandResult:
    gain, margin = None if one.gain is None else one.gain.value, one.demand.margin
    held = None if test is None else test.p if p_adjusted is None else p_adjusted
    is_met = held is not None and (held > alpha if margin is None else held <= alpha)
    rng = np.random.default_rng(seed)
    interval = None if one.gain is None else sign_flip_interval(one.gain, 1.0 - 2.0 * alpha, rng)
    found = DemandResult(
        metric=one.demand.name,
        first=one.first,
        second=one.second,
        margin=margin,
        loss=None if gain is None else 0.0 - gain,
        largest_loss=None if interval is None else 0.0 - interval[0],
        p=None if test is None else test.p,
        p_corrected=held,
        is_met=is_met,
        words="",
    )
    return found.model_copy(update={"words": _words(one, found)})


def _words(one: DemandedDifference, found: DemandResult) -> str:
    quantity = one.quantity
    where = f"{one.second} against {one.first} in {name_of(quantity, one.demand.k)}"
    if found.loss is None or found.p is None or found.p_corrected is None or one.contrast is None:
        return f"{where}: cannot be tested, {one.why or 'nothing scored'}"
    apart = amount(-one.better * found.loss, quantity, signed=True)
    adjusted = "" if found.p_corrected == found.p else f", {p_value(found.p_corrected)} adjusted"
    n = plural(one.contrast.apart.n, item_of(quantity, one.kind))
    rests_on = f"n = {n} from {plural(one.contrast.apart.n_clusters, one.group)}"
    grounds = f"{apart}, one-sided p {equals(found.p)}{adjusted}, {rests_on}"
    if found.margin is None:
        return f"{where}: {'no loss shown' if found.is_met else 'a loss is shown'} ({grounds})"
    too_much = f"a loss of {size(found.margin, quantity)} or more"
    if found.is_met:
        return f"{where}: {too_much} is ruled out ({grounds})"
    return f"{where}: {too_much} is not ruled out ({grounds})"
