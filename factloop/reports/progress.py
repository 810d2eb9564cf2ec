"""Shows progress on standard error, either of a check or of a number of items. If standard error is not a terminal,
only waits for servers are reported, one line each."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Self

from rich.console import Console
from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeRemainingColumn

from factloop.core.events import CheckFinished, ClaimFound, ClaimJudged, Event, ResponseSplit, ServerWait
from factloop.core.records import Usage
from factloop.reports import figures
from factloop.reports.visible import visible


class _Display:
    def __init__(self, console: Console, described: str, total: int | None = None, done: int = 0) -> None:
        self._progress = Progress(
            SpinnerColumn(),
            TextColumn("{task.description}"),
            BarColumn(),
            TextColumn("{task.fields[spent]}"),
            TimeRemainingColumn(compact=True),
            console=console,
            transient=True,
            disable=not console.is_terminal,
            redirect_stdout=False,  # standard output may be a result that is piped elsewhere
        )
        self._task = self._progress.add_task(described, total=total, completed=done, spent="")
        self._waited_s: dict[str, float] = {}
        self._said = ""

    def __enter__(self) -> Self:
        self._progress.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._progress.stop()

    def waiting(self, waiting: ServerWait) -> None:
        """Shows which server the check is waiting for. Without a terminal, prints a line per outage or batch state."""
        said = waiting_in_words(waiting)
        if self._progress.console.is_terminal:
            self._progress.update(self._task, description=said)
        elif said != self._said and (
            waiting.n_requests is not None or waiting.waited_s < self._waited_s.get(waiting.server, float("inf"))
        ):
            self._progress.console.print(f"factloop: {said}", soft_wrap=True)
        self._waited_s[waiting.server], self._said = waiting.waited_s, said


class ProgressDisplay(_Display):
    """Shows the progress of a check: first the number of sentences read, then the number of claims judged."""

    def __init__(self, console: Console, n_characters: int) -> None:
        super().__init__(console, f"reading {figures.plural(n_characters, 'character')}")
        self._n_sentences = 0
        self._read: set[tuple[int, int]] = set()
        self._found: set[str] = set()
        self._judged: set[str] = set()

    def handle(self, event: Event) -> None:
        """Handles one event. Passing the same event again has no effect."""
        match event:
            case ResponseSplit():
                self._n_sentences = event.n_sentences
                self._show()
            case ClaimFound():
                self._found.add(event.claim_id)
                self._read.add(event.span)
                self._show()
            case ClaimJudged():
                if not self._judged:
                    self._progress.reset(self._task, description="")  # claims take a different time than sentences
                self._found.add(event.claim.id)
                self._judged.add(event.claim.id)
                spent = f"{figures.plural(event.usage.calls, 'call')}, {figures.cost(event.usage)}"
                self._progress.update(self._task, spent=spent)
                self._show()
            case ServerWait():
                self.waiting(event)
            case CheckFinished():
                self._progress.update(self._task, description="done")
            case _:
                pass

    def _show(self) -> None:
        if self._judged:
            done, total = len(self._judged), len(self._found)
            said = f"{done:,} of {figures.plural(total, 'claim')}"
        else:
            done, total = len(self._read), max(self._n_sentences, len(self._read))
            said = f"read {done:,} of {figures.plural(total, 'sentence')}"
        self._progress.update(self._task, completed=done, total=total, description=said)


class CountDisplay(_Display):
    """Shows how many of a known number of items are finished, with the calls and cost so far."""

    def __init__(self, console: Console, noun: str, total: int, *, done: int = 0) -> None:
        self._noun, self._total = noun, total
        self._done, self._calls = done, 0
        self._usd: float | None = 0.0
        super().__init__(console, self._described, total, done)

    def one_more(self, usage: Usage | None = None) -> None:
        """Counts one more finished item, and its cost if known."""
        usage = Usage() if usage is None else usage
        self._done += 1
        self._calls += usage.calls
        self._usd = None if self._usd is None or usage.cost_usd is None else self._usd + usage.cost_usd
        spent = figures.plural(self._calls, "call") + (f", {self._usd:.4f} USD" if self._usd else "")
        self._progress.update(self._task, completed=self._done, description=self._described, spent=spent)

    @property
    def _described(self) -> str:
        return f"{self._done:,} of {figures.plural(self._total, self._noun)}"


def waiting_in_words(waiting: ServerWait) -> str:
    if waiting.n_requests is not None:
        since = datetime.now() - timedelta(seconds=waiting.waited_s)
        in_batches = f"{figures.plural(waiting.n_requests, 'request')} in batches since {since:%H:%M}"
        return visible(f"{waiting.server}: {in_batches} ({waiting.cause})")
    waited = f"waiting {waiting.waited_s:.0f} of {waiting.patience_s:g} s"
    return visible(f"{waiting.server} is not accepting requests ({waiting.cause}): {waited}")
