"""The interface of a knowledge base: it links names in a text to typed entities, and lists others of the same types."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Protocol, TypeVar

Named = TypeVar("Named")


@dataclass(frozen=True, slots=True)
class LinkedEntity:
    """`text[start:end]` names an entity of these types."""

    name: str
    """The name as it stands in the text."""
    start: int
    end: int
    key: str
    """What the knowledge base knows it by: a URI, or a canonical name."""
    types: tuple[str, ...]
    """Most general first; never empty."""


@dataclass(frozen=True, slots=True)
class Sibling:
    """Another entity that shares types with the one asked about."""

    label: str
    """The label in the form that replaces the name in a sentence: with title, order and number as the original."""
    shared: tuple[str, ...]
    """The types that it shares."""


class KnowledgeBase(Protocol):
    """A source of entities of the same type. Shared by all answers of a run; lives in one event loop."""

    @property
    def identity(self) -> str:
        """Names what answers, for the fingerprint of a run: it changes when answers may; no secrets."""
        ...

    async def link(self, text: str, question: str) -> Sequence[LinkedEntity]:
        """The entities that `text` names, in order, without overlap; those without types are left out.

        `question` is what `text` answers: "which state" tells Florida the state from Florida the city. Odd text (empty,
        other scripts, very long) gives fewer entities, never an error. Raises ToolError, ToolTimeout where a server
        does not answer as it should.
        """
        ...

    async def siblings(self, entity: LinkedEntity, limit: int) -> Sequence[Sibling]:
        """At most `limit` others: those that share all types first, then fewer; among equals the best known first.

        The entity itself, under whatever name, is not among them. The same call always gives the same list. Raises
        ToolError, ToolTimeout.
        """
        ...


def without_overlap(
    found: Iterable[Named], place: Callable[[Named], tuple[int, int]], *, first: Callable[[Named], bool] | None = None
) -> list[Named]:
    """Those that stay, in order of their places, where none may overlap: what comes `first`, then the longest."""

    def rank(one: Named) -> tuple[bool, int, int]:
        start, end = place(one)
        return first is None or not first(one), start - end, start

    kept: dict[tuple[int, int], Named] = {}
    for one in sorted(found, key=rank):
        start, end = place(one)
        if all(end <= other_start or other_end <= start for other_start, other_end in kept):
            kept[start, end] = one
    return [kept[span] for span in sorted(kept)]
