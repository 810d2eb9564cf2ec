"""Known names: typed entries, found by any of their names and listed by type."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
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


def _best_known_first(entry: Entry) -> tuple[float, str, str]:
    return -entry.rank, entry.label, entry.key


class Gazetteer:
    """Entries by folded name, by key, and by each of their types, the best known first.

    Only what is asked for is put in order: a single question sees few of these names and types.
    """

    def __init__(self, entries: Iterable[Entry]) -> None:
        self._by_key: dict[str, Entry] = {}
        self._by_name: dict[str, list[Entry]] = {}
        self._by_types: dict[tuple[str, ...], list[Entry]] = {}
        self.longest = 1
        for entry in entries:
            self._add(entry)
        self._of_type = lru_cache(maxsize=None)(self._best_known)

    def _add(self, entry: Entry) -> None:
        self._by_key[entry.key] = entry
        self._by_types.setdefault(entry.types, []).append(entry)
        for name in {fold_anew(name) for name in (entry.label, *entry.aliases)}:
            self._by_name.setdefault(name, []).append(entry)
            if len(name) > 2 * self.longest:
                self.longest = min(MAX_WORDS, max(self.longest, name.count(" ") + 1))

    def named(self, folded: str) -> Sequence[Entry]:
        return sorted(self._by_name.get(folded, ()), key=_best_known_first)

    def _best_known(self, kind: str) -> Sequence[Entry]:
        of_kind = (entry for types, entries in self._by_types.items() if kind in types for entry in entries)
        return sorted(of_kind, key=_best_known_first)

    def entry(self, key: str) -> Entry | None:
        return self._by_key.get(key)

    def relatives(self, entry: Entry) -> Iterator[tuple[Entry, tuple[str, ...]]]:
        """Others with the types shared: those of all types first, then of fewer; among equals the best known first."""
        seen = {entry.key}
        for depth in range(len(entry.types), 0, -1):
            for other in self._of_type(entry.types[depth - 1]):
                if other.key not in seen:
                    seen.add(other.key)
                    yield other, entry.types[:depth]
