from __future__ import annotations

import asyncio
import threading
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Engine, event

from factloop.core.records import Counts
from factloop.entrance.keys import ApiKeys
from factloop.service.shapes import CheckSummary, Job, Outcome
from factloop.service.store import JobFilter, JobStore, StoredJob, new_job_id
from tests.service.asking import ASK, Service, finished

KEYS = ["a-key-of-sixteen-letters", "another-key-of-sixteen"]


def check(counts: Counts | None = None, n_contradicted: int = 0, **words: str) -> Job:
    summary = None
    if counts is not None:
        summary = CheckSummary(
            counts=counts, precision=None, n_contradicted=n_contradicted, judge="Some model", n_calls=0, cost_usd=None
        )
    fields = {"title": "Who was Ada?", "status": "queued" if counts is None else "done", **words}
    return Job(id=new_job_id(), kind="check", created_at="2026-01-01T00:00:00Z", summary=summary, **fields)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("job", "outcomes"),
    [
        (check(Counts(supported=2)), {"no_problems"}),
        (check(Counts(not_supported=2), 2), {"problems", "contradicted"}),
        (check(Counts(not_supported=2), 1), {"problems", "contradicted", "no_evidence"}),
        (check(Counts(not_supported=1, unscored=1)), {"problems", "no_evidence", "unscored"}),
        (check(), set()),
    ],
)
def test_checks_are_found_by_their_verdicts(job: Job, outcomes: set[Outcome]) -> None:
    every: list[Outcome] = ["problems", "contradicted", "no_evidence", "unscored", "no_problems"]
    assert {outcome for outcome in every if JobFilter(outcome=outcome).matches(job.model_dump_json())} == outcomes


def test_a_search_reads_so_many_rows_and_says_where_to_go_on(tmp_path: Path) -> None:
    store = JobStore(f"sqlite:///{tmp_path / 'jobs.sqlite'}", most_rows_read=3)
    made = [check(title=title) for title in ("rare", "x", "x", "x", "x")]
    for job in made:
        store.add(StoredJob(job, ""), "{}")
    wanted = JobFilter(text="rare")
    assert store.page("", wanted=wanted, limit=10) == ([], made[2].id)
    found, older = store.page("", wanted=wanted, limit=10, before=made[2].id)
    assert ([one.job.title for one in found], older) == (["rare"], None)
    store.close()


def test_rows_that_a_search_does_not_return_are_not_validated(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    store = JobStore(f"sqlite:///{tmp_path / 'jobs.sqlite'}")
    for title in ("common", "rare"):
        store.add(StoredJob(check(title=title).model_copy(update={"n_deaths": -1}), ""), "{}")
    assert store.page("", wanted=JobFilter(text="rare"), limit=10) == ([], None)
    assert len(caplog.records) == 1
    store.close()


async def test_a_job_says_what_it_is_about_and_is_found_by_it(service: Service) -> None:
    async with service() as client:
        answer = "Ada Lovelace was born in London on 10 December 1820."
        ask = {**ASK, "response": answer, "question": f"\x1b\u202e{ASK['question']}"}
        job = (await client.post("/v1/checks", json=ask)).json()
        assert (job["title"], job["answer"], job["against"]) == (ASK["question"], answer, "1 document")
        done = await finished(client, job["id"])
        found = [
            len((await client.get("/v1/jobs", params=asked)).json()["jobs"])
            for asked in ({"text": "1820"}, {"text": "bob"}, {"outcome": "problems"}, {"outcome": "no_problems"})
        ]
    assert found == [1, 0, 1, 0]
    assert done["summary"]["n_contradicted"] == 1
    assert done["summary"]["judge"].startswith("the offline engine")


@pytest.mark.parametrize("what", ["lists", "reports"])
async def test_one_list_or_report_per_caller_is_read_at_a_time(service: Service, what: str) -> None:
    ours, theirs = ({"Authorization": f"Bearer {key}"} for key in KEYS)
    read, reading, end = list[Any](), threading.Event(), threading.Event()
    async with service(keys=ApiKeys(KEYS)) as client:
        for headers in (ours, theirs):
            assert (await client.post("/v1/checks?wait=true", headers=headers, json=ASK)).status_code == 200
        (job,), (other,) = [(await client.get("/v1/jobs", headers=one)).json()["jobs"] for one in (ours, theirs)]

        def wait(_connection: object, _cursor: object, statement: str, parameters: Any, *_: object) -> None:
            is_report = statement.startswith("SELECT substr(factloop_job_texts")
            if is_report if what == "reports" else threading.current_thread().name.startswith("factloop-apart"):
                read.append(parameters)
                reading.set()
                end.wait(10)

        our_path, their_path = (
            f"/v1/jobs/{one['id']}/result" if what == "reports" else "/v1/jobs" for one in (job, other)
        )
        event.listen(Engine, "before_cursor_execute", wait)
        try:
            asked = [asyncio.create_task(client.get(our_path, headers=ours)) for _ in range(4)]
            assert await asyncio.to_thread(reading.wait, 10)
            asked.append(asyncio.create_task(client.get(their_path, headers=theirs)))
            await asyncio.sleep(0.1)
            end.set()
            assert {answer.status_code for answer in await asyncio.gather(*asked)} == {200}
        finally:
            event.remove(Engine, "before_cursor_execute", wait)
    assert len(read) == 5
    assert read[-1] == read[0], "the other caller is not last"
