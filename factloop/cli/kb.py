"""`factloop kb build`: a local table of typed entities from DBpedia's dumps."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from factloop.cli.exits import DONE, messages_console
from factloop.cli.outputs import Terminal, say
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
    with messages_console().status("reading the dumps") as status:
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
        said = f"{out}: {stats.entities:,} entities of {stats.types:,} types, {stats.names:,} names{left_out}"
        say(lambda: Terminal().print(said, soft_wrap=True))
    return DONE
