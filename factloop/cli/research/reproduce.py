"""`factloop research reproduce` reproduces a table from the papers and shows it beside the published numbers."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from factloop.cli.console import DONE, stopped_with
from factloop.cli.inputs import pairs_given
from factloop.cli.options import ARGUMENT, Tabled, Texts, command
from factloop.cli.outputs import deliver, try_outputs
from factloop.core.errors import ConfigError
from factloop.core.extras import require
from factloop.setup.marks import Mark

if TYPE_CHECKING:
    from factloop.evaluation.reproduction.inputs import Inputs
    from factloop.evaluation.reproduction.registry import Entry

LIST = "list"


class Reproduce(Tabled):
    entry: Annotated[str, Mark(ARGUMENT, "ENTRY")]
    """Table to reproduce, such as vwc:table-21, or list to show all tables."""
    data: Annotated[str | None, Mark(metavar="PATH")] = None
    """Folder or file of labelled data. Default: the data downloaded by factloop research data get."""
    results: Annotated[str | None, Mark(metavar="FILE")] = None
    """Output of the table's command, which list shows. Needed only for tables that are based on a model's answers."""
    evaluator: Annotated[Texts, Mark(metavar="PAPER=OURS")] = ()
    """Name of an evaluator in the paper (PAPER) and in the results (OURS)."""


@command()
def reproduce(given: Reproduce) -> int:
    require("evaluation", "factloop research reproduce")
    require("trust", "factloop research reproduce")
    from factloop.evaluation.reproduction.registry import find_entry
    from factloop.evaluation.reproduction.views import print_reproduction, render_reproduction_html

    try_outputs(given.written, (given.data, given.results))
    with stopped_with("Running it again costs nothing."):
        if given.entry == LIST:
            return _list(given)
        entry = find_entry(given.entry)
        if given.results and not entry.reads_results:
            raise ConfigError(f"{entry.id} does not use the output of another command; omit --results")
        if given.evaluator and not given.results:
            raise ConfigError("--evaluator refers to evaluators in --results: also set --results")
        found = entry.reproduce(_inputs(given, entry))
    show, page = partial(print_reproduction, found, entry), partial(render_reproduction_html, found, entry)
    deliver(given, found, show, page=page)
    return DONE


def _list(given: Reproduce) -> int:
    from factloop.evaluation.reproduction.records import EntryList
    from factloop.evaluation.reproduction.registry import ENTRIES
    from factloop.evaluation.reproduction.views import entries_sheet, render_entries_html
    from factloop.reports.sheet.terminal import print_sheet

    record = EntryList(entries=tuple(entry.listed() for entry in ENTRIES))
    sheet = entries_sheet(ENTRIES)
    page = partial(render_entries_html, ENTRIES)
    deliver(given, record, lambda terminal: print_sheet(terminal, sheet), page=page)
    return DONE


def _inputs(given: Reproduce, entry: Entry) -> Inputs:
    from factloop.evaluation.reproduction.inputs import Inputs, find_places

    evaluators = pairs_given("--evaluator", given.evaluator, "PAPER=OURS, such as Bespoke-7B=bespoke:minicheck")
    places = find_places(entry.data, given.data) if entry.data else {}
    return Inputs(places, None if given.results is None else Path(given.results), evaluators)
