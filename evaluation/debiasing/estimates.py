"""Estimates as records: intervals cut to [0, 1], cautions, and counts of what they rest on."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from factloop.core.figure import Undefined, ends
from factloop.evaluation.debiasing.records import LEVEL, Caution, Estimate, Method, Target
from factloop.evaluation.debiasing.samples import Floats, Ints, Samples
from factloop.evaluation.statistics.bootstrap import ROUNDING
from factloop.evaluation.statistics.significance import equal_weight

NO_VARIANCE = 1e-28
"""What rounding leaves of a variance of 0, at most: as a divisor it would give any weight."""


def mean_influence(values: Floats, group: Ints, n_groups: int, weights: Floats | None = None) -> Floats:
    """(n_groups,): influence of each group on the weighted mean of the values.

    The sum of their squares is the variance of the mean, with the factor g / (g - 1) for the g groups that have weight:
    with groups of one it is the sample variance over n. The square of the sum over two samples is right for groups that
    are in both, too.
    """
    weights = np.ones_like(values) if weights is None else weights
    total = weights.sum()
    moves = np.bincount(group, weights * (values - (weights * values).sum() / total) / total, minlength=n_groups)
    g = len(np.unique(group[weights > 0]))
    return np.asarray(moves * np.sqrt(g / (g - 1)) if g > 1 else moves)


def run_rate_influence(samples: Samples) -> Floats:
    """Influence on the share of supported among the run's scored claims, which is a ratio of sums over responses."""
    rates = np.divide(samples.supported, samples.scored, out=np.zeros_like(samples.scored), where=samples.scored > 0)
    return mean_influence(rates, samples.run_group, samples.n_groups, samples.scored)


def labelled_influence(values: Floats, samples: Samples, among: Floats | None = None) -> Floats:
    """Influence on the weighted mean of a value of the labelled claims, over those where `among` is 1."""
    weights = samples.label_weight if among is None else samples.label_weight * among
    return mean_influence(values, samples.label_group, samples.n_groups, weights)


UNSEEN_ERRORS = 0.5
"""Errors that a variance counts beyond those seen."""


def unseen_variance(samples: Samples, open_share: Floats | float = 1.0) -> float:
    """What `UNSEEN_ERRORS` add to the variance of a weighted mean.

    A judge is wrong on few of the claims that it is sure of, and those are drawn rarely and count for much: a draw
    without such an error shows no spread, where another has most of it. So half an error more than was seen enters the
    variance, as Jeffreys' prior has it for a share (Brown, Cai and DasGupta 2001), with the weight of a claim of the
    verdict whose claims count for more. `open_share`: 1 - p of each claim where those of the run are all that is asked
    for.
    """
    weight = samples.label_weight
    squares, is_supported = open_share * weight**2, samples.verdict >= 0.5
    heaviest = max(float(squares[is_supported == kind].mean()) for kind in np.unique(is_supported))
    return UNSEEN_ERRORS * heaviest / float(weight.sum()) ** 2


def unseen_variance_of_rate(samples: Samples, among: Floats) -> float:
    """What `UNSEEN_ERRORS` are to the variance of a rate of 0 or 1, that of the labelled claims where `among` is 1.

    Without them such a rate from four claims would be taken for certain. Claims of one group count as one.
    """
    weights = np.bincount(samples.label_group, samples.label_weight * among, minlength=samples.n_groups)
    of_groups = weights[weights > 0]
    return float(UNSEEN_ERRORS * np.mean(of_groups**2) / of_groups.sum() ** 2)


def covariance(one: Floats, other: Floats) -> float:
    """The covariance of two estimates, from their influences."""
    return float(one @ other)


def t_quantile(n_groups: int, level: float = LEVEL, moves: Floats | None = None) -> float:
    """Student's t with one degree of freedom fewer than there are groups, as the variance is estimated from them.

    `moves`: the influences whose squares make up that variance. Where a few responses hold most of the errors, a few
    squares make up most of it, and it is known less well: then it has as many degrees of freedom as there would be
    groups of equal weight (`equal_weight`). Satterthwaite (1946) would have up to twice as many, which allows for a
    variance that is off but not for one that is low just where a sample holds few errors: by
    `benchmarks.correction_coverage` the truth then lay below 95 % intervals of accurate systems in up to 6 %.
    """
    from scipy import stats  # type: ignore[import-untyped]  # its stubs are no dependency

    freedom = n_groups - 1.0 if moves is None else min(n_groups - 1.0, max(1.0, equal_weight(moves)))
    return float(stats.t.ppf((1.0 + level) / 2.0, freedom))


FEWEST_GROUPS = 30
"""Below this, intervals from the normal distribution are known to be too narrow for shares."""
FEWEST_OF_A_CLASS = 10
"""Groups with a label of the rarer class. Below this the variance of an interval rests on a handful of responses."""


