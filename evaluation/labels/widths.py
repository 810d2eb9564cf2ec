"""How many labels a system's corrected precision needs for an interval of a given width, and what no label narrows."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from factloop.evaluation.debiasing.influence import UNSEEN_ERRORS
from factloop.evaluation.labels.sampling import Floats, Ints, probabilities

_Z = 1.959963984540054


@dataclass(frozen=True)
class WidthByLabels:
    """About how wide a 95 % interval of a system's corrected precision is, by the number of its labels drawn so.

    The half width is z sqrt(a / n + c / n^2 + V): a is the mean of w s^2 with weights w = 1 / (N p); c is what the
    estimate counts for an error that was not seen (`influence.unseen_variance`); V is the variance that the run itself
    leaves, as it has only so many prompts, whose shares of claims called supported vary. No number of labels takes V
    away: it is that of the raw figure.
    """

    a: float
    c: float
    run_variance: float
    n_claims: int
    """The claims of the system: no more labels can be drawn."""
    n_prompts: int

    @classmethod
    def of(cls, spread: Floats, verdicts: Ints, groups: Sequence[str]) -> WidthByLabels:
        chance, size = probabilities(spread, 1), len(spread)
        kinds = [chance[verdicts == verdict] for verdict in np.unique(verdicts)]
        return cls(
            a=float((spread**2 / chance).sum()) / size**2,
            c=UNSEEN_ERRORS * max(float((1.0 / one).sum() / one.sum()) for one in kinds) / size**2,
            run_variance=_run_variance(verdicts, groups),
            n_claims=size,
            n_prompts=len({*groups}),
        )

    @property
    def raw(self) -> float:
        """The half width of the raw figure."""
        return _Z * math.sqrt(self.run_variance)

    def half_width(self, n: int) -> float:
        return _Z * math.sqrt(self.a / n + self.c / n**2 + self.run_variance)

    def needed(self, half_width: float) -> int | None:
        """Labels for an interval of +- `half_width`; None where all claims of the system would be too few."""
        left = (half_width / _Z) ** 2 - self.run_variance
        if left <= 0.0:
            return None
        n = math.ceil((self.a + math.sqrt(self.a**2 + 4.0 * left * self.c)) / (2.0 * left))
        return n if n <= self.n_claims else None


@dataclass(frozen=True)
class LabelsNeeded:
    """The labels that give one system's corrected precision an interval."""

    system: str
    n: int | None
    """All labels of the system, those that there are among them; None where no number would do."""
    n_before: int
    width: WidthByLabels


def labels_needed(
    half_width: float,
    systems: Sequence[str],
    groups: Sequence[str],
    verdicts: Ints,
    spread: Floats,
    is_known: NDArray[np.bool_],
) -> Iterator[LabelsNeeded]:
    """What each system needs for an interval of +- `half_width`.

    `groups` are the prompts of the claims; `is_known` says which have a label.
    """
    for system in dict.fromkeys(systems):
        here = np.array([one == system for one in systems])
        width = WidthByLabels.of(
            spread[here], verdicts[here], [groups[place] for place in np.flatnonzero(here).tolist()]
        )
        yield LabelsNeeded(system, width.needed(half_width), int(is_known[here].sum()), width)


def claims_to_draw(needed: Iterable[LabelsNeeded], systems: Sequence[str], spread: Floats) -> int | None:
    """Claims to draw of those without a label, so that each system has as many as it needs, if any number does."""
    chance, size = probabilities(spread, 1), 0.0
    for one in needed:
        share = float(chance[[system == one.system for system in systems]].sum())
        if one.n is not None and one.n > one.n_before and share:
            size = max(size, (one.n - one.n_before) / share)
    return min(math.ceil(size - 1e-6), len(spread)) or None


def _run_variance(verdicts: Ints, groups: Sequence[str]) -> float:
    _, number = np.unique(np.array(groups), return_inverse=True)
    moves = np.bincount(number, verdicts - verdicts.mean()) / len(verdicts)
    n_groups = len(moves)
    return float((moves**2).sum()) * n_groups / max(1, n_groups - 1)
