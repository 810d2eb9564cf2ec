"""Demands on a comparison, for continuous integration: the second side must not be worse than the first.

A demand without a margin fails where a loss is shown; one with a margin fails unless a loss as large as the margin is
ruled out, which is a test of non-inferiority. Both are one-sided sign-flip tests of whole groups. The first lets
through what too few items cannot show, the second does not.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from factloop.core.errors import ConfigError
from factloop.evaluation.comparing.paired import POWER
from factloop.evaluation.comparing.records import DemandResult
from factloop.evaluation.comparing.words import equals, p_value
from factloop.evaluation.statistics.discrete_tests import DiscreteTest, holm_tarone
from factloop.evaluation.statistics.sign_flip_intervals import noninferiority_p, sign_flip_interval
from factloop.evaluation.statistics.significance import least_p
from factloop.evaluation.statistics.stratified_means import StratifiedMean

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


@dataclass(frozen=True)
class DemandedDifference:
    """A demand with the difference that it is about."""

    demand: Demand
    first: str
    second: str
    gain: StratifiedMean | None
    """Second minus first, turned where less is better: above 0 the second is better. None where the
    metric was not measured."""
    name: str
    """The metric in words."""
    amount: Callable[[float], str]
    """A difference in words, with its sign."""
    basis: str
    """`n = 120 claims in 40 groups`."""
    better: int = 1
    """1 where more of the metric is better, -1 where less is."""
    why: str = ""
    """Why there is no difference."""


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


def refuse_margin_of_share(demand: Demand) -> None:
    """Raises ConfigError for a margin that no loss in a share can reach, such as 5 for five points."""
    if demand.margin is not None and demand.margin >= 1.0:
        of = f"{FLAG} {demand.name}:{demand.margin:g}"
        raise ConfigError(f"{of}: the margin of a share is below 1: 0.05 is five points")


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
    return found.model_copy(update={"words": _words(one, found, alpha)})


def _words(one: DemandedDifference, found: DemandResult, alpha: float) -> str:
    where = f"{one.second} against {one.first} in {one.name}"
    if found.loss is None or found.p is None or found.p_corrected is None:
        return f"{where}: cannot be said, {one.why or 'nothing scored'}"
    apart = one.amount(-one.better * found.loss)
    adjusted = "" if found.p_corrected == found.p else f", {p_value(found.p_corrected)} adjusted"
    grounds = f"{apart}, one-sided p {equals(found.p)}{adjusted}, {one.basis}"
    if found.margin is None:
        return f"{where}: {'no loss shown' if found.is_met else 'a loss is shown'} ({grounds})"
    too_much = f"a loss of {_size(one, found.margin)} or more"
    if found.is_met:
        return f"{where}: {too_much} is ruled out ({grounds})"
    return f"{where}: {too_much} is not ruled out ({grounds}){_needed_words(one, found.margin, alpha)}"


def _size(one: DemandedDifference, value: float) -> str:
    return one.amount(abs(value)).lstrip("+")


def _needed_words(one: DemandedDifference, margin: float, alpha: float) -> str:
    needed = None if one.gain is None else groups_needed(one.gain, margin, alpha=alpha)
    if one.gain is None or needed is None or needed <= one.gain.n_clusters:
        return ""
    return f"; about {needed:,} such groups would rule it out 4 times out of 5 if there is none"


def groups_needed(gain: StratifiedMean, margin: float, *, alpha: float) -> int | None:
    """The number of groups that would rule out a loss of `margin` with a chance of `POWER`, were there no difference.

    n (c SE / margin)^2 with c = z(1 - alpha) + z(power), as if the sum over groups were normal, and no fewer than those
    whose signs can reach alpha. None where a stratum has fewer than two groups.
    """
    from scipy.special import ndtri  # type: ignore[import-untyped]  # its stubs are no dependency

    error = gain.standard_error
    if error is None:
        return None
    both = float(ndtri(1.0 - alpha) + ndtri(POWER))
    least = math.ceil(math.log2(1.0 / alpha))
    return max(least, math.ceil(gain.n_clusters * (both * error / margin) ** 2))
