"""Decides whose job runs next. Callers take turns, so that no one waits for all of someone else's jobs."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Mapping
from dataclasses import dataclass, field

Waiting = tuple[str, str]
"""A job's id and kind. Later jobs have higher ids."""


@dataclass
class Turns:
    """The caller with the fewest running jobs comes first, or else the one with the fewest turns for its weight.

    This is start-time fair queueing (Goyal et al. 1996) with equal jobs. Callers save up no turns while idle.
    """

    weights: Mapping[str, float] = field(default_factory=dict)
    most_each: int | None = None
    """Maximum number of concurrent jobs per caller. None for no limit."""
    places: int | None = None
    """Maximum number of concurrent jobs, the last of which must be for a caller without running jobs."""
    _next_start: dict[str, float] = field(default_factory=dict)
    _now: float = 0.0

    def next(self, queues: Mapping[str, deque[Waiting]], at_work: Counter[str]) -> str | None:
        """The caller whose oldest job is next, or None if no job may start. `queues` maps callers to jobs."""
        may = (one for one, queue in queues.items() if queue and self.may_begin(at_work[one], at_work.total()))
        return min(
            may, key=lambda one: (at_work[one] / self._weight(one), self._start(one), queues[one][0]), default=None
        )

    def took(self, caller: str) -> None:
        self._now = self._start(caller)
        self._next_start[caller] = self._now + 1.0 / self._weight(caller)

    def may_begin(self, n_theirs: int, n_of_all: int) -> bool:
        """Whether a caller with `n_theirs` running jobs may start another, given `n_of_all` running jobs in total."""
        is_kept = self.places is not None and n_of_all >= self.places - 1
        return n_theirs == 0 or (not is_kept and (self.most_each is None or n_theirs < self.most_each))

    def _start(self, caller: str) -> float:
        return max(self._now, self._next_start.get(caller, 0.0))

    def _weight(self, caller: str) -> float:
        return self.weights.get(caller, 1.0)
