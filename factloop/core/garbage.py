"""Fewer rounds of the garbage collector while calls are under way, and none while what lasts is made.

By default Python looks for garbage after every 700 containers more, and now and then through all of the process. Each
claim under check holds some 400 containers until its answer comes: with hundreds under way the collector walks half a
million objects again and again, finds nothing, and takes a third of a check's CPU time.
"""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Lock

CONTAINERS_MORE = 50_000
"""Containers more after which there is a round meanwhile: a few megabytes of garbage may wait for it."""


class _Rounds:
    """The collector's rounds, which all threads of the process share."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._n_users = 0
        self._before = gc.get_threshold()

    def enter(self) -> None:
        with self._lock:
            if self._n_users == 0:
                self._before = gc.get_threshold()
                if 0 < self._before[0] < CONTAINERS_MORE:  # neither off nor rarer still by the application's choice
                    gc.set_threshold(CONTAINERS_MORE, *self._before[1:])
            self._n_users += 1

    def leave(self) -> None:
        with self._lock:
            self._n_users -= 1
            if self._n_users == 0 and gc.get_threshold()[0] == CONTAINERS_MORE:  # else the application changed it
                gc.set_threshold(*self._before)


_ROUNDS = _Rounds()


@contextmanager
def rare_collections() -> Iterator[None]:
    """Makes the collector's rounds rare until the last of all such blocks ends; what the application set is kept."""
    _ROUNDS.enter()
    try:
        yield
    finally:
        _ROUNDS.leave()


@contextmanager
def collection_paused() -> Iterator[None]:
    """No round inside: modules and tables last, and each full round would walk all of them again."""
    collects = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if collects:
            gc.enable()
