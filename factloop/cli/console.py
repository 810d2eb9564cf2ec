"""Defines exit codes, handles interrupts, and shows messages and progress on standard error."""

from __future__ import annotations

import asyncio
import logging
import warnings
from collections.abc import Callable, Coroutine, Iterator
from contextlib import ExitStack, aclosing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from rich.console import Console

from factloop.cli.outputs import leave_now
from factloop.core.records import Record
from factloop.reports.progress import CountDisplay
from factloop.reports.visible import visible
from factloop.tools.calls.patience import told_of_waits

if TYPE_CHECKING:
    from factloop.evaluation.running.run import Events

DONE, BELOW_THRESHOLD, BROKEN, UNSCORED, INTERRUPTED = 0, 1, 2, 3, 130

T = TypeVar("T")
R = TypeVar("R")
S = TypeVar("S", bound=Record)


def messages_console() -> Console:
    return Console(stderr=True, emoji=False, markup=False, highlight=False)


def note(said: str) -> None:
    messages_console().print(f"factloop: {visible(said)}", soft_wrap=True)


def left_unscored(said: str) -> int:
    """Prints why something is unscored and returns the exit code for it."""
    note(said)
    return UNSCORED


def run_until_stopped(work: Coroutine[Any, Any, T], *, run_dir: Path | None, kept: bool) -> T:
    """Runs `work` and returns its result. If interrupted, prints how to resume and ends the process at once."""
    results: list[T] = []
    log = logging.getLogger("factloop.checking.check")  # the command itself reports failed checks at the end
    with asyncio.Runner() as runner:
        log.disabled = True
        try:
            runner.run(_keep(work, results))
        except KeyboardInterrupt:
            note(_resume_hint(run_dir, kept=kept))
            leave_now(INTERRUPTED)
        finally:
            log.disabled = False
    return results[0]


def run_alone(work: Coroutine[Any, Any, T]) -> T:
    """Runs `work` in a new event loop. Raises KeyboardInterrupt if interrupted."""
    results: list[T] = []
    asyncio.run(_keep(work, results))
    return results[0]


async def _keep(work: Coroutine[Any, Any, T], results: list[T]) -> None:
    """Stores the result instead of returning it, because Python 3.11 would format a returned result in full."""
    # An interrupt cancels tasks that have not started (some are LangGraph's), and Python warns about their coroutines.
    warnings.filterwarnings("ignore", r"coroutine '.*' was never awaited", RuntimeWarning)
    results.append(await work)


@contextmanager
def stopped_with(said: str) -> Iterator[None]:
    """If the block is interrupted, prints this line and ends the process. Use this only for work that costs nothing."""
    try:
        yield
    except KeyboardInterrupt:
        note(f"stopped. {said}")
        leave_now(INTERRUPTED)


def _resume_hint(run_dir: Path | None, *, kept: bool) -> str:
    if run_dir is not None:
        return f"stopped. Run the same command again to continue from {run_dir}."
    if kept:
        return "stopped. Answers so far are in the cache, so if you repeat the command, you pay only for the rest."
    return "stopped. To be able to resume a stopped run, use --run-dir FOLDER."


@contextmanager
def step(said: str, *, quiet: bool) -> Iterator[Callable[[str], None]]:
    """Shows the current step in the terminal while the block runs. Yields a function that moves on to the next step."""
    messages = messages_console()
    if quiet or not messages.is_terminal:
        yield lambda _: None
        return
    with messages.status(said) as status:
        yield lambda told: status.update(visible(told))


@contextmanager
def counted(noun: str, total: int, *, done: int = 0, quiet: bool = False) -> Iterator[CountDisplay]:
    """Shows a progress bar while the block runs. The bar also names the servers that the block is waiting for."""
    console = Console(stderr=True, quiet=True) if quiet else messages_console()
    with CountDisplay(console, noun, total, done=done) as display, told_of_waits(display.waiting):
        yield display


async def watched(
    events: Events[R, S], noun: str, *, quiet: bool, look_at: Callable[[R], object] = lambda _record: None
) -> S:
    """Shows a progress bar, calls `look_at` with each new record, and returns the run's summary."""
    from factloop.evaluation.running.run import NewRecord, RunStarted

    async with aclosing(events):
        with ExitStack() as stack:
            display: CountDisplay | None = None
            async for event in events:
                if isinstance(event, RunStarted):
                    if not quiet:
                        display = stack.enter_context(counted(noun, event.n_items, done=event.n_done))
                elif isinstance(event, NewRecord):
                    look_at(event.record)
                    if display is not None:
                        display.one_more(event.usage)
                else:
                    return event
    raise AssertionError("the run ended without a summary")
