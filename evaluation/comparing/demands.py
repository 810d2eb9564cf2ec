"""Checks demands on a comparison, for continuous integration: no side may be worse than the first.

There are three kinds of demand:
- `tnr` fails if a loss relative to the first side is shown.
- `tnr:0.05` fails unless a loss of 0.05 or more can be ruled out (a test of non-inferiority).
- `tpr >= 0.8` and `flips <= 3` are bounds on the observed values.

With too few items to show a loss, `tnr` is met but `tnr:0.05` is not. Both use one-sided sign-flip tests that flip
whole groups. Sign flips assume symmetric differences, which is wrong if a side only loses claims, so for a proportion
of claims an exact binomial test must also rule out the loss.

Missing verdicts never help. Each loss is tested over the items that both sides judged, then over all items with missing
verdicts counted as wrong on both sides, then with missing verdicts counted as right. All three tests must pass.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np

from factloop.core.errors import ConfigError
from factloop.core.figure import Undefined
from factloop.evaluation.comparing.differences import Contrast, detectable
from factloop.evaluation.comparing.paired import POWER
from factloop.evaluation.comparing.records import DemandResult, Quantity
from factloop.evaluation.comparing.table import CODES, NOT_SUPPORTED, SUPPORTED, ItemValues
from factloop.evaluation.comparing.words import amount, direction_of, equals, is_share, item_of, name_of, p_value, size
from factloop.evaluation.statistics.discrete_tests import DiscreteTest, holm_tarone
from factloop.evaluation.statistics.sign_flip_intervals import noninferiority_p, sign_flip_interval
from factloop.evaluation.statistics.significance import least_p
from factloop.evaluation.statistics.stratified_means import StratifiedMean
from factloop.reports.figures import plural

FLIPS = "flips"
"""The number of claims that the first side gets right, and the other gets wrong or leaves unscored."""
METRICS = tuple(one.value for one in Quantity if direction_of(one))
"""The quantities for which either higher or lower values are better."""
_FORM = re.compile(r"(?P<metric>[a-z0-9_]+)(?:@(?P<k>[1-9][0-9]*))?(?:(?P<sign>:|\s*[<>]=)(?P<bound>.+))?")
_FORMS = "METRIC, METRIC:MARGIN, METRIC >= NUMBER or METRIC <= NUMBER, such as tnr, tnr:0.05, tpr >= 0.8 or flips <= 3"
_ROUNDING = 1e-9
_ANY = tuple(CODES.values())
_LABELS = {"tpr": (SUPPORTED,), "tnr": (NOT_SUPPORTED,), "balanced_accuracy": _ANY, "accuracy": _ANY, FLIPS: _ANY}
"""The labels of the claims that each metric covers. Metrics without labels are absent."""
_WAYS = ("", ", with missing verdicts counted as wrong", ", with missing verdicts counted as right")


@dataclass(frozen=True)
class Demand:
    metric: str
    k: int | None = None
    margin: float | None = None
    """Smaller losses are accepted. Above 0, and below 1 for a proportion. If None, only a loss that is shown fails."""
    least: float | None = None
    most: float | None = None
    """Bounds on the side's own value, or on its number of flips. A demand with a bound has no margin."""

    @property
    def name(self) -> str:
        """The metric as written in a demand, such as `tnr` or `f1@64`."""
        return self.metric if self.k is None else f"{self.metric}@{self.k}"

    @property
    def text(self) -> str:
        """The demand as written, such as `tnr:0.05` or `tpr >= 0.8`."""
        parts = ((":", self.margin), (" >= ", self.least), (" <= ", self.most))
        return self.name + "".join(f"{sign}{one:g}" for sign, one in parts if one is not None)

    @property
    def is_bound(self) -> bool:
        return self.least is not None or self.most is not None

    def allows(self, value: float) -> bool:
        is_enough = self.least is None or value >= self.least - _ROUNDING
        return is_enough and (self.most is None or value <= self.most + _ROUNDING)


