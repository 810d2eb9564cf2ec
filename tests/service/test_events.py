from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncGenerator
from typing import Any

import httpx
import pytest

from factloop.core.events import ResponseSplit
from factloop.service import jobs
from factloop.service.kept import Database
from factloop.service.routes_jobs import _encoded
from factloop.service.running import LiveEvent, LiveJob, read_events
from factloop.service.shapes import Job
from factloop.service.store import StoredJob
from factloop.setup.settings import CheckSettings
from factloop.trust.settings import TrustSettings
from tests.service.asking import ASK, FINISHED_WITHIN_S, Service, events_in, finished
from tests.simulator import MODEL, SEARCH, Faults, Simulator


async def _events(client: httpx.AsyncClient, job_id: str, after: object = None) -> list[tuple[str, str, int]]:
    headers = {} if after is None else {"Last-Event-ID": str(after)}
    answer = await client.get(f"/v1/jobs/{job_id}/events", headers=headers)
    assert answer.headers["content-type"].startswith("text/event-stream")
    return events_in(answer.text)


async def test_events_tell_the_check_and_are_replayed_the_same(service: Service) -> None:
    async with service() as client:
        job = (await client.post("/v1/checks", json=ASK)).json()["id"]
        live = await _events(client, job)
        ended = await finished(client, job)
        replayed = await _events(client, job)
        rest = await _events(client, job, after=live[3][2])
        odd = await _events(client, job, after="\x7f not a number")
    assert live == replayed == odd
    assert rest == live[4:]
    types = [type for type, _, _ in live]
    assert types[0] == "response_split"
    assert types[-2:] == ["check_finished", "job_finished"]
    assert types.count("claim_found") == types.count("claim_judged") == 2
    assert [number for _, _, number in live] == list(range(1, len(live) + 1))
    assert json.loads(live[-1][1]) == ended
    assert '"claims":' not in live[-2][1]


