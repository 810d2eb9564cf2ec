"""Writes the tables of docs/papers.md: `python -m factloop.evaluation.reproduction.documents docs/papers.md`."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

from factloop.evaluation.reproduction.registry import ENTRIES, PAPERS, Entry, Paper

START, END = "<!-- entries: written from the registry -->\n", "<!-- end of the entries -->\n"


def with_entries(page: str) -> str:
    """The page with every entry and its status between its two marks, and all else as it was."""
    before, _, rest = page.partition(START)
    _, _, after = rest.partition(END)
    return "".join([before, START, "\n", *(f"{line}\n" for paper in PAPERS for line in _section(paper)), END, after])


def _section(paper: Paper) -> Iterator[str]:
    listed = [entry for entry in ENTRIES if entry.paper == paper.key]
    yield f"## {paper.title}\n\n{paper.citation}.\n"
    yield from _table(("Status", "Entries"), _rows(listed))


def _rows(listed: Iterable[Entry]) -> Iterator[tuple[str, str]]:
    alike: dict[str, list[str]] = {}
    for entry in listed:
        alike.setdefault(entry.status.value, []).append(f"`{entry.id}`")
    yield from ((f"{status} ({len(ids)})", ", ".join(ids)) for status, ids in sorted(alike.items()))


def _table(heads: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> Iterator[str]:
    yield f"| {' | '.join(heads)} |"
    yield f"|{'---|' * len(heads)}"
    yield from (f"| {' | '.join(row)} |" for row in rows)
    yield ""


if __name__ == "__main__":
    place = Path(sys.argv[1])
    place.write_text(with_entries(place.read_text(encoding="utf-8")), encoding="utf-8")
