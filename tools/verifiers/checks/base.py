"""A mismatch: what a sentence has otherwise than a claim, of one and the same thing."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from factloop.tools.verifiers.alignment import Alignment

MismatchKind = Literal[
    "value", "date", "denial", "opposite", "quantity", "exclusiveness", "limit", "currency", "sides", "person"
]


@dataclass(frozen=True)
class Mismatch:
    """Words of a claim, and the words that the sentence has in their place."""

    kind: MismatchKind
    claimed: tuple[int, ...]
    """Their places in the claim; empty where the sentence alone denies."""
    said: tuple[int, ...]
    """Their places in the sentence; empty where the claim alone denies."""
    excludes: bool = False
    """Whether both cannot be true of one thing: it was built in one year, and is not both open and shut."""

    def wrong(self, alignment: Alignment) -> str:
        return alignment.claim.phrase(_in_a_row(self.claimed))

    def instead(self, alignment: Alignment) -> str:
        return alignment.sentence.phrase(_in_a_row(self.said))


def _in_a_row(places: tuple[int, ...]) -> tuple[int, ...]:
    """These places and those between them, in their order: *only the curator*, and not *only curator*."""
    return tuple(range(min(places), max(places) + 1)) if places else ()
