"""The grammar of the invented language: what a clause states about any subject.

It knows names by their form and relations by their wording, and nothing about the world.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache

from tests.simulator.relations import RELATIONS, Kind, Pool, Relation

_WORD = r"[A-Z][a-z]+"
_SHAPES: Mapping[Pool, str] = {
    "work": rf"The {_WORD} (?:Lantern|Orchard|Meridian|Almanac|Harbour|Mirror|Staircase|Compass|Winter|Ledger)",
    "river": rf"River {_WORD}",
    "institute": rf"{_WORD} (?:College|Academy|House|Society)",
    "ship": rf"{_WORD} (?:Star|Heron|Venture|Fortune)",
    "award": rf"{_WORD} (?:Medal|Prize|Ribbon|Laurel)",
    "person": rf"{_WORD} {_WORD}",
    "town": _WORD,
    "year": r"\d{4}",
    "count": r"\d+ volumes",
    "subject": r"[a-z]+",
    "cargo": r"[a-z]+",
}
ENTITY_POOLS: tuple[Kind, ...] = ("work", "river", "institute", "ship", "person", "town")
"""In the order in which shapes are tried: the plainer after the more telling."""
NAME = re.compile("|".join(f"(?P<{kind}>{_SHAPES[kind]})" for kind in ENTITY_POOLS))


@dataclass(frozen=True)
class Clause:
    """One relation of a subject, with its value."""

    relation: Relation
    key: str
    """Empty where the relation has none."""
    value: str

    @property
    def said(self) -> str:
        """The statement as responses word it, without the subject."""
        return f"{self.relation.said.replace('{key}', self.key)} {self.value}"

    @property
    def names(self) -> tuple[str, ...]:
        pools = ((self.relation.key, self.key), (self.relation.value, self.value))
        return tuple(name for pool, name in pools if pool in ENTITY_POOLS)


@dataclass(frozen=True)
class _Wording:
    pattern: re.Pattern[str]
    relation: Relation


def read_clause(text: str, position: int = 0) -> tuple[Clause, int] | None:
    """The clause that starts at `position`, and its end; None if no relation has that wording."""
    first = _FIRST.match(text, position)
    if first is None:
        return None
    for wording in _wordings().get(first[0], ()):
        if found := wording.pattern.match(text, position):
            clause = Clause(wording.relation, found.groupdict().get("key") or "", found["value"])
            return clause, found.end()
    return None


_NO_NAME = re.compile(rf"(?:She|He|It)\b|The (?!{_WORD} {_WORD})|The {_WORD} [a-z]")
"""What has the shape of a name: pronouns, and *The College*."""
_FIRST = re.compile(r"[a-z]+")
_JOINT = re.compile(r",? and |, ")


def read_clauses(text: str, position: int = 0) -> tuple[list[Clause], int]:
    """The clauses from `position` on that commas or *and* join, and the end of the last one."""
    clauses: list[Clause] = []
    while (found := read_clause(text, position)) is not None:
        clause, position = found
        clauses.append(clause)
        joint = _JOINT.match(text, position)
        if joint is None or read_clause(text, joint.end()) is None:
            break
        position = joint.end()
    return clauses, position


def read_undated(text: str, position: int = 0) -> tuple[Relation, str, int] | None:
    """A clause whose year is left out, as in *received the Mufir Laurel*: relation, key, and where it ends."""
    first = _FIRST.match(text, position)
    for wording in _undated().get(first[0], ()) if first else ():
        if found := wording.pattern.match(text, position):
            return wording.relation, found.groupdict().get("key") or "", found.end()
    return None


@lru_cache(maxsize=4096)
def read_claim(text: str) -> tuple[str, Clause] | None:
    """Subject and clause of a claim that names its subject in full; None for any other text."""
    text = " ".join(text.split())
    subject = NAME.match(text)
    if subject is None or _NO_NAME.match(text) or text[subject.end() : subject.end() + 1] != " ":
        return None
    found = read_clause(text, subject.end() + 1)
    if found is None or text[found[1] :].strip(" .") != "":
        return None
    return subject[0], found[0]


def names_in(text: str) -> Iterator[tuple[Kind, str]]:
    """Everything with the form of a name, in order; a single capitalized word has that of a town."""
    for match in NAME.finditer(text):
        kind = next(kind for kind in ENTITY_POOLS if match[kind])
        yield kind, match[0]


def relation_of_heading(heading: str) -> Relation | None:
    """The relation, without a key, that a capitalized column heading names."""
    said = heading[:1].lower() + heading[1:]
    return next((relation for relation in _all_relations() if relation.key is None and relation.said == said), None)


def _all_relations() -> Sequence[Relation]:
    return [relation for relations in RELATIONS.values() for relation in relations]


@cache
def _wordings() -> Mapping[str, Sequence[_Wording]]:
    """Wordings by first word."""
    wordings = [
        _Wording(_pattern(f"{worded} (?P<value>{_SHAPES[relation.value]})\\b", relation), relation)
        for relation in _all_relations()
        for worded in relation.wordings
    ]
    return _by_first_word(wordings)


@cache
def _undated() -> Mapping[str, Sequence[_Wording]]:
    wordings = [
        _Wording(_pattern(worded.removesuffix(" in") + r"(?=[.,]|$)", relation), relation)
        for relation in _all_relations()
        for worded in relation.wordings
        if relation.value == "year" and relation.key and worded.endswith(" in")
    ]
    return _by_first_word(wordings)


def _pattern(worded: str, relation: Relation) -> re.Pattern[str]:
    key = "" if relation.key is None else f"(?P<key>{_SHAPES[relation.key]})"
    return re.compile(worded.replace("{key}", key))


def _by_first_word(wordings: Sequence[_Wording]) -> Mapping[str, Sequence[_Wording]]:
    by_first: defaultdict[str, list[_Wording]] = defaultdict(list)
    for wording in wordings:
        by_first[wording.pattern.pattern.split(" ")[0]].append(wording)
    return by_first
