"""F1@K of a run, raw and corrected by labelled claims, with a bootstrap over both samples.

The evaluator's verdicts give each response s supported of n claims. Which of them truly are is known only on average:
the labelled claims tell how often a claim of either verdict is. The corrected figure is the F1@K to expect then,
averaged over the responses. F1@K is no mean over claims, so prediction-powered inference over claims does not fit it.

A resample draws groups of labelled claims and groups of responses, with replacement; groups that are in both samples
are drawn once for both. The interval is that between percentiles, expanded for few groups. Where few labels of a
verdict are all alike, every resample has the same share of errors, which is no certainty: then there is no interval.

Where responses differ much in precision and hold more claims than K, the true counts vary more than claims that are
independent given their verdicts, and the corrected figure comes out slightly high: `benchmarks.correction_coverage`.

Departure from the paper (Wei et al. 2024, section 5), which takes the evaluator's verdicts for the truth.
"""

from __future__ import annotations

from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from functools import cached_property
from math import comb

import numpy as np

from factloop.core.figure import Undefined
from factloop.evaluation.debiasing import adjusted_count
from factloop.evaluation.debiasing.estimates import smallest_sample, t_quantile, undefined, with_interval
from factloop.evaluation.debiasing.records import LEVEL, Abstentions, Caution, DebiasedF1, Estimate, Method, Transfer
from factloop.evaluation.debiasing.samples import Floats, Ints, JudgedResponses, LabelledClaims, Samples, as_samples
from factloop.evaluation.statistics.bootstrap import loses_too_many, percentiles, sample_and_draws

NODES = 15
"""Points of the quadrature."""
FEW = 30
"""Claims up to which the expectation is exact. Beyond, the error of a response is below 0.005: most of it is that of
the normal distribution in the place of two binomial ones."""
_BATCH = 2**21
"""Numbers in one array, at most: 16 MB."""


