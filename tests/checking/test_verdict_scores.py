"""Scores of a chat model's verdicts in whole checks: where they come from, what they cost, and checks without them."""

from __future__ import annotations

import asyncio
import statistics
from pathlib import Path
from typing import Any

import pytest

from factloop import FactualityReport, Verdict
from tests.checking.simulated import simulated_checker
from tests.simulator import Faults, Response, Simulator

PLANS = [
    pytest.param({"plan": "fused", "tool_calling": False}, id="fused"),
    pytest.param({"plan": "paper"}, id="paper", marks=pytest.mark.statistical),  # some 300 calls for each report
    pytest.param({"plan": "grounded"}, id="grounded"),
]


async def check_all(sim: Simulator, docs: Path | None = None, **settings: Any) -> list[FactualityReport]:
    if settings.get("plan") == "grounded":
        assert docs is not None
        settings = {"search": (), "docs": str(docs), **settings}
    async with simulated_checker(sim, **settings) as checker:
        checks = (checker.acheck(response.text, response.prompt) for response in responses(sim))
        return list(await asyncio.gather(*checks))


def responses(sim: Simulator) -> tuple[Response, ...]:
    return sim.world.responses[1:2]


@pytest.fixture
def docs(sim: Simulator, tmp_path: Path) -> Path:
    """Articles about those that the responses speak of, without every third."""
    folder = tmp_path / "docs"
    folder.mkdir()
    for number, passage in enumerate(sim.world.passages):
        if number % 3:
            (folder / f"{number}.md").write_text(f"# {passage.title}\n\n{passage.text}\n", encoding="utf-8")
    return folder


def scored(reports: list[FactualityReport]) -> list[tuple[Verdict | None, float]]:
    judgements = [claim.judgement for report in reports for claim in report.claims]
    return [(one.verdict, one.score) for one in judgements if one.score is not None]


def verdicts(reports: list[FactualityReport]) -> list[Any]:
    return [(claim.id, claim.judgement.verdict) for report in reports for claim in report.claims]


@pytest.mark.parametrize("settings", PLANS)
async def test_verdicts_have_the_model_s_probabilities(sim: Simulator, docs: Path, settings: dict[str, Any]) -> None:
    reports = await check_all(sim, docs, **settings)
    found = scored(reports)
    supported = [score for verdict, score in found if verdict is Verdict.SUPPORTED]
    others = [score for verdict, score in found if verdict is Verdict.NOT_SUPPORTED]
    assert len(supported) + len(others) == len(found)
    assert min(supported) > 0.5 > max(others)
    assert len(found) >= 0.7 * sum(report.counts.scored for report in reports)
    judged = [claim.judgement for report in reports for claim in report.claims]
    assert all(one.score is not None for one in judged if one.verdict is Verdict.SUPPORTED or one.contradicted)
    assert all(report.fingerprint.logprobs for report in reports)


@pytest.mark.parametrize("settings", PLANS)
async def test_asking_changes_no_verdict_and_costs_no_call(
    sim: Simulator, docs: Path, settings: dict[str, Any]
) -> None:
    with_them = await check_all(sim, docs, **settings)
    n_requests = sim.stats().model.requests
    sim.reset()
    without = await check_all(sim, docs, logprobs=False, **settings)
    assert sim.stats().model.requests == n_requests
    assert verdicts(with_them) == verdicts(without)
    assert scored(without) == []
    assert not any(body.get("logprobs") for body in sim.bodies())
    assert not any(report.fingerprint.logprobs for report in without)


@pytest.mark.statistical
async def test_only_calls_that_bear_a_verdict_ask(sim: Simulator) -> None:
    await check_all(sim, plan="paper")
    asking = {
        stage
        for stage in ("AtomicFacts", "SelfContainedFact", "Relevance", "SearchQuery", "Rating")
        if any(body.get("logprobs") for body in sim.bodies(stage))
    }
    assert asking == {"Rating"}


