"""Defines the interface of a knowledge base, which links names to typed entities and lists others of the same types."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Protocol, TypeVar

Named = TypeVar("Named")


@dataclass(frozen=True, slots=True)
class LinkedEntity:
    """An entity of these types, which a text names at `text[start:end]`."""

    name: str
    """The name as written in the text."""
    start: int
    end: int
    key: str
    """The knowledge base's identifier: a URI, or a canonical name."""
    types: tuple[str, ...]
    """Most general first; never empty."""


@dataclass(frozen=True, slots=True)
class Sibling:
    """Another entity that shares types with a given one."""

    label: str
    """The label in a form that can replace the name in a sentence, with the same title, order and number."""
    shared: tuple[str, ...]
    """The types that both have."""


class KnowledgeBase(Protocol):
    """A source of entities of the same type. It is shared by all answers in a run and bound to one event loop."""

    @property
    def identity(self) -> str:
        """The name for a run's fingerprint; it changes whenever results may change, and contains no secrets."""
        ...

    async def link(self, text: str, question: str) -> Sequence[LinkedEntity]:
        """The entities named in `text`, in order and without overlap. Entities without types are omitted.

        `question` is the question that `text` answers: "which state" distinguishes Florida the state from Florida the
        city. Odd text (empty, in other scripts, very long) gives fewer entities, never an error. Raises ToolError or
        ToolTimeout if a server does not answer properly.
        """
        ...

    async def siblings(self, entity: LinkedEntity, limit: int) -> Sequence[Sibling]:
        """At most `limit` other entities. Those that share the most types come first, better-known ones before others.

        The entity itself is not included, under any name. The same call always gives the same list. Raises ToolError,
        ToolTimeout.
        """
        ...


def without_overlap(
    found: Iterable[Named], place: Callable[[Named], tuple[int, int]], *, first: Callable[[Named], bool] | None = None
) -> list[Named]:
    """The items without overlap, in order of position. An item that is `first` wins over others, then the longest."""

    def rank(one: Named) -> tuple[bool, int, int]:
        start, end = place(one)
        return first is None or not first(one), start - end, start

    kept: dict[tuple[int, int], Named] = {}
    for one in sorted(found, key=rank):
        start, end = place(one)
        if all(end <= other_start or other_end <= start for other_start, other_end in kept):
            kept[start, end] = one
    return [kept[span] for span in sorted(kept)]
