"""`factloop research kb build` builds a table of typed entities from DBpedia dumps."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from factloop.cli.console import DONE, step, stopped_with
from factloop.cli.options import Quiet, command
from factloop.cli.outputs import STANDARD_OUTPUT, deliver, show_lines, try_outputs
from factloop.core.errors import ConfigError
from factloop.reports.figures import plural
from factloop.setup.marks import Mark
from factloop.tools.names.build import build_table


class Build(Quiet):
    types: Annotated[tuple[Path, ...], Mark(metavar="FILE")]
    """Dump of DBpedia's instance types (N-Triples or Turtle)."""
    labels: Annotated[tuple[Path, ...], Mark(metavar="FILE")]
    """Dump of DBpedia's labels. Only English labels are used."""
    out: Annotated[Path, Mark(metavar="FILE")]
    """Write the table to this file."""
    popularity: Annotated[tuple[Path, ...], Mark(metavar="FILE")] = ()
    """Dump of page links or ranks, used to put better-known entities first."""


@command()
def build(given: Build) -> int:
    if str(given.out) == STANDARD_OUTPUT:
        raise ConfigError("cannot write a table to standard output: set --out to a file")
    try_outputs((str(given.out),), [str(dump) for dump in (*given.types, *given.labels, *given.popularity)])
    with stopped_with(f"{given.out} was not written."), step("reading the dumps", quiet=given.quiet) as say_step:
        stats = build_table(
            given.types,
            given.labels,
            given.out,
            popularity=given.popularity,
            progress=lambda dump, triples: say_step(f"{dump.name}: {triples:,} triples"),
        )
    left_out = f"; left out {stats.unlabelled:,} without a label" if stats.unlabelled else ""
    of = plural(stats.types, "type")
    said = f"{given.out}: {stats.entities:,} entities of {of}, {plural(stats.names, 'name')}{left_out}"
    deliver(given, None, show_lines([said]))
    return DONE
