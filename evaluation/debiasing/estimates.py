"""Turns estimates into records with clipped intervals, cautions and sample sizes."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from factloop.core.figure import Undefined, ends
from factloop.evaluation.debiasing.records import LEVEL, Caution, Estimate, Method, Target
from factloop.evaluation.debiasing.samples import Floats, Ints, Samples
from factloop.evaluation.statistics.bootstrap import ROUNDING
from factloop.evaluation.statistics.significance import equal_weight

NO_VARIANCE = 1e-28
"""Smaller variances are rounding errors."""


def mean_influence(values: Floats, group: Ints, n_groups: int, weights: Floats | None = None) -> Floats:
    """Returns each group's influence on the weighted mean of the values, with shape (n_groups,).

    The variance of the mean is the sum of the squared influences, which include a factor of g / (g - 1) for the g
    groups that have weight. With one value per group, it is the sample variance divided by n. To combine two samples,
    which may share groups, add their influences before squaring.
    """
    weights = np.ones_like(values) if weights is None else weights
    total = weights.sum()
    moves = np.bincount(group, weights * (values - (weights * values).sum() / total) / total, minlength=n_groups)
    g = len(np.unique(group[weights > 0]))
    return np.asarray(moves * np.sqrt(g / (g - 1)) if g > 1 else moves)


def run_rate_influence(samples: Samples) -> Floats:
    """Returns each group's influence on the supported fraction of the run's scored claims."""
    rates = np.divide(samples.supported, samples.scored, out=np.zeros_like(samples.scored), where=samples.scored > 0)
    return mean_influence(rates, samples.run_group, samples.n_groups, samples.scored)


def labelled_influence(values: Floats, samples: Samples, among: Floats | None = None) -> Floats:
    """Returns each group's influence on the weighted mean over the labelled claims for which `among` is 1."""
    weights = samples.label_weight if among is None else samples.label_weight * among
    return mean_influence(values, samples.label_group, samples.n_groups, weights)


UNSEEN_ERRORS = 0.5
"""Number of errors added to the observed ones when a variance is computed."""


def unseen_variance(samples: Samples, open_share: Floats | float = 1.0) -> float:
    """Returns how much `UNSEEN_ERRORS` adds to the variance of a weighted mean.

    A judge is rarely wrong about claims that it is sure of. Such claims are rarely drawn, so they have large weights. A
    sample without any such error shows no variation, although a single one would cause most of it. The variance
    therefore includes half an error more than was observed, as in Jeffreys' prior for a proportion (Brown, Cai and
    DasGupta 2001). The half error weighs as much as claims with the more heavily weighted verdict. If only the run's
    claims are of interest, `open_share` is 1 - p for each claim.
    """
    weight = samples.label_weight
    squares, is_supported = open_share * weight**2, samples.verdict >= 0.5
    heaviest = max(float(squares[is_supported == kind].mean()) for kind in np.unique(is_supported))
    return UNSEEN_ERRORS * heaviest / float(weight.sum()) ** 2


def unseen_variance_of_rate(samples: Samples, among: Floats) -> float:
    """Returns how much `UNSEEN_ERRORS` adds to the variance of a rate of 0 or 1 over claims for which `among` is 1.
    Without this, a rate over only four claims could appear certain. Claims in the same group count as one."""
    weights = np.bincount(samples.label_group, samples.label_weight * among, minlength=samples.n_groups)
    of_groups = weights[weights > 0]
    return float(UNSEEN_ERRORS * np.mean(of_groups**2) / of_groups.sum() ** 2)


def covariance(one: Floats, other: Floats) -> float:
    """Returns the covariance of two estimates from each group's influence on them."""
    return float(one @ other)


def t_quantile(n_groups: int, level: float = LEVEL, moves: Floats | None = None) -> float:
    """Returns the quantile of Student's t, with the number of groups minus one as degrees of freedom.

    `moves` are the influences whose squares add up to the variance. If a few responses contain most of the errors, a
    few squares dominate the variance, which is then less certain. The degrees of freedom are then the equivalent number
    of groups with equal weight (`equal_weight`). Satterthwaite (1946) would use up to twice as many. Fewer degrees of
    freedom do not help if the variance is too low because the sample contains few errors: in
    `benchmarks.correction_coverage`, the true value for accurate systems was below the 95% interval in up to 6% of
    cases.
    """
    from scipy import stats  # type: ignore[import-untyped]  # its stubs are not a dependency

    freedom = n_groups - 1.0 if moves is None else min(n_groups - 1.0, max(1.0, equal_weight(moves)))
    return float(stats.t.ppf((1.0 + level) / 2.0, freedom))


FEWEST_GROUPS = 30
"""With fewer groups, intervals that assume a normal distribution of proportions are too narrow."""
FEWEST_OF_A_CLASS = 10
"""If fewer groups have a label of the rarer class, a few responses determine the variance."""


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
    """Returns an estimate and its interval, both clipped to [0, 1].

    The interval is None if a sample is a single group, if nothing varies (which does not imply certainty), or if the
    interval is outside [0, 1]. In a census, every claim is labelled, so the interval is the value itself and there are
    no cautions.
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
    """Returns Wilson's (1927) interval for a proportion of n independent cases."""
    square = quantile**2
    middle = (share + square / (2.0 * n)) / (1.0 + square / n)
    reach = float(np.sqrt(square * share * (1.0 - share) / n + square**2 / (4.0 * n**2))) / (1.0 + square / n)
    return max(middle - reach, 0.0), min(middle + reach, 1.0)


def share_interval(value: float, variance: float, quantile: float) -> tuple[float, float]:
    """Returns Wilson's interval for an estimated proportion.

    The number of cases is the number of independent ones that would give the same variance (Korn and Graubard 1998). A
    symmetric interval is too high for an accurate system whose few errors are clustered: in
    `benchmarks.correction_coverage`, the true value was below it in up to 14% of cases.
    """
    if variance <= NO_VARIANCE or not 0.0 < value < 1.0:
        reach = quantile * float(np.sqrt(variance))
        return value - reach, value + reach
    return wilson(value, value * (1.0 - value) / variance, quantile)


def raw_share(value: float, moves: Floats, samples: Samples, level: float) -> Estimate:
    """Returns the uncorrected estimate. Its interval reflects only the variation between the run's groups."""
    if samples.n_run_groups < 2:
        return with_interval(Method.RAW, value, None, samples, level)
    quantile = t_quantile(samples.n_run_groups, level, moves)
    return with_interval(Method.RAW, value, share_interval(value, covariance(moves, moves), quantile), samples, level)


def fewest_of_a_class(method: Method, samples: Samples) -> int:
    """Returns the number of groups that contain a labelled claim of the rarer class. Ten errors in one response count
    as one case. Claims are counted instead of groups if each was drawn individually and only the run is of interest."""
    is_single = method is Method.DIFFERENCE and samples.label_chance is not None
    unit = np.arange(len(samples.label)) if is_single else samples.label_group
    return min(len(np.unique(unit[samples.label == kind])) for kind in (0, 1))


def smallest_sample(method: Method, samples: Samples) -> int:
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