@dataclass(frozen=True)
class ExpectedF1:
    """Expected F1@K of each response, given how likely a claim of either verdict is truly supported.

    With s of n claims supported, F1@K is `2s / (n + K)` up to s = K, and `2s / (n + s)` above. Up to n = K it is
    linear. Above, s is the sum of two binomial counts, as claims are independent given their verdicts; with more than
    `FEW` it is taken as normal, with their mean and variance, and cut to [0, n].
    """

    supported: Floats
    not_supported: Floats
    """Claims of each response by the evaluator's verdict; each (n_responses,)."""
    k: int

    def at(self, if_supported: Floats, if_not: Floats) -> Floats:
        """(n_draws, n_responses), for shares truly supported among claims of either verdict, each (n_draws,).

        0 for a response without claims.
        """
        batch = max(1, _BATCH // max(1, NODES * len(self.supported)))
        starts = range(0, len(if_supported), batch)
        parts = [self._of(if_supported[s : s + batch, None], if_not[s : s + batch, None]) for s in starts]
        return np.concatenate(parts) if parts else np.empty((0, len(self.supported)))

    def _of(self, if_supported: Floats, if_not: Floats) -> Floats:
        mean = self.supported * if_supported + self.not_supported * if_not
        found = 2.0 * mean / (self._n + self.k)
        is_above = self._n > self.k
        few, long = np.flatnonzero(is_above & (self._n <= FEW)), np.flatnonzero(is_above & (self._n > FEW))
        kinds, kind = np.unique(self._verdicts[few], axis=0, return_inverse=True)
        for number, (supported, not_supported) in enumerate(kinds.tolist()):
            values = self._exact(supported, not_supported, if_supported, if_not)
            found[:, few[kind.reshape(-1) == number]] = values
        if len(long):
            variance = (
                if_supported * (1.0 - if_supported) * self.supported + if_not * (1.0 - if_not) * self.not_supported
            )
            found[:, long] = self._expected(mean[:, long], variance[:, long], self._n[long])
        return np.asarray(found)

    def _exact(self, supported: int, not_supported: int, if_supported: Floats, if_not: Floats) -> Floats:
        """(n_draws, 1): over all numbers of truly supported claims of either verdict."""
        s = np.arange(supported + 1)[:, None] + np.arange(not_supported + 1.0)
        f1 = 2.0 * s / (supported + not_supported + np.maximum(s, self.k))
        of_supported, of_others = _binomial(supported, if_supported), _binomial(not_supported, if_not)
        return np.asarray(((of_supported @ f1) * of_others).sum(axis=1, keepdims=True))

    def _expected(self, mean: Floats, variance: Floats, n: Floats) -> Floats:
        points, weights = np.polynomial.hermite_e.hermegauss(NODES)
        s = np.clip(mean[..., None] + np.sqrt(variance)[..., None] * points, 0.0, n[:, None])
        f1 = np.where(s <= self.k, 2.0 * s / (n[:, None] + self.k), 2.0 * s / (n[:, None] + s))
        return np.asarray(f1 @ (weights / weights.sum()))

    @cached_property
    def _n(self) -> Floats:
        return self.supported + self.not_supported

    @property
    def _verdicts(self) -> Ints:
        """(n_responses, 2): the counts of either verdict in each response."""
        return np.column_stack([self.supported, self.not_supported]).astype(np.int64)


def _binomial(n: int, share: Floats) -> Floats:
    """(n_draws, n + 1): how likely each number of n claims is truly supported; `share` is (n_draws, 1)."""
    times = np.arange(n + 1)
    ways = np.array([comb(n, k) for k in times.tolist()], dtype=np.float64)
    return np.asarray(ways * share**times * (1.0 - share) ** (n - times))


@dataclass(frozen=True)
class Draws:
    """How often groups were drawn. The first row is the sample itself, each group once; the others are resamples."""

    cells: Floats
    """(1 + n_resamples, 4): labelled claims drawn, as called supported and truly so, called so and not, not called so
    and truly so, neither."""
    responses: Floats
    """(1 + n_resamples, n_responses): how often each response was drawn."""


def draw(samples: Samples, resamples: int, rng: np.random.Generator) -> Draws:
    """Draws as many groups as there are; if the samples share groups, those of both together."""
    both = np.arange(samples.n_groups)
    of_labels, of_run = np.unique(samples.label_group), np.unique(samples.run_group)
    times = (
        [_times(both, samples.n_groups, resamples, rng)] * 2
        if samples.share_groups
        else [_times(groups, samples.n_groups, resamples, rng) for groups in (of_labels, of_run)]
    )
    return Draws(cells=times[0] @ _cells(samples), responses=times[1][:, samples.run_group])


def _times(groups: Ints, n_groups: int, resamples: int, rng: np.random.Generator) -> Floats:
    """(1 + resamples, n_groups): how often each was drawn, 0 for groups that are not in the sample."""
    times = np.zeros((1 + resamples, n_groups))
    if len(groups):
        times[:, groups] = sample_and_draws(len(groups), rng, resamples)
    return times


def _cells(samples: Samples) -> Floats:
    """(n_groups, 4): the labelled claims of each group by verdict and label, each as much as it counts."""
    cell = 2 * (1 - samples.verdict) + (1 - samples.label)
    place = samples.label_group * 4 + cell.astype(np.int64)
    counts = np.bincount(place, samples.label_weight, minlength=4 * samples.n_groups).astype(np.float64)
    return counts.reshape(samples.n_groups, 4)


def expanded_tail(n_groups: int, level: float) -> float:
    """The share of resamples to cut off on each side, for the smaller of the samples (Hesterberg 2015, section 5.4).

    Percentiles as they are would give intervals that are narrower than Student's by `sqrt((g - 1) / g)` and by the
    normal in the place of the t distribution.
    """
    from scipy import stats  # type: ignore[import-untyped]  # its stubs are no dependency

    factor = np.sqrt(n_groups / (n_groups - 1))
    return float(stats.norm.cdf(-factor * t_quantile(n_groups, level)))


RESAMPLES = 1000
FEWEST_ALIKE = 100
"""Labels that are all alike with which the resamples stand: up to 3 in 100 claims may be otherwise (rule of three)."""


def debiased_f1(
    labelled: LabelledClaims,
    run: JudgedResponses,
    ks: Sequence[int],
    rng: np.random.Generator,
    *,
    abstentions: Abstentions = "zero",
    transfer: Transfer = Transfer.VERDICTS,
    resamples: int = RESAMPLES,
    level: float = LEVEL,
) -> tuple[DebiasedF1, ...]:
    """Mean F1@K over the responses for each K, with intervals; all K rest on the same resamples.

    `transfer` says what of the labelled claims holds for the run. Raises ValueError for a K below 1.
    """
    if any(k < 1 for k in ks):
        raise ValueError("K is a whole number from 1")
    samples = as_samples(labelled, run)
    draws = draw(samples, resamples, rng)
    return tuple(_at(k, samples, draws, abstentions, transfer, level) for k in ks)


def _at(
    k: int, samples: Samples, draws: Draws, abstentions: Abstentions, transfer: Transfer, level: float
) -> DebiasedF1:
    counted = samples.scored > 0 if abstentions == "exclude" else ~samples.failed
    f1 = ExpectedF1(samples.supported, samples.scored - samples.supported, k)
    weights = draws.responses * counted
    certain = f1.at(np.ones(1), np.zeros(1))
    raw = _mean(weights, np.broadcast_to(certain, weights.shape))
    corrected = _mean(weights, f1.at(*_shares(samples, draws, transfer)))
    nothing = None if samples.scored.sum() else Undefined.NOTHING_SCORED
    alike = {Caution.LABELS_ALIKE} if _hides_errors(samples, transfer) else set()
    why = _why_undefined(samples, transfer, level)
    return DebiasedF1(
        k=k,
        raw=_estimate(Method.RAW, raw, nothing, samples, level),
        corrected=_estimate(Method.BOOTSTRAP, corrected, why, samples, level, alike),
        transfer=transfer,
        abstentions=abstentions,
        n_responses=int(counted.sum()),
        n_abstentions=int(((samples.scored == 0) & ~samples.failed).sum()),
        n_failed=int(samples.failed.sum()),
        n_resamples=len(corrected) - 1,
        n_resamples_undefined=int(np.isnan(corrected[1:]).sum()),
    )


def _mean(weights: Floats, values: Floats) -> Floats:
    """The weighted mean of each row; NaN where nothing was drawn that counts, or a value is not known."""
    with np.errstate(invalid="ignore"):
        return np.asarray((weights * values).sum(axis=1) / weights.sum(axis=1))


def _shares(samples: Samples, draws: Draws, transfer: Transfer) -> tuple[Floats, Floats]:
    """The shares truly supported of claims called supported, and of claims not called so; (1 + n_resamples,) each."""
    hit, false_alarm, miss, rejected = draws.cells.T
    with np.errstate(invalid="ignore", divide="ignore"):
        if transfer is Transfer.VERDICTS:
            return _zero_if_unneeded(samples, hit / (hit + false_alarm), miss / (miss + rejected))
        tpr, fpr = hit / (hit + miss), false_alarm / (false_alarm + rejected)
        rate = (draws.responses @ samples.supported) / (draws.responses @ samples.scored)
        truth = np.where(tpr > fpr, np.clip((rate - fpr) / (tpr - fpr), 0.0, 1.0), np.nan)
        called = truth * tpr + (1.0 - truth) * fpr
        return _zero_if_unneeded(samples, truth * tpr / called, truth * (1.0 - tpr) / (1.0 - called))


def _zero_if_unneeded(samples: Samples, if_supported: Floats, if_not: Floats) -> tuple[Floats, Floats]:
    """The shares, with 0 in place of one that no claim of the run needs: unknown times nothing is nothing."""
    needs = samples.supported.sum() > 0, (samples.scored - samples.supported).sum() > 0
    known = [
        share if needed else np.zeros_like(share) for share, needed in zip((if_supported, if_not), needs, strict=True)
    ]
    return known[0], known[1]


def _hides_errors(samples: Samples, transfer: Transfer) -> bool:
    """Whether a share that the correction rests on is 0 or 1 of few labels, and so the same in every resample.

    By verdicts it is the share truly supported among claims of a verdict that the run has, by error rates the share
    called supported among claims of either label.
    """
    of, shared = (samples.verdict, samples.label) if transfer is Transfer.VERDICTS else (samples.label, samples.verdict)
    needed = (samples.scored - samples.supported).sum(), samples.supported.sum()
    groups = [shared[of == kind] for kind in (0, 1) if transfer is Transfer.ERROR_RATES or needed[kind]]
    return any(0 < len(group) < FEWEST_ALIKE and len(np.unique(group)) == 1 for group in groups)


def _why_undefined(samples: Samples, transfer: Transfer, level: float) -> Undefined | None:
    if not samples.scored.sum():
        return Undefined.NOTHING_SCORED
    if not len(samples.label):
        return Undefined.NO_LABELS
    if transfer is Transfer.ERROR_RATES:
        return adjusted_count.precision(samples, level).undefined
    needs = set(np.flatnonzero([(samples.scored - samples.supported).sum(), samples.supported.sum()]))
    return None if needs <= {*samples.verdict} else Undefined.VERDICT_MISSING


def _estimate(
    method: Method,
    values: Floats,
    why: Undefined | None,
    samples: Samples,
    level: float,
    cautions: AbstractSet[Caution] = frozenset(),
) -> Estimate:
    """An estimate from `values`: that of the sample, then of its resamples, NaN where undefined."""
    if why is not None:
        return undefined(method, why, samples, level)
    groups, n_resamples = smallest_sample(method, samples), len(values) - 1
    low, high, n_lost = percentiles(values[1:, None], expanded_tail(groups, level) if groups > 1 else 0.0)
    is_drawn = n_lost[0] < n_resamples and groups > 1
    ends = (float(low[0]), float(high[0])) if is_drawn else None
    lost = {Caution.RESAMPLES_LOST} if loses_too_many(values[1:]) else set()
    return with_interval(method, float(values[0]), ends, samples, level, cautions=cautions | lost)
