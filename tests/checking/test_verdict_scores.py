from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from factloop import FactualityReport, Verdict
from tests.checking.simulated import simulated_checker
from tests.simulator import Response, Simulator

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
    """Articles about the subjects of the responses, every third left out."""
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
