"""The interface of a knowledge base, which links names to typed entities and lists similar entities."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Protocol, TypeVar

Named = TypeVar("Named")


@dataclass(frozen=True, slots=True)
class LinkedEntity:
    name: str
    start: int
    end: int
    key: str
    """The knowledge base's identifier for the entity: a URI or a canonical name."""
    types: tuple[str, ...]
    """The types, most general first. There is at least one."""


@dataclass(frozen=True, slots=True)
class Sibling:
    label: str
    """The label, in a form that can replace the entity's name in a sentence."""
    shared: tuple[str, ...]


class KnowledgeBase(Protocol):
    """A source of entities of the same type, for all answers in a run. It is bound to one event loop."""

    @property
    def identity(self) -> str:
        """Identifies the knowledge base in fingerprints. Changes whenever results may change. Contains no secrets."""
        ...

    async def link(self, text: str, question: str) -> Sequence[LinkedEntity]:
        """Returns the typed entities named in `text`, in order and without overlap.

        `question`, which `text` answers, helps to distinguish namesakes: *which state* selects the state of Washington
        instead of the city. Unusual text (empty, very long, in other scripts) yields fewer entities but never an error.
        Raises ToolError or ToolTimeout if a server does not give a valid answer.
        """
        ...

    async def siblings(self, entity: LinkedEntity, limit: int) -> Sequence[Sibling]:
        """Returns up to `limit` other entities. Those that share more or rarer types come first, then those that are
        better known.

        The entity itself is not included under any of its names. The same call always returns the same list. Raises
        ToolError or ToolTimeout.
        """
        ...


def without_overlap(
    found: Iterable[Named], place: Callable[[Named], tuple[int, int]], *, first: Callable[[Named], bool] | None = None
) -> list[Named]:
    """Returns non-overlapping items, sorted by position. Prefers items for which `first` is true, then longer ones."""

    def rank(one: Named) -> tuple[bool, int, int]:
        start, end = place(one)
        return first is None or not first(one), start - end, start

    kept: dict[tuple[int, int], Named] = {}
    for one in sorted(found, key=rank):
        start, end = place(one)
        if all(end <= other_start or other_end <= start for other_start, other_end in kept):
            kept[start, end] = one
    return [kept[span] for span in sorted(kept)]
