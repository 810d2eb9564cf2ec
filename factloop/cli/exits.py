"""Exit codes, and the hint that a stopped command gives on how to go on."""

from __future__ import annotations

import asyncio
import signal
import threading
import warnings
from collections.abc import Coroutine, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Any, TypeVar

from rich.console import Console

from factloop.cli.outputs import leave_now

DONE, BELOW_THRESHOLD, UNSCORED, INTERRUPTED = 0, 1, 3, 130

T = TypeVar("T")


def messages_console() -> Console:
    """Standard error, for progress and messages."""
    return Console(stderr=True, emoji=False, markup=False, highlight=False)


def left_unscored(messages: Console, said: str) -> int:
    """Says what is missing; returns the exit code for it."""
    messages.print(f"factloop: {said}", soft_wrap=True)
    return UNSCORED


def run_until_stopped(work: Coroutine[Any, Any, T], messages: Console, *, run_dir: Path | None, kept: bool) -> T:
    """The result of `work`. An interrupt ends the process at once, with a line on how to go on."""
    results: list[T] = []
    with asyncio.Runner() as runner:
        try:
            runner.run(_keep(work, results))
        except KeyboardInterrupt:
            messages.print(_resume_hint(run_dir, kept=kept), soft_wrap=True)
            leave_now(INTERRUPTED)
    return results[0]


def run_alone(work: Coroutine[Any, Any, T]) -> T:
    """The result of `work`, in an event loop of its own. Raises KeyboardInterrupt."""
    results: list[T] = []
    asyncio.run(_keep(work, results))
    return results[0]


async def _keep(work: Coroutine[Any, Any, T], results: list[T]) -> None:
    """Adds the result of `work`: what a runner returns, Python 3.11 writes out in full to find that it is no signal."""
    with _silent_on_what_never_began():
        results.append(await work)


@contextmanager
def _silent_on_what_never_began() -> Iterator[None]:
    """An interrupt cancels tasks that have not begun, LangGraph's among them; Python would warn of their coroutines."""
    cancel = signal.getsignal(signal.SIGINT)
    if not callable(cancel) or threading.current_thread() is not threading.main_thread():
        yield
        return

    def stop(number: int, frame: FrameType | None) -> None:
        warnings.filterwarnings("ignore", r"coroutine '.*' was never awaited", RuntimeWarning)
        cancel(number, frame)

    signal.signal(signal.SIGINT, stop)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, cancel)


@contextmanager
def stopped_with(said: str, messages: Console) -> Iterator[None]:
    """Ends the process at an interrupt, with this line: for work that costs nothing."""
    try:
        yield
    except KeyboardInterrupt:
        messages.print(f"factloop: stopped. {said}", soft_wrap=True)
        leave_now(INTERRUPTED)


def _resume_hint(run_dir: Path | None, *, kept: bool) -> str:
    if run_dir is not None:
        return f"factloop: stopped. Run the same command again to go on from {run_dir}."
    if kept:
        return "factloop: stopped. Answers so far are in the cache: the same command pays only for the rest."
    return "factloop: stopped. With --run-dir FOLDER a stopped run can be resumed."
