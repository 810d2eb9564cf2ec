"""Compares every pair of systems, by labels or by predictions: the difference of error rates and its p-value."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from factloop.evaluation.audit.table import Codes
from factloop.evaluation.audit.units import Bools, Units, numbered
from factloop.evaluation.statistics.clustered_proportions import ClusteredErrors, clustered_proportions
from factloop.evaluation.statistics.significance import sign_flips, two_proportions

Counts = NDArray[np.int64]
Floats = NDArray[np.float64]

SHARED = 0.5
"""A pair is compared by prompts if at least this share of the claims (or responses) of each answers prompts of both."""
LEAST_PROMPTS = 6
"""With fewer no paired test can reach p = 0.05: five that all point one way have p = 1/16."""
_AT_ONCE = 2**20
"""Differences held at once, over prompts and pairs: 8 MB."""


class PairTest(StrEnum):
    PAIRED = "paired_sign_flips"
    """Over prompts; with one response each to a prompt it is McNemar's exact test."""
    CLUSTERED = "clustered_proportions"
    """Over whole responses, or prompts where they are given: claims of one response resemble each other."""
    TWO_PROPORTIONS = "two_proportions"
    """Over claims (or responses) that count as independent: where there is one in each response, or on request."""


Unpaired = Literal[PairTest.CLUSTERED, PairTest.TWO_PROPORTIONS]


@dataclass(frozen=True)
class Difference:
    """Error rate of the first system less that of the second, over what the test compares."""

    rate: float
    p: float


