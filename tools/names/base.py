"""Defines the interface of a knowledge base, which links names to typed entities and lists other entities of a type."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Protocol, TypeVar

Named = TypeVar("Named")


@dataclass(frozen=True, slots=True)
class LinkedEntity:
    """A typed entity whose name is at `text[start:end]`."""

    name: str
    """The name as written in the text."""
    start: int
    end: int
    key: str
    """The knowledge base's identifier for the entity: a URI or a canonical name."""
    types: tuple[str, ...]
    """The types, most general first. Never empty."""


@dataclass(frozen=True, slots=True)
class Sibling:
    """Another entity that shares types with a linked entity."""

    label: str
    """The label in a form that can replace the entity's name in a sentence, with the same title, order and number."""
    shared: tuple[str, ...]
    """The types that both entities have."""


class KnowledgeBase(Protocol):
    """A source of entities of the same type. It is shared by all answers in a run and bound to one event loop."""

    @property
    def identity(self) -> str:
        """The name for a run's fingerprint. It changes whenever results may change, and contains no secrets."""
        ...

    async def link(self, text: str, question: str) -> Sequence[LinkedEntity]:
        """The entities named in `text`, in order and without overlap. Entities without types are omitted.

        `question` is the question that `text` answers. For example, "which state" selects Florida the state instead of
        Florida the city. Unusual text (empty, in other scripts, very long) yields fewer entities, never an error.
        Raises ToolError or ToolTimeout if a server does not answer properly.
        """
        ...

    async def siblings(self, entity: LinkedEntity, limit: int) -> Sequence[Sibling]:
        """At most `limit` other entities, sorted by the number of shared types, most first, and then by fame.

        The entity itself is not included, under any name. The same call always gives the same list. Raises ToolError,
        ToolTimeout.
        """
        ...


def without_overlap(
    found: Iterable[Named], place: Callable[[Named], tuple[int, int]], *, first: Callable[[Named], bool] | None = None
) -> list[Named]:
    """The items without overlap, by position. Items for which `first` is true take precedence, then longer items."""

    def rank(one: Named) -> tuple[bool, int, int]:
        start, end = place(one)
        return first is None or not first(one), start - end, start

    kept: dict[tuple[int, int], Named] = {}
    for one in sorted(found, key=rank):
        start, end = place(one)
        if all(end <= other_start or other_end <= start for other_start, other_end in kept):
            kept[start, end] = one
    return [kept[span] for span in sorted(kept)]
