"""Interfaces that the graphs need: a subject, a judge of passages, and a generator of distractors."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from factloop.agents.trustscore.records import DistractorSet, Letter, Option, Relation
from factloop.core.records import Evidence
from factloop.tools.calls.meter import UsageMeter


@dataclass(frozen=True)
class Choice:
    letter: Letter
    probabilities: Mapping[Letter, float] | None


@dataclass(frozen=True)
class PassageJudgement:
    relation: Relation | None
    """How the passages relate to the answer, or None if the judge is unsure and a person must decide."""
    rationale: str
    cited: tuple[int, ...]


class Subject(Protocol):
    """The model whose belief is tested. Its methods cost money and raise ToolError, ModelOutputError or ConfigError."""

    @property
    def name(self) -> str: ...

    async def choose(self, question: str, options: Sequence[Option], *, statements: bool, meter: UsageMeter) -> Choice:
        """Returns the option that the subject believes.

        With `statements`, the options are claims about the topic in `question`.
        """
        ...

    async def answer(self, question: str, *, meter: UsageMeter) -> str: ...


class Judge(Protocol):
    """Decides how passages relate to an answer. May cost money. Raises the same errors as `Subject`."""

    @property
    def name(self) -> str: ...

    async def judge(
        self, question: str, answer: str, passages: Sequence[Evidence], *, meter: UsageMeter
    ) -> PassageJudgement: ...


class Distract(Protocol):
    async def __call__(
        self, question: str, response: str, *, references: Sequence[str], meter: UsageMeter
    ) -> DistractorSet:
        """Makes the distractors for one response. A model's proposals must not state any of the right answers
        (`references`).
        """
        ...
