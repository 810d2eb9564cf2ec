from __future__ import annotations

import asyncio
import inspect
import json
import os
import pickle
import subprocess
import sys
import threading
from contextlib import aclosing
from multiprocessing import get_context
from pathlib import Path
from typing import Any, get_type_hints

import pytest
from langchain_core.documents import Document
from langchain_openai import ChatOpenAI
from pydantic import SecretStr, TypeAdapter

import factloop
from factloop import CheckSettings, ConfigError, FactChecker, FactualityReport, Limits
from factloop.agents.safe.answer import MOST_CELLS
from factloop.checking import checker as module
from factloop.core.errors import DataError
from factloop.core.events import CheckFinished, ClaimFound, ClaimJudged, ClaimSearched, Event, ResponseSplit
from factloop.core.records import NoClaim, UnscoredReason
from factloop.guarding import StreamGuard
from factloop.integrations.langchain.guard import GuardOptions
from factloop.setup.changes import CheckChanges
from factloop.tools.calls.budget import LEAST_ANSWERS, Budget
from factloop.tools.models.gateway import REPAIRS
from factloop.tools.search.given import GivenDocuments
from tests.checking.simulated import PLANS, simulated_checker
from tests.simulator import MODEL, Faults, Response, Simulator
from tests.simulator.scoring import score


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


TEXT = "John Smeaton built the third tower."
OWN = {"model", "search", "docs", "recording"}
PAGE = Path(__file__).parents[2] / "docs" / "reference.md"


@pytest.mark.parametrize("by", ["awarm_up", "acheck"])
async def test_what_takes_seconds_is_loaded_once_in_another_thread(by: str, monkeypatch: pytest.MonkeyPatch) -> None:
    threads: list[threading.Thread] = []
    rehearse = FactChecker._rehearse

    def noted(checker: FactChecker) -> None:
        threads.append(threading.current_thread())
        rehearse(checker)

    monkeypatch.setattr(FactChecker, "_rehearse", noted)
    monkeypatch.setattr(module, "_WARM", set())
    checker = FactChecker(cache=False)
    if by == "awarm_up":
        await asyncio.gather(checker.awarm_up(), checker.awarm_up())
    assert (await checker.acheck(TEXT, documents=[TEXT])).counts.supported == 1
    await FactChecker(cache=False).acheck(TEXT, documents=[TEXT])
    assert len(threads) == 1
    assert threads[0] is not threading.current_thread()