async def test_what_comes_as_a_tool_call_has_none(sim: Simulator) -> None:
    """Servers give log-probabilities for text, not for a call's arguments."""
    reports = await check_all(sim, plan="fused")
    judged = [claim for report in reports for claim in report.claims if claim.judgement.verdict is Verdict.SUPPORTED]
    # The first round of two claims answers in text, and so does the last, in which no search is left to be offered.
    in_first = [claim.judgement.score is None for claim in judged if len(claim.queries) == 1]
    assert len(in_first) > 10
    assert sum(in_first) <= 1  # of an odd number of claims the last is judged alone
    called = [body for body in sim.bodies("Assessment") if body.get("tools")]
    assert called
    assert not any(body.get("logprobs") for body in called)


@pytest.mark.parametrize("changes", [{"supports_logprobs": False}, {"gives_logprobs": False}], ids=["refuses", "none"])
@pytest.mark.parametrize("settings", PLANS)
async def test_a_server_without_them_judges_as_ever(
    sim: Simulator, docs: Path, settings: dict[str, Any], changes: dict[str, bool]
) -> None:
    wanted = verdicts(await check_all(sim, docs, logprobs=False, **settings))
    sim.set(**changes)
    reports = await check_all(sim, docs, concurrency=1, **settings)
    assert verdicts(reports) == wanted
    assert scored(reports) == []
    assert sum(report.usage.failed_calls for report in reports) == (1 if "supports_logprobs" in changes else 0)


@pytest.mark.parametrize("settings", PLANS)
async def test_a_cached_reply_gives_the_same_score(
    sim: Simulator, docs: Path, tmp_path: Path, settings: dict[str, Any]
) -> None:
    kept = {"cache": True, "cache_dir": tmp_path / "cache", **settings}
    first = await check_all(sim, docs, **kept)
    sim.reset()
    second = await check_all(sim, docs, **kept)
    assert sim.stats().model.requests == 0
    assert scored(first)
    assert scored(second) == scored(first)


async def test_a_recording_gives_the_same_score_and_keeps_no_more_than_it_takes(sim: Simulator, tmp_path: Path) -> None:
    sizes: dict[bool, int] = {}
    for logprobs in (False, True):
        settings: dict[str, Any] = {"tool_calling": False, "logprobs": logprobs}
        settings["recording"] = tmp_path / f"{logprobs}.jsonl"
        recorded = await check_all(sim, recording_mode="record", **settings)
        replayed = await check_all(sim, recording_mode="replay", **settings)
        assert scored(replayed) == scored(recorded)
        assert bool(scored(recorded)) is logprobs
        sizes[logprobs] = (tmp_path / f"{logprobs}.jsonl").stat().st_size
    stages = sim.stats().stages
    n_verdicts = (stages["Assessment"].requests + 2 * stages["Assessments"].requests) // 2
    assert (sizes[True] - sizes[False]) / n_verdicts < 600


@pytest.mark.statistical
async def test_spoiled_replies_have_no_invented_score(sim: Simulator) -> None:
    sim.set(faults=Faults(malformed=0.3, truncated=0.1))
    reports = await check_all(sim, plan="paper")
    judged = [claim.judgement for report in reports for claim in report.claims]
    assert all(one.score is None for one in judged if one.verdict not in (Verdict.SUPPORTED, Verdict.NOT_SUPPORTED))
    assert all((one.score > 0.5) == (one.verdict is Verdict.SUPPORTED) for one in judged if one.score is not None)


async def test_more_agreement_makes_a_surer_model(sim: Simulator) -> None:
    """The simulated model's odds come from the prompt: evidence that speaks with two voices lowers them."""
    found = scored(await check_all(sim, tool_calling=False))
    likely = [score for verdict, score in found if verdict is Verdict.SUPPORTED]
    assert statistics.pstdev(likely) > 0.01
