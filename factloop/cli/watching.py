"""Shows the progress of a run over many items, from its start to its summary."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack, aclosing
from typing import TypeVar

from rich.console import Console

from factloop.cli.progress import counted
from factloop.core.records import Record
from factloop.evaluation.running.run import Events, NewRecord, RunStarted
from factloop.reports.progress import CountDisplay

R = TypeVar("R")
S = TypeVar("S", bound=Record)


def _ignore(_record: object) -> None:
    """Ignores a record: some commands look at the summary alone."""


async def watched(
    events: Events[R, S],
    noun: str,
    messages: Console,
    *,
    quiet: bool,
    look_at: Callable[[R], None] = _ignore,
) -> S:
    """Waits for the summary of a run, with a bar on the console that counts its items; `look_at` sees each record."""
    async with aclosing(events):
        with ExitStack() as stack:
            display: CountDisplay | None = None
            async for event in events:
                if isinstance(event, RunStarted):
                    if not quiet:
                        display = stack.enter_context(counted(messages, noun, event.n_items, done=event.n_done))
                elif isinstance(event, NewRecord):
                    look_at(event.record)
                    if display is not None:
                        display.one_more(event.usage)
                else:
                    return event
    raise AssertionError("a run ends with its summary")
