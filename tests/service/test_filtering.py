"""Lists of jobs by their verdicts and words."""

from __future__ import annotations

from pathlib import Path

import pytest

from factloop.core.records import Counts
from factloop.service.shapes import CheckSummary, Job, Outcome
from factloop.service.store import JobFilter, JobStore, StoredJob, new_job_id
from tests.service.asking import ASK, Service, finished


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
    assert {outcome for outcome in every if JobFilter(outcome=outcome).matches(job)} == outcomes


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


async def test_a_job_says_what_it_is_about_and_is_found_by_it(service: Service) -> None:
    async with service() as client:
        answer = "Ada Lovelace was born in London on 10 December 1820."
        job = (await client.post("/v1/checks", json={**ASK, "response": answer})).json()
        assert (job["title"], job["answer"], job["against"]) == (ASK["question"], answer, "1 document")
        done = await finished(client, job["id"])
        found = [
            len((await client.get("/v1/jobs", params=asked)).json()["jobs"])
            for asked in ({"text": "1820"}, {"text": "bob"}, {"outcome": "problems"}, {"outcome": "no_problems"})
        ]
    assert found == [1, 0, 1, 0]
    assert done["summary"]["n_contradicted"] == 1
    assert done["summary"]["judge"].startswith("the offline engine")