async def test_saved_events_are_fetched_in_portions_one_at_a_time_for_each_key(
    service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Many streams of one key must not keep others from the database."""
    under_way, most, asked = 0, 0, Database.ask

    async def counted(self: Database, call: Any, *args: Any, **kwargs: Any) -> Any:
        nonlocal under_way, most
        is_of_events = "events" in args
        under_way += is_of_events
        most = max(most, under_way)
        try:
            return await asked(self, call, *args, **kwargs)
        finally:
            under_way -= is_of_events

    monkeypatch.setattr(Database, "ask", counted)
    async with service() as client:
        job = (await client.post("/v1/checks", json=ASK)).json()["id"]
        live = await _events(client, job)
        await finished(client, job)
        for length in (50, 1_000):
            monkeypatch.setattr(jobs, "EVENTS_AT_ONCE", length)
            assert await _events(client, job) == live
        streams = await asyncio.gather(*(_events(client, job) for _ in range(30)))
    assert streams == [live] * 30
    assert most == 1


async def test_saved_events_are_sent_together() -> None:
    """One send for each of thousands would block the loop."""

    async def portions() -> AsyncGenerator[list[LiveEvent], None]:
        yield [LiveEvent(number, "claim", "{}") for number in (1, 2, 3)]
        yield []

    begun, together, nothing_new = [chunk async for chunk in _encoded(portions())]
    assert (together.count(b"\n\n"), begun) == (3, nothing_new)


async def test_a_check_that_waits_for_a_server_says_so_now_and_then(
    service: Service, sim: Simulator, monkeypatch: pytest.MonkeyPatch
) -> None:
    sim.set(stage_faults={SEARCH: Faults(error_429=1.0)}, retry_after="none")
    asked = {"response": "Ada was born.", "mode": "factuality"}
    monkeypatch.setenv("FACTLOOP_SERPER_URL", sim.serper_url)
    monkeypatch.setenv("SERPER_API_KEY", "simulated")
    check = CheckSettings(model=MODEL, base_url=sim.base_url, search=("serper",), patience_s=0.5, cache=False)
    async with service(check) as client:
        job = (await client.post("/v1/checks", json=asked)).json()["id"]
        events = await _events(client, job)
        ended = await finished(client, job)
    waits = [json.loads(data) for type, data, _ in events if type == "waiting"]
    assert [(one["server"], one["cause"]) for one in waits] == [("serper", "status 429")]
    assert (ended["status"], ended["summary"]["counts"]["unscored"]) == ("done", 1)


@pytest.mark.parametrize("comma", [",", ", "])  # now, and before
def test_events_are_read_wherever_their_text_is_cut(comma: str) -> None:
    text = f"[{comma.join(json.dumps([number, 'type', chr(34)]) for number in range(3))}]"
    for cut in range(1, len(text)):
        first, rest = read_events(text[:cut])
        second, _ = read_events(rest + text[cut:])
        assert [one.number for one in (*first, *second)] == [0, 1, 2]
    assert read_events("[]")[0] == []


async def test_whoever_watches_gets_every_event_once_however_late_they_come() -> None:
    job = Job(id="0" * 32, kind="check", status="running", title="t", created_at="2026-01-01T00:00:00Z")  # type: ignore[arg-type]
    live = LiveJob(StoredJob(job, "", 1), "{}")

    async def watch(after: int = 0) -> list[LiveEvent | None]:
        return [sent async for sent in live.follow(after, heartbeat_s=5.0)]

    early = asyncio.create_task(watch())
    await asyncio.sleep(0)
    for number in range(3):
        live.publish(ResponseSplit(n_sentences=number), "response_split")
        await asyncio.sleep(0)
    late = asyncio.create_task(watch(after=2))
    await asyncio.sleep(0)
    live.close()
    assert await early == live.events
    assert await late == live.events[2:]


async def test_a_job_that_waits_can_be_followed_and_cancelled(service: Service) -> None:
    async with service(max_jobs=1, max_queued=5) as client:
        asked = [(await client.post("/v1/checks", json=ASK)).json()["id"] for _ in range(4)]
        following = asyncio.create_task(_events(client, asked[-1]))
        await asyncio.sleep(0.001)
        cancelled = (await client.post(f"/v1/jobs/{asked[-1]}/cancel")).json()
        events = await following
        others = [await finished(client, job) for job in asked[:-1]]
    assert cancelled["status"] in ("cancelled", "done")
    assert events[-1][0] == "job_finished"
    assert json.loads(events[-1][1])["status"] == cancelled["status"]
    assert {job["status"] for job in others} == {"done"}


async def test_a_score_that_is_stopped_says_what_it_cost(service: Service, sim: Simulator) -> None:
    check = CheckSettings(model=MODEL, base_url=sim.base_url, cache=False, price_in=1.0, price_out=2.0)
    trust = TrustSettings(subject_model=MODEL, base_url=sim.base_url, cache=False, price_in=1.0, price_out=2.0)
    asked = {name: ASK[name] for name in ("response", "documents")}
    async with service(check, trust) as client:
        known = sim.world.questions[0]  # which the subject stands by, so that it is asked ten times
        alone = {"question": known.question, "response": known.answer}
        for path, ask in (("trust/long-form", asked), ("trust", alone)):
            sim.reset()
            sim.set(llm_latency_s=0.3)
            job = (await client.post(f"/v1/{path}", json=ask)).json()["id"]
            async with asyncio.timeout(FINISHED_WITHIN_S):
                while sim.stats().model.requests < 2:  # noqa: ASYNC110 - the first was answered before it began
                    await asyncio.sleep(0.01)
            stopped = (await client.post(f"/v1/jobs/{job}/cancel")).json()
            assert stopped["status"] == "cancelled"
            assert 1 <= stopped["progress"]["usage"]["calls"] <= sim.stats().model.answered
            assert stopped["progress"]["usage"]["cost_usd"] > 0
        metrics = (await client.get("/metrics")).text
    assert 'factloop_jobs_total{key="",kind="trust",status="cancelled"} 1.0' in metrics
    assert 'factloop_model_calls_total{key=""}' in metrics
    assert 'factloop_model_calls_total{key=""} 0.0' not in metrics
