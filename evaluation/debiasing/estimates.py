"""Estimates as records: intervals cut to [0, 1], cautions, and counts of what they rest on."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from factloop.core.figure import Undefined, ends
from factloop.evaluation.debiasing.records import Caution, Estimate, Method
from factloop.evaluation.debiasing.samples import Samples

FEWEST_GROUPS = 30
"""Below this, intervals from the normal distribution are known to be too narrow for shares."""
FEWEST_OF_A_CLASS = 10
"""Below this, one claim moves TPR or FPR by more than 0.1."""


def with_interval(
    method: Method,
    value: float,
    interval: tuple[float, float] | None,
    samples: Samples,
    level: float,
    *,
    weight: float | None = None,
    cautions: Iterable[Caution] = (),
) -> Estimate:
    """An estimate with its interval, both cut to [0, 1]; the interval is None for a sample of a single group."""
    found = set(cautions) | _cautions(method, samples) | ({Caution.CLIPPED} if not 0.0 <= value <= 1.0 else set())
    if interval is None:
        found.add(Caution.ONE_GROUP)
    elif interval[0] == interval[1]:
        found.add(Caution.NO_SPREAD)
    return Estimate(
        method=method,
        value=_cut(value),
        **ends(None if interval is None else (_cut(interval[0]), _cut(interval[1]))),
        level=level,
        weight=weight,
        cautions=tuple(sorted(found)),
        n_run=int(samples.scored.sum()),
        n_run_groups=samples.n_run_groups,
        n_labels=0 if method is Method.RAW else len(samples.label),
        n_label_groups=0 if method is Method.RAW else samples.n_label_groups,
    )


def undefined(method: Method, why: Undefined, samples: Samples, level: float) -> Estimate:
    """An estimate without a value, and why."""
    return Estimate(
        method=method,
        value=None,
        undefined=why,
        level=level,
        cautions=tuple(sorted(_cautions(method, samples))),
        n_run=int(samples.scored.sum()),
        n_run_groups=samples.n_run_groups,
        n_labels=0 if method is Method.RAW else len(samples.label),
        n_label_groups=0 if method is Method.RAW else samples.n_label_groups,
    )


def smallest_sample(method: Method, samples: Samples) -> int:
    """Groups in the smaller of the samples that the method uses."""
    return samples.n_run_groups if method is Method.RAW else min(samples.n_run_groups, samples.n_label_groups)


def _cut(value: float) -> float:
    return float(np.clip(value, 0.0, 1.0))


def _cautions(method: Method, samples: Samples) -> set[Caution]:
    if method is Method.RAW:
        return set()
    found = {Caution.FEW_LABELS} if samples.n_label_groups < FEWEST_GROUPS else set()
    n_supported = int(samples.label.sum())
    if min(n_supported, len(samples.label) - n_supported) < FEWEST_OF_A_CLASS:
        found.add(Caution.FEW_OF_A_CLASS)
    return found
