"""Runs the checker against the simulator and keeps both sides' account of it."""

from __future__ import annotations

import asyncio
import os
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from langchain_core.documents import Document

from benchmarks.prefixes import CACHED_FROM, shared_share
from factloop import FactChecker, FactualityReport
from factloop.core.records import UnscoredReason
from factloop.setup.sources import Sources
from factloop.tools.search.given import GivenDocuments
from tests.simulator import MODEL, Response, RunningSimulator, Statistics
from tests.simulator.scoring import Score, score

Plan = Literal["safe", "paper", "fused", "grounded"]


@dataclass(frozen=True)
class Run:
    """Some responses checked together by one checker."""

    wall_s: float
    cpu_s: float
    """CPU time of this process, in all its threads; the simulator has one of its own."""
    score: Score
    stats: Statistics
    """Counts of the simulator."""
    reasons: Mapping[UnscoredReason, int]
    """Why claims are unscored."""
    shared_share: float
    """Share of the prompt tokens in a beginning that another request has as well."""
    cached_share: float
    """The same, of beginnings of 1,024 tokens or more."""

    @property
    def calls_per_fact(self) -> float:
        return self.stats.model.answered / self.score.n_facts

    @property
    def searches_per_fact(self) -> float:
        return self.stats.search.answered / self.score.n_facts

    @property
    def prompt_tokens_per_fact(self) -> float:
        return self.stats.model.prompt_tokens / self.score.n_facts

    @property
    def completion_tokens_per_fact(self) -> float:
        return self.stats.model.completion_tokens / self.score.n_facts

    @property
    def share_limited(self) -> float:
        """Share of the requests to the model that were refused with 429."""
        return self.stats.model.limited / self.stats.model.requests


def check_all(
    simulator: RunningSimulator,
    responses: Sequence[Response],
    plan: Plan,
    *,
    search_url: str | None = None,
    **settings: Any,
) -> Run:
    """Checks the responses at once, with one checker, no cache and no bound on concurrency.

    Searches go to the simulator unless `search_url` names another place; the grounded plan is given the passages that
    settle each response's facts, and is to judge all of them, relevant or not.
    """
    os.environ.update(simulator.environment)
    if search_url is not None:
        os.environ["FACTLOOP_SERPER_URL"] = search_url
    simulator.reset()
    reports, wall_s, cpu_s = asyncio.run(_timed(simulator, responses, plan, settings))
    total = Score()
    for response, report in zip(responses, reports, strict=True):
        total += score(report.claims, response.facts, gated=plan != "grounded")
    unscored = (claim.judgement.unscored_reason for report in reports for claim in report.claims)
    reasons = Counter(reason for reason in unscored if reason is not None)
    bodies = [body for body in simulator.bodies() if "messages" in body]
    shared, cached = shared_share(bodies), shared_share(bodies, shortest=CACHED_FROM)
    return Run(wall_s, cpu_s, total, simulator.stats(), reasons, shared, cached)


async def _timed(
    simulator: RunningSimulator, responses: Sequence[Response], plan: Plan, settings: dict[str, Any]
) -> tuple[list[FactualityReport], float, float]:
    started, cpu_started = time.perf_counter(), time.process_time()
    search = () if plan == "grounded" else ("serper",)
    checker = FactChecker(
        model=MODEL, base_url=simulator.base_url, search=search, plan=plan, cache=False, concurrency=0, **settings
    )
    try:
        checks = (
            checker.acheck(response.text, question=response.prompt, sources=None if search else _given(response))
            for response in responses
        )
        reports = await asyncio.gather(*checks)
    finally:
        await checker.aclose()
    return list(reports), time.perf_counter() - started, time.process_time() - cpu_started


def _given(response: Response) -> Sources:
    documents = [
        Document(passage.text, metadata={"title": passage.title, "source": passage.url})
        for passage in response.passages
    ]
    return Sources((GivenDocuments(documents),))