def with_interval(
    method: Method,
    value: float,
    interval: tuple[float, float] | None,
    samples: Samples,
    level: float,
    *,
    weight: float | None = None,
    cautions: Iterable[Caution] = (),
    is_census: bool = False,
) -> Estimate:
    """An estimate with its interval, both cut to [0, 1].

    The interval is None for a sample of a single group, where nothing varies, which is no certainty, and where it has
    no more than an end in [0, 1]. Of a census, in which every claim is labelled, the interval is the value, and no
    caution is due.
    """
    if is_census:
        return _estimate(method, _cut(value), (_cut(value), _cut(value)), samples, level, weight, ())
    found = set(cautions) | _cautions(method, samples) | ({Caution.CLIPPED} if not 0.0 <= value <= 1.0 else set())
    if interval is None:
        found.add(Caution.ONE_GROUP)
    elif _width(interval) <= ROUNDING:
        found.add(Caution.NO_SPREAD)
        interval = None
    cut = None if interval is None else (_cut(interval[0]), _cut(interval[1]))
    if cut is not None and _width(cut) <= ROUNDING:
        found.add(Caution.OUT_OF_RANGE)
        cut = None
    return _estimate(method, _cut(value), cut, samples, level, weight, tuple(sorted(found)))


def _estimate(
    method: Method,
    value: float,
    interval: tuple[float, float] | None,
    samples: Samples,
    level: float,
    weight: float | None,
    cautions: tuple[Caution, ...],
) -> Estimate:
    return Estimate(
        method=method,
        target=Target.RUN if method is Method.DIFFERENCE else Target.PROMPTS,
        value=value,
        **ends(interval),
        level=level,
        weight=weight,
        cautions=cautions,
        n_run=int(samples.scored.sum()),
        n_run_groups=samples.n_run_groups,
        n_labels=0 if method is Method.RAW else len(samples.label),
        n_label_groups=0 if method is Method.RAW else samples.n_label_groups,
    )


def undefined(
    method: Method, why: Undefined, samples: Samples, level: float, cautions: Iterable[Caution] = ()
) -> Estimate:
    """An estimate without a value, and why."""
    return Estimate(
        method=method,
        value=None,
        undefined=why,
        level=level,
        cautions=tuple(sorted(_cautions(method, samples).union(cautions))),
        n_run=int(samples.scored.sum()),
        n_run_groups=samples.n_run_groups,
        n_labels=0 if method is Method.RAW else len(samples.label),
        n_label_groups=0 if method is Method.RAW else samples.n_label_groups,
    )


def wilson(share: float, n: float, quantile: float) -> tuple[float, float]:
    """Wilson's (1927) interval of a share of n independent cases."""
    square = quantile**2
    middle = (share + square / (2.0 * n)) / (1.0 + square / n)
    reach = float(np.sqrt(square * share * (1.0 - share) / n + square**2 / (4.0 * n**2))) / (1.0 + square / n)
    return middle - reach, middle + reach


def share_interval(value: float, variance: float, quantile: float) -> tuple[float, float]:
    """Wilson's interval of an estimated share, for as many independent cases as would have the same variance.

    So Korn and Graubard (1998) have it. An interval that reaches as far to either side is too high for an accurate
    system, whose few errors come together: by `benchmarks.correction_coverage` the truth lay below it in up to 14 %.
    """
    if variance <= NO_VARIANCE or not 0.0 < value < 1.0:
        reach = quantile * float(np.sqrt(variance))
        return value - reach, value + reach
    return wilson(value, value * (1.0 - value) / variance, quantile)


def raw_share(value: float, moves: Floats, samples: Samples, level: float) -> Estimate:
    """The evaluator's own figure, with an interval over the run's groups alone."""
    if samples.n_run_groups < 2:
        return with_interval(Method.RAW, value, None, samples, level)
    quantile = t_quantile(samples.n_run_groups, level, moves)
    return with_interval(Method.RAW, value, share_interval(value, covariance(moves, moves), quantile), samples, level)


def fewest_of_a_class(method: Method, samples: Samples) -> int:
    """Groups that hold a labelled claim of the rarer class: ten errors of one response are one case, not ten.

    Claims where each was drawn by itself, and the run alone is asked for.
    """
    is_single = method is Method.DIFFERENCE and samples.label_chance is not None
    unit = np.arange(len(samples.label)) if is_single else samples.label_group
    return min(len(np.unique(unit[samples.label == kind])) for kind in (0, 1))


def smallest_sample(method: Method, samples: Samples) -> int:
    """Groups in the smaller of the samples that the method uses."""
    return samples.n_run_groups if method is Method.RAW else min(samples.n_run_groups, samples.n_label_groups)


def _width(interval: tuple[float, float]) -> float:
    return interval[1] - interval[0]


def _cut(value: float) -> float:
    return float(np.clip(value, 0.0, 1.0))


def _cautions(method: Method, samples: Samples) -> set[Caution]:
    if method is Method.RAW:
        return set()
    found = {Caution.FEW_LABELS} if samples.n_label_groups < FEWEST_GROUPS else set()
    if fewest_of_a_class(method, samples) < FEWEST_OF_A_CLASS:
        found.add(Caution.FEW_OF_A_CLASS)
    return found