class PairTests:
    """All pairs of the systems of one data set, to be compared by any marking of errors among the same units.

    Where systems share prompts (`SHARED`, `LEAST_PROMPTS`) the test is `sign_flips` of the differences on the shared
    prompts: (e1 - r n1) / N1 - (e2 - r n2) / N2 with e errors among n claims on the prompt, N in all, and r the error
    rate of both together, whose sum is the difference of the two error rates. Otherwise it is `unpaired`, by default
    `clustered_proportions`: claims of one response that counted as independent would make two systems with ten claims
    a response, two of which correlate by .5, differ in 42 % of samples though they are equally good.
    """

    def __init__(self, units: Units, systems: Sequence[int], unpaired: Unpaired = PairTest.CLUSTERED) -> None:
        """`systems` are the codes of those to compare, each of which has units; pairs are named by places in it."""
        self._place = _places(units, systems)
        self._prompt, self._is_shared, self._n_prompts = _shared(units, self._place, len(systems))
        self._n_systems = len(systems)
        self._total, self._n = self._tally(np.ones(len(units.system), dtype=np.bool_))
        self._clusters = _clusters(units.cluster, self._place, len(systems))
        self.first, self.second = np.triu_indices(len(systems), 1)
        has = (self._n > 0).astype(np.float64)
        self._on_shared = self._n @ has.T
        """(n_systems, n_systems): claims of the one on prompts that the other answered, too."""
        covered = self._on_shared / self._total[:, None]
        self.n_prompts: Counts = (has @ has.T).astype(np.int64)[self.first, self.second]
        """(n_pairs,): shared by both."""
        self.is_paired: Bools = (self.n_prompts >= LEAST_PROMPTS) & (
            np.minimum(covered, covered.T)[self.first, self.second] >= SHARED
        )
        """(n_pairs,): the two are compared by prompts."""
        is_clustered = np.array([one.is_clustered for one in self._by_cluster(np.zeros(len(units.system), np.bool_))])
        self.tests: list[PairTest] = [
            PairTest.PAIRED
            if is_paired
            else unpaired
            if is_clustered[first] or is_clustered[second]
            else PairTest.TWO_PROPORTIONS
            for is_paired, first, second in zip(self.is_paired, self.first, self.second, strict=True)
        ]
        """(n_pairs,): the test of each. Where every cluster has one unit, clustered proportions are two proportions."""

    def differences(self, is_error: Bools) -> list[Difference]:
        """One for each pair, of these errors among the units."""
        total, on_prompt = self._tally(is_error)
        found = [Difference(0.0, 1.0)] * len(self.first)
        paired, unpaired = np.flatnonzero(self.is_paired), np.flatnonzero(~self.is_paired)
        size = max(1, _AT_ONCE // max(self._n_prompts, 1))
        for start in range(0, len(paired), size):
            together = paired[start : start + size]
            columns = self._by_prompt(on_prompt, self.first[together], self.second[together])
            p_values = sign_flips(columns)
            for pair, rate, p in zip(together.tolist(), columns.sum(axis=0).tolist(), p_values.tolist(), strict=True):
                found[pair] = Difference(rate, p)
        by_cluster = self._by_cluster(is_error) if len(unpaired) else []
        for pair in unpaired.tolist():
            first, second = int(self.first[pair]), int(self.second[pair])
            rate = total[first] / self._total[first] - total[second] / self._total[second]
            if self.tests[pair] is PairTest.CLUSTERED:
                p = clustered_proportions(by_cluster[first], by_cluster[second])
            else:
                p = two_proportions(
                    (int(total[first]), int(total[second])), (int(self._total[first]), int(self._total[second]))
                )
            found[pair] = Difference(float(rate), p)
        return found

    def _tally(self, kind: Bools) -> tuple[Counts, Floats]:
        """Units of this kind of each system, and (n_systems, n_shared_prompts) on each prompt that several answered."""
        cell = (self._place * self._n_prompts + self._prompt)[kind & self._is_shared]
        on_prompt = np.bincount(cell, minlength=self._n_systems * self._n_prompts).astype(np.float64)
        total = np.bincount(self._place[kind], minlength=self._n_systems)
        return total, on_prompt.reshape(self._n_systems, self._n_prompts)

    def _by_prompt(self, errors: Floats, first: Counts, second: Counts) -> Floats:
        """(n_shared_prompts, n_pairs): 0 on prompts that the two do not share."""
        has = self._n > 0
        wrong = errors @ has.T.astype(np.float64)
        totals = self._on_shared[first, second], self._on_shared[second, first]
        together = ((wrong[first, second] + wrong[second, first]) / (totals[0] + totals[1]))[:, None]
        one = (errors[first] - together * self._n[first]) / totals[0][:, None]
        other = (errors[second] - together * self._n[second]) / totals[1][:, None]
        return np.ascontiguousarray(((one - other) * (has[first] & has[second])).T)

    def _by_cluster(self, is_error: Bools) -> list[ClusteredErrors]:
        """The errors of each system, summed up over its clusters."""
        owner, number = self._clusters
        totals = np.bincount(number, minlength=len(owner)).astype(np.float64)
        errors = np.bincount(number[is_error], minlength=len(owner)).astype(np.float64)
        of_system = [owner == place for place in range(self._n_systems)]
        return [ClusteredErrors.of(errors[own], totals[own]) for own in of_system]


class LabelTests:
    """Tests by labels, kept for further evaluators that scored the same units, and for further thresholds."""

    def __init__(self) -> None:
        self._known: dict[bytes, tuple[PairTests, list[Difference]]] = {}

    def of(
        self, units: Units, systems: Sequence[int], unpaired: Unpaired = PairTest.CLUSTERED
    ) -> tuple[PairTests, list[Difference]]:
        """The tests of these units and what they give by labels. The order of `systems` follows from the labels."""
        key = _digest(units) + unpaired.encode()
        if key not in self._known:
            tests = PairTests(units, systems, unpaired)
            self._known[key] = tests, tests.differences(units.is_error)
        return self._known[key]


def _digest(units: Units) -> bytes:
    digest = hashlib.blake2b(units.system.tobytes())
    digest.update(units.is_error.tobytes())
    digest.update(units.cluster.tobytes())
    if units.prompt is not None:
        digest.update(units.prompt.tobytes())
    return digest.digest()


def _places(units: Units, systems: Sequence[int]) -> Counts:
    place_of = np.zeros(int(units.system.max(initial=0)) + 1, dtype=np.int64)
    place_of[list(systems)] = np.arange(len(systems))
    return place_of[units.system]


def _clusters(cluster: Codes, place: Counts, n_systems: int) -> tuple[Counts, Counts]:
    """The system's place of each of its clusters, and the number of each unit's cluster. Systems share none."""
    keys, number = np.unique(cluster.astype(np.int64) * max(n_systems, 1) + place, return_inverse=True)
    return keys % max(n_systems, 1), number


def _shared(units: Units, place: Counts, n_systems: int) -> tuple[Counts, Bools, int]:
    """The number of each unit's prompt among the shared ones, whether it has one, and how many there are."""
    if units.prompt is None:
        return np.zeros(len(place), dtype=np.int64), np.zeros(len(place), dtype=np.bool_), 0
    prompt, n_prompts = numbered(units.prompt)
    has = np.zeros((n_prompts, n_systems), dtype=np.bool_)
    has[prompt, place] = True
    is_shared = has.sum(axis=1) > 1
    return (np.cumsum(is_shared) - 1)[prompt], is_shared[prompt], int(is_shared.sum())
