"""The stages that the graphs need: a subject to ask, a judge of passages, and distractors."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from factloop.agents.trustscore.records import DistractorSet, Letter, Option, Relation
from factloop.core.records import Evidence
from factloop.tools.calls.meter import UsageMeter


@dataclass(frozen=True)
class Choice:
    """The subject's choice."""

    letter: Letter
    probabilities: Mapping[Letter, float] | None


@dataclass(frozen=True)
class PassageJudgement:
    """A judge's reading of the passages."""

    relation: Relation | None
    """None where the judge is not sure, and a person has to read."""
    rationale: str
    cited: tuple[int, ...]
    """Indices into the passages, from 0."""


class Subject(Protocol):
    """The model whose belief is probed. Its methods cost money, and raise ToolError, ModelOutputError, ConfigError."""

    @property
    def name(self) -> str: ...

    async def choose(self, question: str, options: Sequence[Option], *, statements: bool, meter: UsageMeter) -> Choice:
        """The option that it takes for true. With `statements` the options are claims, and `question` their topic."""
        ...

    async def answer(self, question: str, *, meter: UsageMeter) -> str:
        """Its answer to the question, from memory."""
        ...


class Judge(Protocol):
    """Tells what passages say of an answer. May cost money; raises as Subject does."""

    @property
    def name(self) -> str: ...

    async def judge(
        self, question: str, answer: str, passages: Sequence[Evidence], *, meter: UsageMeter
    ) -> PassageJudgement: ...


class Distract(Protocol):
    """Makes the distractors of one response."""

    async def __call__(
        self, question: str, response: str, *, references: Sequence[str], meter: UsageMeter
    ) -> DistractorSet:
        """`references` are right answers, where they are known: a model that proposes distractors may give none."""
        ...
