"""Sets of an ontology's classes: which is more general, and in which order fewer and fewer of them are asked for."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import combinations

Supers = Mapping[str, frozenset[str]]
"""Class to all the classes above it; one that is absent has none."""


def closed(direct: Iterable[tuple[str, str]]) -> dict[str, frozenset[str]]:
    """All classes above each, from pairs of a class and one right above it. Equivalent classes may form circles."""
    above: dict[str, set[str]] = {}
    for name, higher in direct:
        above.setdefault(name, set()).add(higher)
    return {name: frozenset(_reached(name, above) - {name}) for name in above}


def _reached(name: str, above: Mapping[str, set[str]]) -> set[str]:
    reached: set[str] = set()
    ahead = list(above.get(name, ()))
    while ahead:
        here = ahead.pop()
        if here not in reached:
            reached.add(here)
            ahead.extend(above.get(here, ()))
    return reached


def general_first(types: Iterable[str], supers: Supers) -> tuple[str, ...]:
    """The types, those with fewest of the others above them first; among equals as they came."""
    named = tuple(types)
    return tuple(sorted(named, key=lambda name: len(supers.get(name, frozenset()).intersection(named))))


def fewer_and_fewer(types: tuple[str, ...], supers: Supers) -> Iterator[tuple[str, ...]]:
    """Subsets of `types` (most general first), all of them first, then smaller ones; of equal size the specific first.

    A set without a class that another member implies would find the same again, and is left out: a basketball player
    who need not be called an athlete. Of n types there are at most 2^n - 1 subsets, in a single line of descent n.
    """
    specific_first = types[::-1]
    for size in range(len(types), 0, -1):
        for chosen in combinations(specific_first, size):
            if all(supers.get(name, frozenset()).intersection(types) <= set(chosen) for name in chosen):
                yield chosen[::-1]


def most_specific(types: Iterable[str], supers: Supers) -> tuple[str, ...]:
    """The types that imply all the others, by name; of equivalent ones the first."""
    named = sorted(set(types))
    return tuple(name for name in named if not any(_goes_without_saying(name, other, supers) for other in named))


def _goes_without_saying(name: str, other: str, supers: Supers) -> bool:
    implied = name in supers.get(other, frozenset())
    equivalent = implied and other in supers.get(name, frozenset())
    return implied and (not equivalent or other < name)
