"""Known names: typed entries, found by any of their names and listed by type."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from factloop.tools.knowledge_base.names import fold_anew

MAX_WORDS = 8
"""Longer names are not looked for in a text."""


class Entry(NamedTuple):
    """One entity of the built-in tables. A tuple, since tens of thousands are made at once."""

    key: str
    label: str
    types: tuple[str, ...]
    """Most general first."""
    fame: float
    """How sure a bare mention of the name means this one: 10 for a country, the logarithm of its people for a city."""
    rank: float = 0.0
    """Order among entries of one type, largest first: people, mostly."""
    aliases: tuple[str, ...] = ()
    within: str = ""
    """Name of the place that a text mentions beside it: *Pierce County, Washington*."""

    @property
    def broad(self) -> str:
        """The kind that questions ask for: *city*, *language*; the second type of a place."""
        return self.types[1] if self.types[0] == "place" else self.types[0]


class Gazetteer:
    """Entries by folded name, by key, and by each of their types, the best known first."""

    def __init__(self, entries: Iterable[Entry]) -> None:
        self._by_key: dict[str, Entry] = {}
        self._by_name: dict[str, list[Entry]] = defaultdict(list)
        self._by_type: dict[str, list[Entry]] = defaultdict(list)
        self.longest = 1
        for entry in sorted(entries, key=lambda entry: (-entry.rank, entry.label, entry.key)):
            self._add(entry)

    def _add(self, entry: Entry) -> None:
        self._by_key[entry.key] = entry
        for kind in entry.types:
            self._by_type[kind].append(entry)
        names = dict.fromkeys(map(fold_anew, (entry.label, *entry.aliases)))
        for name in names:
            self._by_name[name].append(entry)
            if len(name) > 2 * self.longest:
                self.longest = min(MAX_WORDS, max(self.longest, name.count(" ") + 1))

    def named(self, folded: str) -> Sequence[Entry]:
        return self._by_name.get(folded, ())

    def entry(self, key: str) -> Entry | None:
        return self._by_key.get(key)

    def relatives(self, entry: Entry) -> Iterator[tuple[Entry, tuple[str, ...]]]:
        """Others with the types shared: those of all types first, then of fewer; among equals the best known first."""
        seen = {entry.key}
        for depth in range(len(entry.types), 0, -1):
            for other in self._by_type[entry.types[depth - 1]]:
                if other.key not in seen:
                    seen.add(other.key)
                    yield other, entry.types[:depth]
