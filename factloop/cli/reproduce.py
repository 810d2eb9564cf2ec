"""`factloop reproduce`: a table or figure of the papers, theirs beside ours."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from pathlib import Path

from factloop.cli.exits import DONE, messages_console, stopped_with
from factloop.cli.outputs import STANDARD_OUTPUT, Terminal, price, say, try_outputs, write_files
from factloop.cli.pairs import pairs_given
from factloop.core.errors import ConfigError
from factloop.core.files.json import to_json
from factloop.evaluation.reproduction.estimate import estimate_calls
from factloop.evaluation.reproduction.inputs import Inputs, find_places
from factloop.evaluation.reproduction.records import Entry, EntryList, Reproduction
from factloop.evaluation.reproduction.registry import all_entries, find_entry
from factloop.evaluation.reproduction.views import sheets
from factloop.evaluation.reproduction.views.html import render_entries_html, render_reproduction_html
from factloop.evaluation.reproduction.views.terminal import print_entries, print_estimate, print_reproduction
from factloop.reports.sheet.csv import sheet_csv

LIST = "list"


@dataclass(frozen=True)
class ReproduceAsk:
    """Arguments of the command."""

    entry: str
    data: str | None
    results: tuple[str, ...]
    evaluators: tuple[str, ...]
    """Each `PAPER=OURS`."""
    price_in: float | None
    json: str | None
    html: str | None
    csv: str | None
    dry_run: bool
    quiet: bool

    @property
    def outputs(self) -> tuple[str | None, ...]:
        return self.json, self.html, self.csv


def run_reproduce(ask: ReproduceAsk) -> int:
    """Lists or reproduces, and writes; returns the exit code. Raises FactloopError for wrong input."""
    messages = messages_console()
    try_outputs(ask.outputs, (ask.data, *ask.results))
    with stopped_with("It costs nothing to run it again.", messages):
        if ask.entry == LIST:
            return _list(ask)
        entry = find_entry(ask.entry)
        _refuse_unread(ask, entry)
        inputs = _inputs(ask, entry)
        if ask.dry_run:
            estimate = estimate_calls(entry, inputs)
            cost = price(None if estimate is None else estimate.usd(ask.price_in))
            say(lambda: print_estimate(entry, estimate, cost, Terminal()))
            return DONE
        if entry.run is None:
            raise ConfigError(f"{entry.id} cannot be reproduced: {entry.why}")
        found = entry.run(inputs)
        _write(ask, entry, found)
    return DONE


def _list(ask: ReproduceAsk) -> int:
    listed = all_entries()
    estimates = [estimate_calls(entry, _inputs(ask, entry)) for entry in listed] if ask.dry_run else []
    calls = [None if one is None else one.n_calls for one in estimates] or [None] * len(listed)
    record = EntryList(entries=tuple(entry.listed(n) for entry, n in zip(listed, calls, strict=True)))
    write_files(
        {
            ask.json: partial(to_json, record),
            ask.html: partial(render_entries_html, listed),
            ask.csv: lambda: sheet_csv(sheets.entries(listed, estimates)),
        }
    )
    if not ask.quiet and STANDARD_OUTPUT not in ask.outputs:
        say(lambda: print_entries(listed, estimates, Terminal()))
    return DONE


def _refuse_unread(ask: ReproduceAsk, entry: Entry) -> None:
    """Raises ConfigError for flags that the entry would pass over."""
    if ask.results and not entry.reads_results:
        raise ConfigError(f"--results: {entry.id} reads the output of no other command")
    if ask.evaluators and not ask.results:
        raise ConfigError("--evaluator: it names evaluators of --results, and there are none")


def _inputs(ask: ReproduceAsk, entry: Entry) -> Inputs:
    evaluators = pairs_given("--evaluator", ask.evaluators, "PAPER=OURS, such as Bespoke-7B=bespoke:minicheck")
    places = find_places(entry.data, ask.data) if entry.data else {}
    return Inputs(places, tuple(map(Path, ask.results)), evaluators)


def _write(ask: ReproduceAsk, entry: Entry, found: Reproduction) -> None:
    write_files(
        {
            ask.json: partial(to_json, found),
            ask.html: partial(render_reproduction_html, found, entry),
            ask.csv: lambda: sheet_csv(sheets.reproduction(found)),
        }
    )
    if not ask.quiet and STANDARD_OUTPUT not in ask.outputs:
        say(lambda: print_reproduction(found, entry, Terminal()))
