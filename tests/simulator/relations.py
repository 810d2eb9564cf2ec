"""Relations of the invented entities: the vocabulary that articles, responses and readers share.

A statement is `{name} {stem} {value}`. Responses use one wording and articles two others, so that comparing strings is
not enough. No stem begins with another stem of the same kind.
"""

# ruff: noqa: SIM905 - word lists of one word a line would bury the table

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, cast

Kind = Literal["person", "institute", "town", "river", "ship", "work"]
Pool = Literal["person", "institute", "town", "river", "ship", "work", "year", "subject", "award", "cargo", "count"]

KINDS: tuple[Kind, ...] = ("person", "institute", "town", "river", "ship", "work")

SUBJECTS = (
    "algebra alchemy astronomy botany cartography ceramics chemistry crystallography cryptography drainage engraving "
    "forestry geology glassmaking grammar harmonics hydraulics lithography mechanics metallurgy meteorology mineralogy "
    "navigation optics papermaking pharmacy rhetoric seismology surveying typography weaving zoology"
).split()
CARGOES = (
    "amber barley basalt beeswax canvas cedar charcoal cobalt copper cotton flax granite grain hemp indigo ivory lead "
    "limestone linen marble nutmeg oak paper pepper porcelain quartz resin rope saffron salt silk slate sugar tar tea "
    "timber tin tobacco vellum wool"
).split()


@dataclass(frozen=True)
class Relation:
    """One kind of statement. `{key}` in its wordings is filled from `key`; each key has one right value."""

    kind: Kind
    """Of its subject."""
    said: str
    """As responses word it."""
    written: tuple[str, str]
    """As articles word it, in one way or the other."""
    noun: str
    """As a searcher words it."""
    value: Pool
    key: Pool | None = None

    @property
    def wordings(self) -> tuple[str, str, str]:
        """All have the same meaning."""
        return self.said, *self.written


def _read(table: str) -> Mapping[Kind, Sequence[Relation]]:
    """Each line is a relation: response wording, two article wordings, query wording, kind of value, key."""
    read: dict[Kind, list[Relation]] = {}
    for line in table.strip().splitlines():
        if line.startswith("["):
            kind = cast(Kind, line.strip("[]"))
            read[kind] = []
            continue
        said, written, otherwise, noun, pools = line.split(" | ")
        value, _, key = pools.partition(" by ")
        read[kind].append(
            Relation(kind, said, (written, otherwise), noun, cast(Pool, value), cast(Pool, key) if key else None)
        )
    return {kind: tuple(relations) for kind, relations in read.items()}


RELATIONS = _read((Path(__file__).parent / "relations.txt").read_text(encoding="utf-8"))
