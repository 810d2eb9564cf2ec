"""Runs the scorer against the simulated subject and compares TrustBC with what that knows."""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from factloop.agents.trustscore.records import TrustReport, TrustRun
from factloop.tools.names.build import build_table
from factloop.trust.question_answers import QuestionAnswer
from factloop.trust.scorer import TrustScorer
from tests.simulator import MODEL, RunningSimulator, Statistics
from tests.simulator.triples import knowledge_base_triples
from tests.simulator.world import QaPair, World


@dataclass(frozen=True)
class Answer:
    """A response to a question of the world, true or false."""

    pair: QaPair
    response: str

    @property
    def item(self) -> QuestionAnswer:
        return QuestionAnswer(id=self.pair.id, question=self.pair.question, response=self.response)


@dataclass(frozen=True)
class TrustTiming:
    """Some answers scored together by one scorer."""

    run: TrustRun
    wall_s: float
    cpu_s: float
    """CPU time of this process, in all its threads; the simulator has one of its own."""
    stats: Statistics
    """Counts of the simulator."""


def draw_answers(world: World, n: int, seed: int) -> list[Answer]:
    """Answers to `n` questions drawn at random, two thirds of them true."""
    rng = random.Random(seed)
    pairs = rng.sample(world.questions, n)
    return [Answer(pair, pair.answer if rng.random() < 2 / 3 else pair.wrong(rng)) for pair in pairs]


def build_knowledge_base(world: World, folder: Path) -> Path:
    """The typed entities of the world as `factloop research kb build` makes them of dumps."""
    types, labels = knowledge_base_triples(world)
    (folder / "types.nt").write_text(types, encoding="utf-8")
    (folder / "labels.nt").write_text(labels, encoding="utf-8")
    build_table([folder / "types.nt"], [folder / "labels.nt"], folder / "world.kb")
    return folder / "world.kb"


def score_all(simulator: RunningSimulator, answers: Sequence[Answer], kb: Path, **settings: Any) -> TrustTiming:
    """Scores the answers with one scorer, no cache and no bound on concurrency."""
    simulator.reset()
    done: list[tuple[TrustRun, float, float]] = []

    async def keep() -> None:  # asyncio.run would write out what it returns, see factloop.cli.console
        done.append(await _timed(simulator, answers, kb, settings))

    asyncio.run(keep())
    return TrustTiming(*done[0], simulator.stats())


async def _timed(
    simulator: RunningSimulator, answers: Sequence[Answer], kb: Path, settings: dict[str, Any]
) -> tuple[TrustRun, float, float]:
    started, cpu_started = time.perf_counter(), time.process_time()
    async with TrustScorer(
        MODEL, base_url=simulator.base_url, kb=(str(kb),), cache=False, **{"concurrency": 0, **settings}
    ) as scorer:
        run = await scorer.ascore_many(answer.item for answer in answers)
    return run, time.perf_counter() - started, time.process_time() - cpu_started


def agreement(
    simulator: RunningSimulator, answers: Sequence[Answer], reports: Sequence[TrustReport]
) -> tuple[int, int, int]:
    """Of the answers for which the subject's knowledge determines TrustBC, how many equal it, are scored, are unscored.

    An abstract noun that no knowledge base has gets no distractors and stays unscored.
    """
    expected = [simulator.subject.expected_trust_bc(answer.pair.topic, answer.response) for answer in answers]
    values = [report.trust_bc.value for report in reports]
    certain = [pair for pair in zip(expected, values, strict=True) if pair[0] is not None]
    scored = [(wanted, value) for wanted, value in certain if value is not None]
    return sum(wanted == value for wanted, value in scored), len(scored), len(certain) - len(scored)


def without_times(run: TrustRun) -> str:
    """The run as JSON, but for the times in it."""
    kept = run.model_copy(update={"created_at": None, "reports": tuple(_timeless(report) for report in run.reports)})
    return kept.model_dump_json(exclude={"usage": {"wall_s": True, "stages": {"__all__": {"wall_s"}}}}, warnings=False)


def _timeless(report: TrustReport) -> TrustReport:
    stages = {name: stage.model_copy(update={"wall_s": 0.0}) for name, stage in report.usage.stages.items()}
    usage = report.usage.model_copy(update={"wall_s": 0.0, "stages": stages})
    return report.model_copy(update={"created_at": None, "usage": usage})
