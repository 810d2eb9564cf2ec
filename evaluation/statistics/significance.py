"""P-values of paired and unpaired differences, and their adjustment where many are tested.

Systems that answered the same prompts are compared prompt by prompt: an easy prompt is easy for both, and a test that
ignores this misses real differences.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum
from itertools import count, product

import numpy as np
from numpy.typing import NDArray

from factloop.evaluation.statistics.sign_flip_tails import upper_tail

Floats = NDArray[np.float64]

ENOUGH_DIFFERENCES = 100
"""Prompts of equal weight from which on a sum of turned differences is as good as normal (excess kurtosis -0.02)."""
ALL_SIGNS = 14
"""Up to so many differing prompts every way to turn their signs is tried (16,384); beyond, see `sign_flips`."""
_ROUNDING = 1e-9


class PValueAdjustment(StrEnum):
    NONE = "none"
    BONFERRONI = "bonferroni"
    HOLM = "holm"


def adjusted_p_values(p_values: Sequence[float], adjustment: PValueAdjustment) -> list[float]:
    """The p-values to hold against alpha, in the order given: each at least as large as it was, at most 1.

    Bonferroni multiplies by the number of tests; Holm multiplies the smallest by it, the next by one less and so on,
    never falling. Both bound the chance of any false difference among all pairs by alpha.
    """
    p, n = np.asarray(p_values, dtype=np.float64), len(p_values)
    if adjustment is PValueAdjustment.NONE:
        return [float(value) for value in p]
    if adjustment is PValueAdjustment.BONFERRONI:
        return [float(value) for value in np.minimum(p * n, 1.0)]
    order = np.argsort(p, kind="stable")
    held = np.minimum(np.maximum.accumulate(p[order] * (n - np.arange(n))), 1.0)
    back = np.empty(n)
    back[order] = held
    return [float(value) for value in back]


def false_discovery(p_values: Sequence[float]) -> list[float]:
    """The p-values adjusted by Benjamini and Hochberg (1995), in the order given, each at most 1.

    Those at or below alpha hold, in expectation, at most that share of false ones, if the tests are independent or
    positively dependent. Each is the least p_(j) n / j over the ranks j from its own up.
    """
    p, n = np.asarray(p_values, dtype=np.float64), len(p_values)
    order = np.argsort(p, kind="stable")
    rising = p[order] * n / np.arange(1, n + 1)
    held = np.minimum(np.minimum.accumulate(rising[::-1])[::-1], 1.0)
    back = np.empty(n)
    back[order] = held
    return [float(value) for value in back]


def two_proportions(errors: tuple[int, int], totals: tuple[int, int]) -> float:
    """P-value, two-sided, of the z-test of two independent proportions with their pooled variance.

    1 where neither or both have nothing but errors, as there is no difference. Raises ValueError for an empty side.
    """
    if min(totals) < 1:
        raise ValueError("a proportion needs at least one case")
    from scipy.special import ndtr  # type: ignore[import-untyped]  # its stubs are no dependency

    pooled = sum(errors) / sum(totals)
    variance = pooled * (1.0 - pooled) * (1.0 / totals[0] + 1.0 / totals[1])
    if variance == 0.0:
        return 1.0
    z = (errors[0] / totals[0] - errors[1] / totals[1]) / np.sqrt(variance)
    return float(min(1.0, 2.0 * ndtr(-abs(z))))


def mcnemar(first_only: int, second_only: int) -> float:
    """Exact two-sided p-value: as many of the disputed claims on one side as that, if either side is as likely."""
    from scipy.stats import binomtest  # type: ignore[import-untyped]  # its stubs are no dependency

    n = first_only + second_only
    return float(binomtest(first_only, n, 0.5).pvalue) if n else 1.0


def turned_signs(differences: Floats) -> float:
    """P-value, two-sided, of the paired randomisation test; `differences` is (n_prompts,). 1 where none differs.

    Exact up to `ALL_SIGNS` differing prompts, and wherever the differences have one size or unit; see `sign_flips`.
    """
    sizes = np.abs(differences)
    differing = differences[sizes > _ROUNDING * sizes.max(initial=0.0)]
    if not len(differing):
        return 1.0
    if len(differing) > ALL_SIGNS:
        return float(sign_flips(differences[:, None])[0])
    signs = np.array(list(product((-1.0, 1.0), repeat=len(differing))))
    reached = abs(differing.sum())
    return float((np.abs(signs @ differing) >= reached - _ROUNDING * sizes.max()).mean())


def sign_flips(differences: Floats) -> Floats:
    """P-values, two-sided, of paired tests; `differences` is (n_prompts, n_tests), the result (n_tests,).

    If two systems are equally good, the sign of each prompt's difference is a matter of chance: the p-value is the
    share of all ways to turn the signs that give a sum at least as far from 0. It is exact (the binomial sign test)
    where all differences that are not 0 have one size, as with one response each to a prompt, where it is McNemar's
    exact test. Otherwise the sums are laid on a lattice (`upper_tail`), or, with enough differences, their sum is taken
    as normal. Nothing is drawn, so that no verdict turns on a seed; the order of the prompts changes nothing. No
    difference at all gives 1.
    """
    sizes = np.abs(differences)
    largest = sizes.max(axis=0, initial=0.0)
    sizes[sizes <= _ROUNDING * largest] = 0.0
    reached = np.abs(differences.sum(axis=0))
    n_differing = (sizes > 0.0).sum(axis=0)
    smallest = np.where(sizes > 0.0, sizes, np.inf).min(axis=0, initial=np.inf)
    is_even = smallest >= largest * (1.0 - _ROUNDING)
    is_many = _equal_weights(sizes) >= ENOUGH_DIFFERENCES
    p = np.ones(differences.shape[1])
    for chosen, test in ((is_even, _binomial), (~is_even & is_many, _normal)):
        p[chosen] = test(sizes[:, chosen], reached[chosen])
    rest = ~is_even & ~is_many & (n_differing > 0)
    p[rest] = _by_lattice(sizes[:, rest], reached[rest])
    p[n_differing == 0] = 1.0
    return p


def _equal_weights(sizes: Floats) -> Floats:
    """How many differences of one size would give a sum of the same kurtosis; 0 without differences."""
    squares = sizes * sizes
    fourth = (squares * squares).sum(axis=0)
    share = np.divide(squares.sum(axis=0) ** 2, fourth, out=np.zeros_like(fourth), where=fourth > 0.0)
    return np.asarray(share)


def equal_weight(differences: Floats) -> float:
    """How many differences of one size would give a sum of the same kurtosis; `differences` is (n_prompts,)."""
    return float(_equal_weights(np.abs(differences)[:, None])[0])


def least_p(differences: Floats) -> float:
    """The least p-value that `turned_signs` could give for differences of these sizes: all of one sign, 2^(1 - n)."""
    sizes = np.abs(differences)
    n_differing = int((sizes > _ROUNDING * sizes.max(initial=0.0)).sum())
    return least_p_of(n_differing)


def least_p_of(n_prompts: int) -> float:
    """The least two-sided p-value that a sign-flip test of so many prompts can have, if all differ: 2^(1 - n)."""
    return min(1.0, 2.0 ** (1 - n_prompts))


def fewest_prompts(alpha: float) -> int:
    """The fewest prompts of which a sign-flip test can have a p-value of `alpha` or below."""
    return next(n for n in count(1) if least_p_of(n) <= alpha + _ROUNDING)


def _binomial(sizes: Floats, reached: Floats) -> Floats:
    from scipy.special import bdtr

    n = (sizes > 0.0).sum(axis=0)
    size = np.where(n > 0, sizes.max(axis=0, initial=0.0), 1.0)
    fewer = np.rint((n - reached / size) / 2.0)
    return np.minimum(1.0, 2.0 * np.asarray(bdtr(fewer, n, 0.5)))


def _normal(sizes: Floats, reached: Floats) -> Floats:
    from scipy.special import ndtr

    return np.asarray(2.0 * ndtr(-reached / np.sqrt((sizes**2).sum(axis=0))))


def _by_lattice(sizes: Floats, reached: Floats) -> Floats:
    """Two-sided: the upper tail twice, as the sums lie evenly about 0."""
    tails = [upper_tail(one, float(sum_)) for one, sum_ in zip(sizes.T, reached, strict=True)]
    return np.minimum(1.0, 2.0 * np.array(tails))
