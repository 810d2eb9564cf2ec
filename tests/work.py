"""How much work a call does, counted and not timed: the same on any machine, however busy.

Lines of Python are counted. What C does within one line (`re`, `str.find`, numpy) is not seen: where that could take
the square of a text's length, a test takes a text so long that the square would outlast the time limit of a test.
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
    """Lines of Python that the call runs, in this thread and in threads that it starts; in a loop, each time."""
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
    """How many times the lines that `size` takes a size `times` as large takes: about `times` where work is linear.
    Something smaller is done first, so that what is loaded or compiled once is not counted."""
    work(max(1, size // 2))
    return lines_run(lambda: work(size * times)) / lines_run(lambda: work(size))
