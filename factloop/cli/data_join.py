"""`factloop data join`: LLM-AggreFact's claims with the systems, responses and prompts that they are from."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

from factloop.cli.exits import DONE, messages_console, stopped_with
from factloop.cli.outputs import STANDARD_OUTPUT, Terminal, say, try_outputs, write_files
from factloop.core.errors import ConfigError
from factloop.core.files.json import to_json, to_json_line
from factloop.evaluation.datasets.joining import Join, JoinCounts, JoinReport
from factloop.evaluation.datasets.llm_aggrefact import load_llm_aggrefact
from factloop.evaluation.datasets.upstream import UpstreamResponse, load_upstream
from factloop.reports.sheet.table import Column, ColumnOf, Sheet, name, sheet_of
from factloop.reports.sheet.terminal import print_sheet


@dataclass(frozen=True)
class JoinAsk:
    """Arguments of the command."""

    claims: str
    upstream: tuple[str, ...]
    """Each `KIND=PATH`."""
    out: str
    json: str | None
    quiet: bool


def run_join(ask: JoinAsk) -> int:
    """Joins and writes; returns the exit code. Raises FactloopError for wrong input."""
    places = _places(ask.upstream)
    try_outputs((ask.out, ask.json), (ask.claims, *(place for _, place in places)))
    with stopped_with("It costs nothing to run it again.", messages_console()):
        responses: list[UpstreamResponse] = []
        for kind, place in places:
            responses += load_upstream(kind, place)
        join = Join(responses)
        lines = "".join(map(to_json_line, join.joined(load_llm_aggrefact(ask.claims))))
    report = join.report
    write_files({ask.out: lambda: lines, ask.json: partial(to_json, report)})
    if not ask.quiet and STANDARD_OUTPUT not in (ask.out, ask.json):
        say(lambda: print_sheet(Terminal(), join_sheet(report)))
    return DONE


def join_sheet(report: JoinReport) -> Sheet:
    """What became of the claims of each data set."""
    columns: tuple[ColumnOf[JoinCounts], ...] = (
        (name("Data set"), lambda one: one.dataset),
        (Column("Responses"), lambda one: one.n_responses),
        (Column("Matched", is_strong=True), lambda one: one.matched),
        (Column("In several"), lambda one: one.ambiguous),
        (Column("In none"), lambda one: one.unmatched),
        (Column("Into"), lambda one: ", ".join(f"{dataset} {n:,}" for dataset, n in one.into.items()) or "–"),
    )
    return sheet_of("Claims and the responses that they are from", columns, report.datasets)


def _places(given: Sequence[str]) -> list[tuple[str, str]]:
    places = []
    for one in given:
        kind, mark, place = one.partition("=")
        if not (kind and mark and place):
            raise ConfigError(f"--upstream {one}: it is KIND=PATH, such as ragtruth=FOLDER")
        places.append((kind, place))
    return places
