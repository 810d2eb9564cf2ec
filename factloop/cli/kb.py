"""`factloop kb build`: a local table of typed entities from DBpedia's dumps."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from factloop.cli.exits import DONE, messages_console, stopped_with
from factloop.cli.outputs import STANDARD_OUTPUT, Terminal, say, try_outputs
from factloop.core.errors import ConfigError
from factloop.reports.figures import plural
from factloop.reports.visible import visible
from factloop.tools.knowledge_base.build import build_table


def run_build(
    types: Sequence[Path],
    labels: Sequence[Path],
    popularity: Sequence[Path],
    out: Path,
    language: str,
    *,
    quiet: bool,
) -> int:
    """Builds the table; returns the exit code. Raises FactloopError for wrong input."""
    messages = messages_console()
    if str(out) == STANDARD_OUTPUT:
        raise ConfigError("--out: a table cannot go to standard output; name a file")
    try_outputs((str(out),), [str(dump) for dump in (*types, *labels, *popularity)])
    with stopped_with(f"{out} was not written.", messages), messages.status("reading the dumps") as status:
        stats = build_table(
            types,
            labels,
            out,
            popularity=popularity,
            language=language,
            progress=None if quiet else lambda dump, triples: status.update(f"{dump.name}: {triples:,} triples"),
        )
    if not quiet:
        left_out = f"; {stats.unlabelled:,} without a label were left out" if stats.unlabelled else ""
        of = plural(stats.types, "type")
        said = f"{out}: {stats.entities:,} entities of {of}, {plural(stats.names, 'name')}{left_out}"
        say(lambda: Terminal().print(visible(said), soft_wrap=True))
    return DONE
