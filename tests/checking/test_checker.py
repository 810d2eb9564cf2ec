"""`FactChecker` as its users call it: streams, threads and event loops."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
import threading
from contextlib import aclosing
from pathlib import Path
from typing import Any

import pytest

from factloop import FactualityReport
from factloop.core.errors import DataError
from factloop.core.events import CheckFinished, ClaimFound, ClaimJudged, ClaimSearched, Event, ResponseSplit
from tests.checking.simulated import PLANS, simulated_checker
from tests.simulator import MODEL, Response, Simulator
from tests.simulator.scoring import score


@pytest.fixture
def response(sim: Simulator) -> Response:
    return min(sim.world.responses, key=lambda response: len(response.facts))


def is_right(report: FactualityReport, response: Response) -> bool:
    result = score(report.claims, response.facts)
    return result.n_equal == result.n_facts > 0


@pytest.mark.parametrize("plan", PLANS)
async def test_a_stream_tells_each_claims_story_in_order_and_ends_with_the_report(
    sim: Simulator, response: Response, plan: str
) -> None:
    events: list[Event] = []
    async with simulated_checker(sim, plan=plan) as checker:
        async for event in checker.astream(response.text, response.prompt):
            events.append(event)  # noqa: PERF401 - the types are checked as they come
    assert isinstance(events[0], ResponseSplit)
    assert isinstance(events[-1], CheckFinished)
    report = events[-1].report
    assert is_right(report, response)
    assert sum(isinstance(event, CheckFinished) for event in events) == 1
    found = [event.claim_id for event in events if isinstance(event, ClaimFound)]
    judged = [event.claim for event in events if isinstance(event, ClaimJudged)]
    assert sorted(found) == sorted(claim.id for claim in judged) == sorted(claim.id for claim in report.claims)
    assert {claim.id: claim for claim in judged} == {claim.id: claim for claim in report.claims}
    for claim in report.claims:
        steps = [type(event) for event in events if _speaks_of(event, claim.id)]
        assert steps == [ClaimFound, *[ClaimSearched] * len(claim.queries), ClaimJudged]
    calls = [event.usage.calls for event in events if isinstance(event, ClaimJudged)]
    assert calls == sorted(calls)


def _speaks_of(event: Event, name: str) -> bool:
    if isinstance(event, ClaimJudged):
        return event.claim.id == name
    return isinstance(event, ClaimFound | ClaimSearched) and event.claim_id == name


async def test_a_stream_left_early_leaves_nothing_running_and_the_checker_usable(
    sim: Simulator, response: Response, tmp_path: Path
) -> None:
    sim.set(llm_latency_s=0.05, search_latency_s=0.05)
    before = asyncio.all_tasks()
    async with simulated_checker(sim) as checker:
        for run_dir in (None, tmp_path / "run"):
            async with aclosing(checker.astream(response.text, response.prompt, run_dir=run_dir)) as events:
                async for event in events:
                    if isinstance(event, ClaimSearched):
                        break
            assert asyncio.all_tasks() == before
            assert is_right(await checker.acheck(response.text, response.prompt, run_dir=run_dir), response)


def test_plain_code_may_check_twice_and_from_two_threads(sim: Simulator, response: Response) -> None:
    checker = simulated_checker(sim)
    reports = [checker.check(response.text, response.prompt)]

    def work() -> None:
        reports.append(checker.check(response.text, response.prompt))

    threads = [threading.Thread(target=work) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(reports) == 3
    assert all(is_right(report, response) for report in reports)


FORKED = """
import json, os, signal, sys
from factloop import FactChecker

first, second = sys.argv[2:]
checker = FactChecker(**json.loads(sys.argv[1]))
before = checker.check(first).counts
child = os.fork()
if child == 0:
    signal.alarm(20)
    counts = checker.check(second).counts
    sys.exit(0 if counts.supported else 1)
assert os.waitpid(child, 0)[1] == 0
assert checker.check(first).counts == before
"""


@pytest.mark.process
@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.parametrize("judge", ["offline", "model"])
def test_a_forked_process_checks_too(sim: Simulator, tmp_path: Path, judge: str) -> None:
    texts = [response.text for response in sim.world.responses[:2]]
    (tmp_path / "source.txt").write_text(texts[1], encoding="utf-8")
    settings = {"docs": str(tmp_path / "source.txt"), "cache_dir": str(tmp_path / "cache")}
    if judge == "model":
        settings |= {"model": MODEL, "base_url": sim.base_url}
    command = [sys.executable, "-c", FORKED, json.dumps(settings), *texts]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert (done.returncode, done.stderr) == (0, "")


async def test_closing_a_checker_leaves_checks_under_way_alone(sim: Simulator, response: Response) -> None:
    sim.set(llm_latency_s=0.1)
    checker = simulated_checker(sim)
    under_way = asyncio.create_task(checker.acheck(response.text, response.prompt))
    async with asyncio.timeout(30.0):
        while not sim.stats().model.requests:  # noqa: ASYNC110 - its server is no event of ours
            await asyncio.sleep(0.01)
    await checker.aclose()
    assert is_right(await checker.acheck(response.text, response.prompt), response)
    assert is_right(await under_way, response)
    await checker.aclose()


async def test_answers_are_kept_between_checkers(sim: Simulator, response: Response, tmp_path: Path) -> None:
    settings: dict[str, Any] = {"cache": True, "cache_dir": tmp_path}
    async with simulated_checker(sim, **settings) as checker:
        first = await checker.acheck(response.text, response.prompt)
    sim.reset()
    async with simulated_checker(sim, **settings) as checker:
        second = await checker.acheck(response.text, response.prompt)
    assert sim.stats().stages == {}
    assert second.claims == first.claims
    assert (second.usage.calls, second.usage.searches, second.usage.cost_usd) == (0, 0, 0.0)
    assert second.usage.cache_hits > 0


@pytest.mark.parametrize(("response", "prompt"), [("half \ud83d", None), ("whole", "half \ud83d")])
async def test_half_a_character_is_refused_before_anything_is_spent(
    sim: Simulator, response: str, prompt: str | None
) -> None:
    async with simulated_checker(sim) as checker:
        with pytest.raises(DataError, match=r"half a character .* at position 5"):
            await checker.acheck(response, prompt)
    assert sim.stats().stages == {}
