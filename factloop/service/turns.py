"""Whose job comes next: callers take turns, so that none waits behind all jobs of another."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Mapping
from dataclasses import dataclass, field

Waiting = tuple[str, str]
"""Id and kind of a job: ids sort by time."""


@dataclass
class Turns:
    """The turns of the callers in one service. In memory: after a start all begin alike.

    The caller with the fewest jobs at work for its weight comes first; among equals the one that had fewer turns for
    its weight (start-time fair queueing, Goyal et al. 1996, with each job counted alike). Who comes back after a while
    has saved up no turns.
    """

    weights: Mapping[str, float] = field(default_factory=dict)
    most_each: int | None = None
    """Jobs that one caller may have at work at a time; None for no limit."""
    places: int | None = None
    """Jobs that may be at work at a time. Of two places or more the last is kept for a caller with no job at work; None
    where none is kept."""
    _next_start: dict[str, float] = field(default_factory=dict)
    _now: float = 0.0

    def next(self, queues: Mapping[str, deque[Waiting]], at_work: Counter[str]) -> str | None:
        """The caller whose oldest job comes next; None where none may begin another. `queues`: jobs by their caller."""
        may = (one for one, queue in queues.items() if queue and self._may_begin(at_work[one], at_work.total()))
        return min(
            may, key=lambda one: (at_work[one] / self._weight(one), self._start(one), queues[one][0]), default=None
        )

    def took(self, caller: str) -> None:
        """Counts a turn."""
        self._now = self._start(caller)
        self._next_start[caller] = self._now + 1.0 / self._weight(caller)

    def _may_begin(self, n_theirs: int, n_of_all: int) -> bool:
        is_kept = self.places is not None and n_of_all >= self.places - 1
        return n_theirs == 0 or (not is_kept and (self.most_each is None or n_theirs < self.most_each))

    def _start(self, caller: str) -> float:
        return max(self._now, self._next_start.get(caller, 0.0))

    def _weight(self, caller: str) -> float:
        return self.weights.get(caller, 1.0)