def read_demand(text: str) -> Demand:
    """Parses `METRIC`, `METRIC:MARGIN`, `METRIC >= NUMBER` or `METRIC <= NUMBER`. `METRIC` may be `f1@K`. Raises
    ConfigError if the demand is malformed or its number is invalid."""
    found = _FORM.fullmatch(text.strip())
    if found is None:
        raise ConfigError(f"demand {text!r} must have the form {_FORMS}")
    k = None if found["k"] is None else int(found["k"])
    if found["sign"] is None:
        return Demand(found["metric"], k)
    try:
        bound = float(found["bound"])
    except ValueError:
        bound = math.nan
    if found["sign"] == ":":
        if not 0.0 < bound < math.inf:
            raise ConfigError(
                f"demand {text!r}: the margin must be above 0; for a demand without a margin, omit the colon"
            )
        return Demand(found["metric"], k, bound)
    if not 0.0 <= bound < math.inf:
        raise ConfigError(f"demand {text!r} must have the form {_FORMS}")
    return Demand(found["metric"], k, **{"least" if ">" in found["sign"] else "most": bound})


def refuse_demands(demands: Sequence[Demand], metrics: Sequence[str] = METRICS, of: str = "variants") -> None:
    """Raises ConfigError if a demand's metric is not in `metrics`, or if its number is impossible for a proportion."""
    for one in demands:
        name = one.name
        if name == FLIPS and one.most is not None:
            continue
        if not any(_is_about(one, metric) for metric in metrics):
            known = ", ".join((*metrics, f"{FLIPS} <= NUMBER"))
            raise ConfigError(f"demand {name}: unknown metric for {of}; use one of these: {known}")
        if one.margin is not None and one.margin >= 1.0 and is_share(Quantity(one.metric)):
            raise ConfigError(
                f"demand {one.text}: the margin of a share must be below 1; 0.05 means five percentage points"
            )
        if max(one.least or 0.0, one.most or 0.0) > 1.0 and is_share(Quantity(one.metric)):
            raise ConfigError(f"demand {one.text}: a share must be at most 1; 0.9 means 90%")


def metric_of(values: ItemValues) -> str:
    return Demand(values.quantity.value, values.k).name


def _is_about(demand: Demand, metric: str) -> bool:
    return metric == demand.name or (demand.k is None and metric.partition("@")[0] == demand.metric)


DIFFERING = 0.4
"""The assumed fraction of items on which the verdicts of two equally good sides differ or one verdict is missing."""


def items_needed(margin: float, alpha: float) -> int:
    """Returns how many independent items an equally good side needs to pass `METRIC:MARGIN` nine times out of ten.

    Approximates the test by a normal distribution, and assumes that items differ by -1 or 1 with probability
    `DIFFERING`.
    """
    from scipy.special import ndtri  # type: ignore[import-untyped]  # its stubs are not a dependency

    reach = float(ndtri(1.0 - alpha)) * math.sqrt(DIFFERING + margin**2) + float(ndtri(0.9)) * math.sqrt(DIFFERING)
    return math.ceil((reach / margin) ** 2)


def shown_by(n: float, alpha: float) -> float:
    """Returns the true difference that n independent items would show with probability `POWER`. The approximation is
    that of `items_needed`, but for a two-sided test."""
    from scipy.special import ndtri

    return float(ndtri(1.0 - alpha / 2.0) + ndtri(POWER)) * math.sqrt(DIFFERING / n)


class Missed(NamedTuple):
    text: str
    label: int
    """A verdict code from `table`."""
    is_lost: bool
    has_verdict: bool = True

    @property
    def marked(self) -> str:
        """The text with its marks, such as `c1: The tower is old. (flipped)`."""
        marks = ["flipped"] * self.is_lost + ["no verdict"] * (not self.has_verdict)
        return f"{self.text} ({', '.join(marks)})" if marks else self.text


@dataclass(frozen=True)
class Judged:
    sides: Sequence[str]
    kind: str
    quantities: Sequence[ItemValues]
    contrasts: Sequence[Contrast]
    missed: Mapping[str, Sequence[Missed] | None]
    """For each side but the first, the claims that it gets wrong or leaves unscored. None without labels."""
    group: str = "group"
    causes: Mapping[str, str] = field(default_factory=dict)
    """For each side that left claims without a verdict, the first reason."""


def judge_demands(demands: Sequence[Demand], on: Judged, *, alpha: float, seed: int) -> tuple[DemandResult, ...]:
    """Checks each demand on every side but the first. A demand that cannot be tested is not met. If there is only one
    side, bounds apply to it."""
    asked = [one for demand in demands for one in _asked(demand, on)]
    tests = [[one.test(gain) for gain in one.gains] for one in asked]
    family = [test for one, found in zip(asked, tests, strict=True) if one.demand.margin is None for test in found]
    adjusted = iter(holm_tarone(family))
    held = [
        [test.p if one.demand.margin is not None else next(adjusted) for test in found]
        for one, found in zip(asked, tests, strict=True)
    ]
    return tuple(
        one.bounded() if one.demand.is_bound else one.tested([test.p for test in found], of_tests, alpha, seed)
        for one, found, of_tests in zip(asked, tests, held, strict=True)
    )


