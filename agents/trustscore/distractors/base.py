"""The types that the parts of the distractor generator share: targets, substitutes, and their sources."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

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


@dataclass(frozen=True, slots=True)
class Substitute:
    """A word or phrase for a target's place. `form.insert` puts case, number and article right."""

    text: str
    source: Source
    detail: str = ""


class SubstituteSource(Protocol):
    """One strategy: entities of the same type, other dates, neighbours in embedding space, words of the same class."""

    @property
    def name(self) -> str:
        """The source's name, for notes and fingerprints; it changes when answers may."""
        ...

    async def substitutes(
        self, target: Target, response: str, question: str, *, limit: int, rng: random.Random
    ) -> Sequence[Substitute]:
        """At most `limit` substitutes, best first; none for a target that this source knows nothing of.

        Never the target itself. All chance comes from `rng`. Raises ToolError, ToolTimeout where a server fails; any
        text is accepted.
        """
        ...
