"""A scripted subject, judge and source of distractors, and functions that run the graphs with them.

A script that runs out raises, so a test also fails if the code asks for more than expected.
"""

from __future__ import annotations

import asyncio
import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from factloop.agents.trustscore.graph import build_consistency_graph
from factloop.agents.trustscore.records import (
    Distractor,
    DistractorSet,
    Letter,
    Option,
    OptionKind,
    Relation,
    Source,
    SubstitutionLevel,
    TrustBC,
)
from factloop.agents.trustscore.stages import Choice, PassageJudgement
from factloop.agents.trustscore.state import Graph, TrustContext
from factloop.core.errors import ConfigError
from factloop.core.records import Evidence
from factloop.tools.calls.answers import RunAnswers
from factloop.tools.calls.cache import MemoryAnswers
from factloop.tools.calls.meter import UsageMeter
from factloop.tools.calls.retry import RetryPolicy
from factloop.tools.search.base import SearchTool
from factloop.tools.search.gateway import SearchGateway
from factloop.trust.scoring import RECURSION_LIMIT

QUESTION, RESPONSE = "Who built the first temple?", "King Solomon built it."
RIGHT, OTHER, NONE = OptionKind.RESPONSE, OptionKind.DISTRACTOR, OptionKind.NONE_OF_THE_ABOVE


@dataclass(frozen=True)
class ScriptedChoice:
    kind: OptionKind
    probability: float | None = None
    of_response: float | None = None
    """Probability of the response's letter where another was chosen."""


Answer = ScriptedChoice | OptionKind | Exception


@dataclass
class ScriptedSubject:
    """Answers calls from the script in the order they start; they may finish in any order."""

    script: list[Answer] = field(default_factory=list)
    answers: list[str | Exception] = field(default_factory=list)
    rng: random.Random = field(default_factory=lambda: random.Random(0))
    longest_s: float = 0.0
    asked: list[tuple[str, tuple[Option, ...], bool]] = field(default_factory=list)
    cancelled: int = 0
    name: str = "script"

    async def choose(
        self,
        question: str,
        options: Sequence[Option],
        *,
        statements: bool,
        meter: UsageMeter,  # noqa: ARG002 - nothing is paid
    ) -> Choice:
        self.asked.append((question, tuple(options), statements))
        if not self.script:
            raise AssertionError("more checks were asked than the script foresaw")
        answer = self.script.pop(0)
        if isinstance(answer, ConfigError):
            raise answer  # at once, while the others wait
        try:
            await asyncio.sleep(self.rng.uniform(0.0, self.longest_s))
        except asyncio.CancelledError:
            self.cancelled += 1
            raise
        if isinstance(answer, Exception):
            raise answer
        return _choice(answer if isinstance(answer, ScriptedChoice) else ScriptedChoice(answer), options)

    async def answer(self, question: str, *, meter: UsageMeter) -> str:  # noqa: ARG002 - nothing is paid
        self.asked.append((question, (), False))
        answer = self.answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return answer


def _choice(said: ScriptedChoice, options: Sequence[Option]) -> Choice:
    letter = next(option.letter for option in options if option.kind is said.kind)
    if said.probability is None:
        return Choice(letter, None)
    probabilities: dict[Letter, float] = {letter: said.probability}
    if said.of_response is not None:
        probabilities[next(option.letter for option in options if option.kind is RIGHT)] = said.of_response
    return Choice(letter, probabilities)


@dataclass
class ScriptedJudge:
    finding: PassageJudgement | Exception = PassageJudgement(Relation.SUPPORT, "It says so.", (0,))  # noqa: RUF009 - frozen
    asked: list[tuple[str, str, tuple[Evidence, ...]]] = field(default_factory=list)
    name: str = "judge"

    async def judge(
        self,
        question: str,
        answer: str,
        passages: Sequence[Evidence],
        *,
        meter: UsageMeter,  # noqa: ARG002 - nothing is paid
    ) -> PassageJudgement:
        self.asked.append((question, answer, tuple(passages)))
        if isinstance(self.finding, Exception):
            raise self.finding
        return self.finding


@dataclass
class Distractors:
    n: int
    notes: tuple[str, ...] = ()

    async def __call__(
        self,
        question: str,
        response: str,
        *,
        references: Sequence[str],  # noqa: ARG002
        meter: UsageMeter,  # noqa: ARG002
    ) -> DistractorSet:
        made = tuple(
            Distractor(
                text=f"Builder {number} built it.",
                replaced="King Solomon",
                span=(0, 12),
                by=f"Builder {number}",
                level=SubstitutionLevel.ENTITY,
                source=Source.BUILT_IN,
            )
            for number in range(self.n)
        )
        return DistractorSet(
            question=question, response=response, wanted=30, distractors=made, notes=self.notes, seed=0
        )


def consistency_of(subject: ScriptedSubject, n: int = 30, *, max_checks: int = 10, window: int = 1) -> Graph:
    return build_consistency_graph(subject, Distractors(n), max_checks=max_checks, window=window, seed=0)


def searching_over(*tools: SearchTool) -> SearchGateway:
    once = RetryPolicy(attempts=1, timeout_attempts=1)
    return SearchGateway(
        tools, results=10, answers=RunAnswers(MemoryAnswers()), retry=once, timeout_s=5.0, rng=random.Random(0)
    )


async def run(graph: Graph, given: Mapping[str, Any], *, max_checks: int = 10) -> dict[str, Any]:
    final: dict[str, Any] = await graph.ainvoke(
        given, {"recursion_limit": RECURSION_LIMIT + max_checks}, context=TrustContext(UsageMeter())
    )
    return final


async def trust_bc(
    script: Sequence[Answer], n: int = 30, *, max_checks: int = 10, window: int = 1, longest_s: float = 0.0
) -> TrustBC:
    subject = ScriptedSubject(list(script), longest_s=longest_s)
    graph = consistency_of(subject, n, max_checks=max_checks, window=window)
    final = await run(graph, {"question": QUESTION, "response": RESPONSE}, max_checks=max_checks)
    assert not subject.script, "the script was not played to its end"
    found: TrustBC = final["trust_bc"]
    return found
