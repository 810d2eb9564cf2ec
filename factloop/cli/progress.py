"""Progress of the commands that do many things of one kind."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from rich.console import Console

from factloop.reports.progress import CountDisplay
from factloop.tools.calls.patience import told_of_waits


@contextmanager
def counted(messages: Console, noun: str, total: int, *, done: int = 0, quiet: bool = False) -> Iterator[CountDisplay]:
    """A bar that counts what is done in this block, and says which server is waited for; unless `quiet`, when nothing
    is shown.
    """
    console = Console(stderr=True, quiet=True) if quiet else messages
    with CountDisplay(console, noun, total, done=done) as display, told_of_waits(display.waiting):
        yield display
