"""Turns estimates into records, with intervals clipped to [0, 1], cautions, and the counts they are based on."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from factloop.core.figure import Undefined, ends
from factloop.evaluation.debiasing.records import LEVEL, Caution, Estimate, Method, Target
from factloop.evaluation.debiasing.samples import Floats, Ints, Samples
from factloop.evaluation.statistics.bootstrap import ROUNDING
from factloop.evaluation.statistics.significance import equal_weight

NO_VARIANCE = 1e-28
"""Variances up to this are 0 except for rounding, so dividing by them would be meaningless."""


def mean_influence(values: Floats, group: Ints, n_groups: int, weights: Floats | None = None) -> Floats:
    """(n_groups,): the influence of each group on the weighted mean of the values.

    The sum of their squares is the variance of the mean, with a factor of g / (g - 1) for the g groups with weight; if
    each group has one value, it is the sample variance over n. If influences on two samples are added before squaring,
    the result is also correct for groups that are in both.
    """
    weights = np.ones_like(values) if weights is None else weights
    total = weights.sum()
    moves = np.bincount(group, weights * (values - (weights * values).sum() / total) / total, minlength=n_groups)
    g = len(np.unique(group[weights > 0]))
    return np.asarray(moves * np.sqrt(g / (g - 1)) if g > 1 else moves)


def run_rate_influence(samples: Samples) -> Floats:
    """The groups' influence on the fraction of the run's scored claims that are supported."""
    rates = np.divide(samples.supported, samples.scored, out=np.zeros_like(samples.scored), where=samples.scored > 0)
    return mean_influence(rates, samples.run_group, samples.n_groups, samples.scored)


def labelled_influence(values: Floats, samples: Samples, among: Floats | None = None) -> Floats:
    """The groups' influence on the weighted mean of a value over the labelled claims for which `among` is 1."""
    weights = samples.label_weight if among is None else samples.label_weight * among
    return mean_influence(values, samples.label_group, samples.n_groups, weights)


UNSEEN_ERRORS = 0.5
"""Number of errors added to those observed when a variance is computed."""


def unseen_variance(samples: Samples, open_share: Floats | float = 1.0) -> float:
    """The amount that `UNSEEN_ERRORS` adds to the variance of a weighted mean.

    A judge is rarely wrong about claims that it is sure of. Such claims are seldom drawn and have large weights. A
    sample without such an error therefore shows no variation, while a single one causes most of the variation in
    another sample. The variance therefore includes half an error more than was observed, as in Jeffreys' prior for a
    proportion (Brown, Cai and DasGupta 2001). Its weight is that of claims with the more heavily weighted verdict. If
    only the claims of the run are of interest, `open_share` is 1 - p for each claim.
    """
    weight = samples.label_weight
    squares, is_supported = open_share * weight**2, samples.verdict >= 0.5
    heaviest = max(float(squares[is_supported == kind].mean()) for kind in np.unique(is_supported))
    return UNSEEN_ERRORS * heaviest / float(weight.sum()) ** 2


def unseen_variance_of_rate(samples: Samples, among: Floats) -> float:
    """The amount that `UNSEEN_ERRORS` adds to the variance of a rate of 0 or 1 over the labelled claims for which
    `among` is 1.

    Without it, such a rate over four claims would appear certain. Claims in the same group count as one.
    """
    weights = np.bincount(samples.label_group, samples.label_weight * among, minlength=samples.n_groups)
    of_groups = weights[weights > 0]
    return float(UNSEEN_ERRORS * np.mean(of_groups**2) / of_groups.sum() ** 2)


def covariance(one: Floats, other: Floats) -> float:
    """The covariance of two estimates, calculated from their influences."""
    return float(one @ other)


def t_quantile(n_groups: int, level: float = LEVEL, moves: Floats | None = None) -> float:
    """The quantile of Student's t, with one degree of freedom fewer than there are groups.

    `moves` are the influences whose squares make up the variance. If a few responses contain most of the errors, a few
    squares make up most of the variance, which is then known less precisely. The degrees of freedom are therefore those
    of an equivalent number of groups with equal weight (`equal_weight`). Satterthwaite (1946) would use up to twice as
    many. This accounts for an imprecise variance, but not for one that is too low because the sample contains few
    errors. In `benchmarks.correction_coverage`, the true value was then below the 95% intervals of accurate systems in
    up to 6% of cases.
    """
    from scipy import stats  # type: ignore[import-untyped]  # its stubs are not a dependency

    freedom = n_groups - 1.0 if moves is None else min(n_groups - 1.0, max(1.0, equal_weight(moves)))
    return float(stats.t.ppf((1.0 + level) / 2.0, freedom))


FEWEST_GROUPS = 30
"""With fewer groups, intervals based on the normal distribution are known to be too narrow for proportions."""
FEWEST_OF_A_CLASS = 10
"""Minimum number of groups with a label of the rarer class. With fewer, few responses determine the variance."""


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
    """An estimate with its interval, both clipped to [0, 1].

    The interval is None if a sample is a single group, if nothing varies (which does not mean certainty), or if it lies
    outside [0, 1]. For a census, in which every claim is labelled, the interval is the value itself, and there are no
    cautions.
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
    """An estimate without a value, with the reason."""
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
    """Wilson's (1927) interval for a proportion of n independent cases."""
    square = quantile**2
    middle = (share + square / (2.0 * n)) / (1.0 + square / n)
    reach = float(np.sqrt(square * share * (1.0 - share) / n + square**2 / (4.0 * n**2))) / (1.0 + square / n)
    return max(middle - reach, 0.0), min(middle + reach, 1.0)


def share_interval(value: float, variance: float, quantile: float) -> tuple[float, float]:
    """Wilson's interval for an estimated proportion and the number of independent cases that would give its variance.

    This follows Korn and Graubard (1998). A symmetric interval is too high for an accurate system whose few errors are
    clustered: in `benchmarks.correction_coverage`, the true value was below it in up to 14% of cases.
    """
    if variance <= NO_VARIANCE or not 0.0 < value < 1.0:
        reach = quantile * float(np.sqrt(variance))
        return value - reach, value + reach
    return wilson(value, value * (1.0 - value) / variance, quantile)


def raw_share(value: float, moves: Floats, samples: Samples, level: float) -> Estimate:
    """The evaluator's own figure, with an interval based only on the run's groups."""
    if samples.n_run_groups < 2:
        return with_interval(Method.RAW, value, None, samples, level)
    quantile = t_quantile(samples.n_run_groups, level, moves)
    return with_interval(Method.RAW, value, share_interval(value, covariance(moves, moves), quantile), samples, level)


def fewest_of_a_class(method: Method, samples: Samples) -> int:
    """Number of groups that contain a labelled claim of the rarer class.

    Ten errors in one response count as one case. If each claim was drawn individually and only the run is of interest,
    claims are counted instead.
    """
    is_single = method is Method.DIFFERENCE and samples.label_chance is not None
    unit = np.arange(len(samples.label)) if is_single else samples.label_group
    return min(len(np.unique(unit[samples.label == kind])) for kind in (0, 1))


def smallest_sample(method: Method, samples: Samples) -> int:
    """Number of groups in the smaller of the samples that the method uses."""
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