def _asked(demand: Demand, on: Judged) -> Iterator[_Asked]:
    """Yields the demand for each side to check. `f1` without a K means F1 at every K compared."""
    for side in range(1, len(on.sides)) or (0,):
        pairs = [] if demand.is_bound else [one for one in on.contrasts if (one.first, one.second) == (0, side)]
        about = [one for one in pairs if _is_about(demand, metric_of(one.values))]
        yield from (_Asked(replace(demand, k=one.values.k), side, on, one) for one in about)
        if not about:
            yield _Asked(demand, side, on)


@dataclass(frozen=True)
class _Losses:
    """The proportions of claims lost and won, and the number n of independent claims behind them.

    Claims in a group count as if they were identical (Kish 1965), so n is the number of groups if all have the same
    weight. If one label is rare, n is based on its claims, because the others weigh less.
    """

    lost: float
    won: float
    n: float

    @classmethod
    def of(cls, gain: StratifiedMean) -> _Losses:
        of_labels = gain.counts.sum(axis=1) ** 2 / (gain.counts**2).sum(axis=1)
        n = min(len(of_labels) * of_labels.min(), 1.0 / (gain.weights**2).sum())
        return cls(-gain.parts.clip(max=0.0).sum(), gain.parts.clip(min=0.0).sum(), float(n))

    def p(self, margin: float) -> float:
        """Returns the probability of so few losses if losses exceeded wins by `margin`. Exact if there are no wins."""
        from factloop.evaluation.cascades.bounds import p_values

        return float(p_values(self.n * self.lost, self.n, min(margin + self.won, 1.0)))

    def most(self, alpha: float) -> float:
        """Returns the smallest margin with p at most alpha: the Clopper-Pearson upper bound minus the wins."""
        from factloop.evaluation.cascades.bounds import upper_bound

        return (upper_bound(self.n * self.lost, self.n, alpha) or 0.0) - self.won


