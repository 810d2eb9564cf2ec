"""Every pair of systems compared twice, by labels and by predictions: the difference of error rates and its p-value."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from factloop.evaluation.audit.significance import sign_flips, two_proportions
from factloop.evaluation.audit.units import Bools, Units, numbered

Counts = NDArray[np.int64]
Floats = NDArray[np.float64]

SHARED = 0.5
"""A pair is compared by prompts if at least this share of the claims (or responses) of each answers prompts of both."""
LEAST_PROMPTS = 6
"""With fewer no paired test can reach p = 0.05: five that all point one way have p = 1/16."""
_AT_ONCE = 2**20
"""Differences held at once, over prompts and pairs: 8 MB."""


@dataclass(frozen=True)
class Difference:
    """Error rate of the first system less that of the second, over what the test compares."""

    rate: float
    p: float


@dataclass(frozen=True)
class Comparison:
    """Two systems by their places."""

    first: int
    second: int
    n_prompts: int | None
    """Shared by both, where they are compared by prompts; None where the claims count as independent."""
    labelled: Difference
    predicted: Difference


@dataclass(frozen=True)
class _Pair:
    first: int
    second: int
    prompts: Bools | None


@dataclass(frozen=True)
class _Tally:
    """How many claims (or responses) there are of each system, and on each prompt that several systems answered."""

    total: Counts
    """(n_systems,)."""
    on_prompt: Counts
    """(n_systems, n_shared_prompts)."""


def compare_pairs(units: Units, systems: Sequence[int], seed: int) -> list[Comparison]:
    """All pairs of the systems with these codes, each of which has units; places are those in `systems`.

    Where systems share prompts (`SHARED`, `LEAST_PROMPTS`) the test is `sign_flips` of the differences on the shared
    prompts: (e1 - r n1) / N1 - (e2 - r n2) / N2 with e errors among n claims on the prompt, N in all, and r the error
    rate of both together, whose sum is the difference of the two error rates. Otherwise it is `two_proportions`.
    """
    everything = np.ones(len(units.system), dtype=np.bool_)
    n, labelled, predicted = _tallies(units, systems, [everything, units.is_error, units.is_flagged])
    places = range(len(systems))
    pairs = [_Pair(one, other, _shared_prompts(n, one, other)) for one in places for other in places[one + 1 :]]
    return [
        Comparison(
            pair.first, pair.second, None if pair.prompts is None else int(pair.prompts.sum()), by_label, by_prediction
        )
        for pair, by_label, by_prediction in zip(
            pairs, _differences(pairs, n, labelled, seed), _differences(pairs, n, predicted, seed), strict=True
        )
    ]


def _tallies(units: Units, systems: Sequence[int], kinds: Sequence[Bools]) -> list[_Tally]:
    place_of = np.zeros(int(units.system.max(initial=0)) + 1, dtype=np.int64)
    place_of[list(systems)] = np.arange(len(systems))
    place = place_of[units.system]
    prompt, is_shared, n_prompts = _shared(units, place, len(systems))
    cell = place * n_prompts + prompt
    return [
        _Tally(
            np.bincount(place[kind], minlength=len(systems)),
            np.bincount(cell[kind & is_shared], minlength=len(systems) * n_prompts).reshape(len(systems), n_prompts),
        )
        for kind in kinds
    ]


def _shared(units: Units, place: Counts, n_systems: int) -> tuple[Counts, Bools, int]:
    """Of each unit the number of its prompt among those that several systems answered, and whether it is of these."""
    if units.prompt is None:
        return np.zeros(len(place), dtype=np.int64), np.zeros(len(place), dtype=np.bool_), 0
    prompt, n_prompts = numbered(units.prompt)
    has = np.zeros((n_prompts, n_systems), dtype=np.bool_)
    has[prompt, place] = True
    is_shared = has.sum(axis=1) > 1
    return (np.cumsum(is_shared) - 1)[prompt], is_shared[prompt], int(is_shared.sum())


def _shared_prompts(n: _Tally, one: int, other: int) -> Bools | None:
    """Which prompts both answered; None where they are too few to compare by."""
    shared = (n.on_prompt[one] > 0) & (n.on_prompt[other] > 0)
    if shared.sum() < LEAST_PROMPTS:
        return None
    covered = [n.on_prompt[system][shared].sum() / n.total[system] for system in (one, other)]
    return shared if min(covered) >= SHARED else None


def _differences(pairs: Sequence[_Pair], n: _Tally, errors: _Tally, seed: int) -> Iterator[Difference]:
    n_prompts = n.on_prompt.shape[1]
    size = max(1, _AT_ONCE // max(n_prompts, 1))
    for start in range(0, len(pairs), size):
        together = pairs[start : start + size]
        columns = np.zeros((n_prompts, len(together)))
        for column, pair in enumerate(together):
            if pair.prompts is not None:
                columns[:, column] = _by_prompt(pair, pair.prompts, n, errors)
        p_values = sign_flips(columns, np.random.default_rng(seed))
        for pair, rate, p in zip(together, columns.sum(axis=0), p_values, strict=True):
            yield Difference(float(rate), float(p)) if pair.prompts is not None else _independent(pair, n, errors)


def _by_prompt(pair: _Pair, prompts: Bools, n: _Tally, errors: _Tally) -> Floats:
    """(n_shared_prompts,): 0 on prompts that the two do not share."""
    totals = [int(n.on_prompt[system] @ prompts) for system in (pair.first, pair.second)]
    wrong = [int(errors.on_prompt[system] @ prompts) for system in (pair.first, pair.second)]
    together = sum(wrong) / sum(totals)
    first, second = (
        (errors.on_prompt[system] - together * n.on_prompt[system]) / total
        for system, total in zip((pair.first, pair.second), totals, strict=True)
    )
    return np.asarray((first - second) * prompts)


def _independent(pair: _Pair, n: _Tally, errors: _Tally) -> Difference:
    wrong = int(errors.total[pair.first]), int(errors.total[pair.second])
    total = int(n.total[pair.first]), int(n.total[pair.second])
    return Difference(wrong[0] / total[0] - wrong[1] / total[1], two_proportions(wrong, total))
