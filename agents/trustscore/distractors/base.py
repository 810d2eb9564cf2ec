"""Defines the types used to generate distractors: targets, substitutes and their sources."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple, Protocol

from factloop.agents.trustscore.records import Source, SubstitutionLevel

Kind = Literal["entity", "date", "number", "noun", "verb", "adjective", "word"]


@dataclass(frozen=True, slots=True)
class Target:
    """A part of the response that may be replaced: `response[start:end] == text`."""

    text: str
    start: int
    end: int
    level: SubstitutionLevel
    kind: Kind
    tag: str
    """Penn Treebank tag of the last word: NNP, NNS, CD, VBD, JJ ..."""
    asked: bool = False
    """Whether the question asks for this type of word. If so, a substitute of another type would reveal the answer."""


class Substitute(NamedTuple):
    """A word or phrase that can replace a target. `form.insert` adjusts case, number and article."""

    text: str
    source: Source
    detail: str = ""


class Request(NamedTuple):
    """A request for at most `limit` substitutes for a word or phrase in an answer to a question."""

    response: str
    question: str
    limit: int
    rng: random.Random


class SubstituteSource(Protocol):
    """A source of substitutes, such as entities of the same type, other dates, or similar words."""

    @property
    def name(self) -> str:
        """The source's name, for notes and fingerprints. It must change whenever the source's results may change."""
        ...

    async def substitutes(self, target: Target, request: Request) -> Sequence[Substitute]:
        """Returns substitutes for a target, best first, but never the target itself. Empty if the source has none.

        Raises ToolError or ToolTimeout if a server fails.
        """
        ...