@dataclass(frozen=True)
class _Asked:
    """A demand on one side. The contrast is None for a bound, or if the metric was not measured."""

    demand: Demand
    side: int
    on: Judged
    contrast: Contrast | None = None

    @property
    def better(self) -> int:
        """1 if higher is better, -1 if lower is."""
        return direction_of(Quantity(self.demand.metric)) or 1

    @property
    def gains(self) -> list[StratifiedMean]:
        if self.contrast is None or self.contrast.apart.value is None:
            return []
        return [StratifiedMean(self.better * way.apart.sums, way.apart.counts) for way in self.contrast.ways]

    @property
    def is_of_claims(self) -> bool:
        quantity = Quantity(self.demand.metric)
        return is_share(quantity) and item_of(quantity, self.on.kind) == "claim"

    def test(self, gain: StratifiedMean) -> DiscreteTest:
        if (margin := self.demand.margin) is not None:
            p = noninferiority_p(gain, margin)
            return DiscreteTest(max(p, _Losses.of(gain).p(margin)) if self.is_of_claims else p, 0.0)
        loss = StratifiedMean(-gain.sums, gain.counts)
        p = noninferiority_p(loss, 0.0)
        return DiscreteTest(p, min(p, least_p(loss.parts) / 2.0))

    def tested(self, p: Sequence[float], held: Sequence[float], alpha: float, seed: int) -> DemandResult:
        """Reports the way of counting missing verdicts that is worst for this side."""
        quantity, margin, on = Quantity(self.demand.metric), self.demand.margin, self.on
        name = f"{on.sides[self.side]} against {on.sides[0]} in {name_of(quantity, self.demand.k)}"
        if not held or self.contrast is None:
            undefined = None if self.contrast is None else self.contrast.values.undefined(self.contrast.apart)
            why = "this metric was not measured" if undefined is None else undefined.words
            is_open = undefined in (Undefined.NOTHING_SCORED, Undefined.NOT_BOTH_SCORED)
            return self._result(is_met=False, words=f"{name}: cannot be tested because {why}", is_open=is_open)
        way = held.index(min(held) if margin is None else max(held))
        gain = self.gains[way]
        is_met = held[way] > alpha if margin is None else held[way] <= alpha
        interval = sign_flip_interval(gain, 1.0 - 2.0 * alpha, np.random.default_rng(seed))
        adjusted = "" if held[way] == p[way] else f", {p_value(held[way])} adjusted"
        rests_on = f"n = {plural(gain.n, item_of(quantity, on.kind))} from {plural(gain.n_clusters, on.group)}"
        apart = amount(self.better * (gain.value or 0.0), quantity, signed=True)
        if margin is None:
            said = "no loss shown" if is_met else "a loss is shown"
        else:
            said = f"a loss of {size(margin, quantity)} or more is {'' if is_met else 'not '}ruled out"
        largest = [] if interval is None else [0.0 - interval[0]]
        largest += [_Losses.of(gain).most(alpha)] if self.is_of_claims else []
        return self._result(
            loss=0.0 - (gain.value or 0.0),
            largest_loss=max(largest, default=None),
            p=p[way],
            p_corrected=held[way],
            is_met=is_met,
            is_open=any((one > alpha) is (margin is None) for one in held),
            words=f"{name}: {said} ({apart}, one-sided p {equals(p[way])}{adjusted}, {rests_on}{_WAYS[way]})",
            caution=_left_open(gain, quantity, alpha, on) if margin is None and is_met else "",
        )

    def bounded(self) -> DemandResult:
        """If the metric needs labels, missing verdicts count as wrong."""
        demand, on, side = self.demand, self.on, self.on.sides[self.side]
        value: float | None = None
        at_best: float | None = None
        if demand.metric == FLIPS:
            shown = "flips cannot be counted without labels"
            if (missed := on.missed.get(side)) is not None:
                value, at_best = (sum(one.is_lost and (one.has_verdict or way) for one in missed) for way in (1, 0))
                shown = f"{plural(value, 'flip')} for the worse"
        else:
            quantity = Quantity(demand.metric)
            about = [one for one in on.quantities if _is_about(demand, metric_of(one))]
            ways = [[one.mean_if(self.side, right=way) for one in about] for way in (False, True)]
            value, at_best = (self._farthest([mean.value for mean in means]) for means in ways)
            if self._farthest([one.mean(self.side).value for one in about]) is None:
                value = None
            rests_on = "" if value is None else f" (n = {plural(ways[0][0].n, item_of(quantity, on.kind))})"
            figure = "undefined" if value is None else amount(value, quantity)
            shown = f"{name_of(quantity, demand.k)} {figure}{rests_on}"
        is_met = value is not None and demand.allows(value)
        bound = f"at least {demand.least:g}" if demand.least is not None else f"at most {demand.most:g}"
        is_open = at_best is not None and (value is None or demand.allows(at_best))
        return self._result(value=value, is_met=is_met, words=f"{side}: {shown}, {bound} required", is_open=is_open)

    def _farthest(self, values: Sequence[float | None]) -> float | None:
        known = [value for value in values if value is not None]
        return None if len(known) < max(1, len(values)) else (min if self.demand.most is None else max)(known)

    def _result(self, *, is_open: bool, **found: Any) -> DemandResult:
        """`is_open` means that the demand could be met if every claim had a verdict."""
        first, side = self.on.sides[0], self.on.sides[self.side]
        about = () if found["is_met"] else _LABELS.get(self.demand.metric, ())
        missed = [one for one in self.on.missed.get(side) or () if one.label in about]
        is_least = self.demand.least is not None
        claims = [one.marked if is_least else one.text for one in missed if is_least or one.is_lost]
        causes = [self.on.causes.get(name, "") for name in (side, first) if is_open and not found["is_met"]]
        named = {"metric": self.demand.name, "demand": self.demand.text, "margin": self.demand.margin}
        of = {"first": first, "second": side, "claims": claims, "unscored": next(filter(None, causes), "")}
        return DemandResult.model_validate({**named, **found, **of})


def _left_open(gain: StratifiedMean, quantity: Quantity, alpha: float, on: Judged) -> str:
    """Says how large a loss could go unnoticed, or returns an empty string if nothing varies."""
    seen, few = detectable(gain, alpha=2.0 * alpha, n_tests=1), f"with so few {item_of(quantity, on.kind)}s,"
    if is_share(quantity):
        seen = _Losses.of(gain).most(alpha) if seen is None else seen
        if seen >= 1.0:
            return f"{few} no loss could be shown"
    return "" if seen is None else f"{few} a loss of less than {size(seen, quantity)} could easily go unnoticed"
