"""Targets, substitutes, and the interface of their sources."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple, Protocol

from factloop.agents.trustscore.records import Source, SubstitutionLevel

Kind = Literal["entity", "date", "number", "noun", "verb", "adjective", "word"]


@dataclass(frozen=True, slots=True)
class Target:
    """A part of the response to replace: `response[start:end] == text`."""

    text: str
    start: int
    end: int
    level: SubstitutionLevel
    kind: Kind
    tag: str
    asked: bool = False
    """Whether the question asks for this type of word. A substitute of another type would then reveal the answer."""


class Substitute(NamedTuple):
    """A replacement for a target. `form.insert` adjusts its case, number and article."""

    text: str
    source: Source
    detail: str = ""


class Request(NamedTuple):
    response: str
    question: str
    limit: int
    rng: random.Random


class SubstituteSource(Protocol):
    """A source of substitutes, such as entities of the same type, other dates or similar words."""

    @property
    def name(self) -> str:
        """The name in notes and fingerprints. It must change whenever the source's results may change."""
        ...

    async def substitutes(self, target: Target, request: Request) -> Sequence[Substitute]:
        """Returns substitutes, best first, without the target itself. Raises ToolError or ToolTimeout if a server
        fails.
        """
        ...
