"""Writes docs/papers.md after a change to the registry: `python -m factloop.evaluation.reproduction.documents FILE`."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path

from factloop.evaluation.reproduction.departures import DEPARTURES
from factloop.evaluation.reproduction.records import Entry
from factloop.evaluation.reproduction.registry import PAPERS, Paper, all_entries

_HEAD = """\
# The papers' tables and figures

<!-- Written by `python -m factloop.evaluation.reproduction.documents docs/papers.md`: change the registry instead. -->

`factloop reproduce` runs a table or figure of the three papers and lays theirs beside ours, with the difference, on the
terminal, as a page and as CSV. What needs no model comes out of labelled data, or of other figures that the paper
prints; what needs one is computed from the output of the command that the entry names.

    factloop reproduce list
    factloop reproduce trustscore:table-3 --html table.html --csv table.csv
    factloop reproduce vwc:table-6
    factloop reproduce list --dry-run

`--data FOLDER` names labelled data as `factloop data get` puts them, or files such as `wice_dev.jsonl`;
`--results FILE` the output of the entry's command, several times for a table over several runs; `--evaluator
PAPER=OURS` which of its evaluators stands for one of the paper's. "The same as printed" means equal to the last digit
that the paper prints; a figure that was computed from rounded ones may be off by what rounding explains. What "follows
from printed figures" shows that a paper's sums hold, and our formulas are its own: no data stand behind it.
"""


def papers_document() -> str:
    """The page: every entry with its status, then the departures."""
    sections = [line for paper in PAPERS for line in _section(paper)]
    return "\n".join([_HEAD, *sections, *_departures()])


def _section(paper: Paper) -> Iterator[str]:
    listed = [entry for entry in all_entries() if entry.paper == paper.key]
    counts = Counter(entry.status.value for entry in listed)
    yield f"## {paper.title}\n"
    yield f"{paper.citation}. {'; '.join(f'{n} {status}' for status, n in sorted(counts.items()))}.\n"
    yield from _table(("Entry", "Shows", "Status", "Why", "Needs"), map(_row, listed))
    yield from _commands(listed)


def _row(entry: Entry) -> tuple[str, ...]:
    needs = [", ".join(f"`{one}`" for one in entry.data), entry.model, entry.key]
    return f"`{entry.id}`", entry.title, entry.status.value, entry.why, "; ".join(filter(None, needs)) or "nothing"


def _commands(listed: Iterable[Entry]) -> Iterator[str]:
    """What to run for what models answer, each command once."""
    of_command: dict[str, list[str]] = {}
    for entry in listed:
        if entry.command:
            of_command.setdefault(entry.command, []).append(entry.id.partition(":")[2])
    if of_command:
        yield "What `--results` reads comes from these commands:\n"
        yield from _table(("Command", "For"), ((f"`{one}`", ", ".join(ids)) for one, ids in of_command.items()))


def _departures() -> Iterator[str]:
    yield "## Where factloop departs from the papers\n"
    yield from _table(
        ("Paper", "There", "Here", "As there"),
        ((one.paper, one.theirs, one.ours, one.without or "not to be had") for one in DEPARTURES),
    )


def _table(heads: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> Iterator[str]:
    yield f"| {' | '.join(heads)} |"
    yield f"|{'---|' * len(heads)}"
    for row in rows:
        yield f"| {' | '.join(row)} |"
    yield ""


if __name__ == "__main__":
    (place,) = sys.argv[1:]
    Path(place).write_text(papers_document(), encoding="utf-8")
