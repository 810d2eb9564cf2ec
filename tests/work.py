"""Counts the work of a call, which is the same on any machine, however busy.

Only lines of Python are counted. Work done in C (`re`, `str.find`, numpy) is not; where that might be quadratic, tests
use texts so long that they would exceed the time limit.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable
from types import FrameType
from typing import Any

TIMES = 4
LINEAR = 2.0 * TIMES
"""Between what linear and what quadratic work grows by."""


def lines_run(call: Callable[[], object]) -> int:
    """The lines of Python that the call runs, in this thread and those it starts, counting repeats."""
    counted = 0

    def trace(_frame: FrameType, event: str, _argument: object) -> Callable[..., Any]:
        nonlocal counted
        counted += event == "line"
        return trace

    before, before_in_threads = sys.gettrace(), threading.gettrace()
    threading.settrace(trace)
    sys.settrace(trace)
    try:
        call()
    finally:
        sys.settrace(before)
        threading.settrace(before_in_threads)
    return counted


def growth(work: Callable[[int], object], size: int, times: int = TIMES) -> float:
    """The ratio of lines run for `size` times `times` to lines run for `size`; about `times` for linear work.

    A smaller size runs first, so that one-time loading and compiling does not count.
    """
    work(max(1, size // 2))
    return lines_run(lambda: work(size * times)) / lines_run(lambda: work(size))