def test_a_checker_is_warmed_up_without_a_loop_and_without_a_call(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_WARM", set())
    FactChecker("openai:x", base_url="http://127.0.0.1:9/v1", cache=False).warm_up()  # nothing answers there
    FactChecker(cache=False).warm_up()
    assert len(module._WARM) == 2


@pytest.mark.parametrize("limit", ["budget_usd", "budget_usd_per_check"])
def test_a_price_is_asked_for_when_the_checker_is_made(limit: str) -> None:
    limits: Any = {limit: 1.0}
    own = ChatOpenAI(model="mine", base_url="http://127.0.0.1:9/v1", api_key=SecretStr("none"))
    for model in ("openai:mine", own, own.bind(stop=["x"])):
        with pytest.raises(ConfigError, match=r"the price of .*mine is unknown.*; set `price_in` and `price_out`$"):
            FactChecker(model, **limits)
        FactChecker(model, price_in=1.0, price_out=2.0, **limits)
    FactChecker(**limits)  # the offline engine costs nothing


def test_the_typed_settings_are_those_of_a_check() -> None:
    hints = get_type_hints(CheckChanges)
    fields = CheckSettings.model_fields
    assert list(hints) == [name for name in fields if name not in OWN]
    for name, hint in hints.items():
        TypeAdapter(hint).validate_python(fields[name].default)
    assert set(inspect.signature(FactChecker.__init__).parameters) >= OWN
    with pytest.raises(ConfigError, match="max_serches"):
        FactChecker(max_serches=3)  # type: ignore[call-arg]  # mypy says so where nothing is to be ignored


def test_the_typed_options_of_the_guard_are_those_of_streams() -> None:
    known = inspect.signature(StreamGuard.__init__).parameters
    assert set(get_type_hints(GuardOptions)) == set(known) - {"self", "checker", "policy"}


@pytest.mark.process
def test_a_checker_works_in_another_process() -> None:
    with get_context("spawn").Pool(1) as pool:
        checker = FactChecker(search=GivenDocuments([Document(TEXT)]), cache=False)
        report: FactualityReport = pool.apply(checker.check, (TEXT,))
    assert report.counts.supported == 1


def test_settings_and_sources_travel_and_sessions_do_not() -> None:
    given = GivenDocuments([Document(TEXT, metadata={"page": 3})])
    checker = FactChecker(search=[given, "wikipedia"], cache=False, max_searches=2)
    checker.check(TEXT, documents=[TEXT])  # which opens a session
    copy = pickle.loads(pickle.dumps(checker))
    assert (type(copy), copy.settings) == (FactChecker, checker.settings)
    assert [tool.identity for tool in copy.tools] == [tool.identity for tool in checker.tools]
    with pytest.raises(ConfigError, match="cannot send a checker with a shared budget to another process"):
        pickle.dumps(FactChecker(budget=Budget(), cache=False))


@pytest.mark.parametrize("name", ["", "guarding", "integrations.langchain", "testing"])
def test_every_public_name_is_on_the_page_that_promises_it(name: str) -> None:
    from importlib import import_module

    package = import_module(".".join(filter(None, ("factloop", name))))
    page = PAGE.read_text(encoding="utf-8")
    promised = page.partition("## Stability")[2].partition("\n## ")[0]
    missing = [one for one in package.__all__ if f"`{one}`" not in promised]
    assert not missing
    assert factloop.__version__.startswith("0.")  # from 1.0 on the promise is another


def reasons(report: FactualityReport) -> set[UnscoredReason | None]:
    return {claim.judgement.unscored_reason for claim in report.claims if claim.judgement.verdict is None}


async def test_at_its_deadline_a_check_ends_with_what_was_judged(sim: Simulator) -> None:
    """The second round never answers; verdicts of the first are kept."""
    async with simulated_checker(sim) as checker:
        await checker.acheck(sim.world.responses[1].sentences[0])  # starting up takes none of its time
        sim.set(missing_hits=0.5, stage_faults={"Assessment": Faults(hang=1.0)})
        whole = await checker.acheck(" ".join(sim.world.responses[0].sentences[:5]), limits=Limits(deadline_s=3.0))
    assert reasons(whole) == {UnscoredReason.TIMEOUT}
    assert 0 < whole.counts.unscored < len(whole.claims)
    assert whole.counts.supported > 0
    late = next(claim for claim in whole.claims if claim.judgement.verdict is None)
    assert late.judgement.rationale == "the check reached its deadline of 3 s"
    assert late.evidence


async def test_a_deadline_leaves_no_sentence_out_and_no_call_under_way(sim: Simulator) -> None:
    sim.set(llm_latency_s=60.0)
    response = sim.world.responses[0]
    async with simulated_checker(sim) as checker:
        report = await checker.acheck(response.text, response.prompt, limits=Limits(deadline_s=0.5))
    assert reasons(report) == {UnscoredReason.TIMEOUT}
    assert {claim.sentence for claim in report.claims} == set(response.sentences)
    assert sim.stats().stages.keys() <= {"WindowFacts"}
    assert [task for task in asyncio.all_tasks() if task is not asyncio.current_task()] == []


async def test_after_its_deadline_an_answer_is_not_split_further() -> None:
    checker, text = FactChecker(cache=False), "Ada sang in Rome in 1815.\n\n" * 2_000
    report = await checker.acheck(text, documents=["Ada sang."], limits=Limits(deadline_s=1e-9))
    assert reasons(report) == {UnscoredReason.TIMEOUT}
    assert "\n\n".join(claim.sentence for claim in report.claims) == text.strip()
    assert len(report.claims) < 100


@pytest.mark.parametrize("plan", ["fused", "paper", "grounded"])
async def test_each_check_has_calls_of_its_own(sim: Simulator, plan: str) -> None:
    async with simulated_checker(sim, plan=plan) as checker:
        reports = [await checker.acheck(one.text, limits=Limits(max_calls=2)) for one in sim.world.responses[:2]]
    assert [report.usage.calls for report in reports] == [2, 2]
    for report in reports:
        assert UnscoredReason.BUDGET in reasons(report)
        said = {c.judgement.rationale for c in report.claims if c.judgement.unscored_reason is UnscoredReason.BUDGET}
        assert said == {"the budget for this check is used up: 2 calls"}


async def test_a_model_whose_answers_cannot_be_read_is_asked_no_further(sim: Simulator) -> None:
    sim.set(faults=Faults(truncated=1.0))
    text = " ".join(one.text for one in sim.world.responses)
    async with simulated_checker(sim, plan="fused", concurrency=4, price_in=1.0, price_out=1.0) as checker:
        report = await checker.acheck(text)
    sent = sim.stats().model.requests
    assert LEAST_ANSWERS < sent <= (1 + REPAIRS) * (LEAST_ANSWERS + 2 * 4)
    assert reasons(report) == {UnscoredReason.PARSE_FAILURE}
    assert report.usage.calls == sent
    assert report.usage.cost_usd == pytest.approx(1e-6 * (report.usage.prompt_tokens + report.usage.completion_tokens))
    assert any(f"{MODEL}: " in one and "no more requests (max_unreadable = 0.3)" in one for one in report.warnings)


async def test_rows_of_a_long_table_are_bounded_and_told() -> None:
    table = "\n".join(["| Who | Born |", "|---|---|", *(f"| Bo {number} | {number} |" for number in range(400))])
    report = await FactChecker(cache=False).acheck(table, documents=["Bo 7 was born in 7."])
    left_out = sum(one.no_claim is NoClaim.NOT_READ for one in report.sentences)
    assert (len(report.claims) + left_out, left_out) == (400, 400 - MOST_CELLS // 2)
    assert [one for one in report.warnings if one.startswith(f"{left_out} table rows")]


async def test_money_cannot_be_counted_without_a_price(sim: Simulator) -> None:
    async with simulated_checker(sim) as checker:
        with pytest.raises(DataError, match=r"limits.*price of .* is unknown, so a budget in USD cannot be enforced"):
            await checker.acheck("Ada.", limits=Limits(budget_usd=1.0))
    offline = FactChecker(docs="examples/lighthouse/sources", cache=False)
    assert offline.check("Smeaton built it.", limits=Limits(budget_usd=0.0)).claims


async def test_settings_hold_for_each_check_and_a_request_may_only_be_tighter(sim: Simulator) -> None:
    async with simulated_checker(sim, max_calls_per_check=4) as checker:
        for limits, n_calls in ((None, 4), (Limits(max_calls=3), 3), (Limits(max_calls=400), 4)):
            report = await checker.acheck(sim.world.responses[0].text, limits=limits)
            assert report.usage.calls == n_calls
            assert UnscoredReason.BUDGET in reasons(report)
