"""The types that the parts of the distractor generator share: targets, substitutes, and their sources."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple, Protocol

from factloop.agents.trustscore.records import Source, SubstitutionLevel

Kind = Literal["entity", "date", "number", "noun", "verb", "adjective", "word"]


@dataclass(frozen=True, slots=True)
class Target:
    """`response[start:end] == text` may be replaced."""

    text: str
    start: int
    end: int
    level: SubstitutionLevel
    kind: Kind
    tag: str
    """Penn Treebank tag of its last word: NNP, NNS, CD, VBD, JJ ..."""
    asked: bool = False
    """It is of the type that the question asks for: a substitute of another type would give the answer away."""


class Substitute(NamedTuple):
    """A word or phrase for a target's place. `form.insert` puts case, number and article right."""

    text: str
    source: Source
    detail: str = ""


class Request(NamedTuple):
    """What substitutes are for: a response to a question, how many are wanted at most, and the source of all chance."""

    response: str
    question: str
    limit: int
    rng: random.Random


class SubstituteSource(Protocol):
    """One strategy: entities of the same type, other dates, neighbours in embedding space, words of the same class."""

    @property
    def name(self) -> str:
        """The source's name, for notes and fingerprints; it changes when answers may."""
        ...

    async def substitutes(self, target: Target, request: Request) -> Sequence[Substitute]:
        """The best first; none for a target that this source knows nothing of, and never the target itself.

        Raises ToolError, ToolTimeout where a server fails; any text is accepted.
        """
        ...
