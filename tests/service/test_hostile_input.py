"""Hostile input that other tests of the service leave out: audit rows, result files and a failing database."""

from __future__ import annotations

import json
import os
import sqlite3
from pathlib import Path
from typing import Any

import httpx
import pytest

from factloop.service import routes_jobs
from factloop.service.shapes import Job
from tests.service.asking import ASK, Service, events_in, finished

JSON = {"Content-Type": "application/json"}
ROW: dict[str, Any] = {
    "dataset": "d", "task": "qa", "prompt_id": "p", "system": "s", "response_id": "r", "claim_id": "c",
    "claim": "Ada was born in London.", "document": "Ada was born in London.", "label": 1, "evaluators": {"e": 0.5},
}  # fmt: skip


def _refused(answer: httpx.Response) -> tuple[int, str]:
    assert "Traceback" not in answer.text
    return answer.status_code, answer.json()["error"]["type"]


@pytest.mark.parametrize(
    "value",
    [
        *(b'"\\ud800"', b"1" + b"0" * 5_000, b"NaN", b"-Infinity", b"1e999"),
        *(b"[" * depth + b"]" * depth for depth in (190, 300, 900, 100_000)),
    ],
    ids=lambda value: value[:8].decode(),
)
async def test_rows_that_could_not_be_read_again_are_no_job(service: Service, value: bytes) -> None:
    async with service() as client:
        for field in ("notes", "dataset"):
            row = json.dumps({**ROW, field: "HERE"}).encode().replace(b'"HERE"', value)
            answer = await client.post("/v1/audits", content=b'{"rows": [' + row + b"]}", headers=JSON)
            if answer.status_code == 202:  # it can be read
                assert (await finished(client, answer.json()["id"]))["status"] == "done", field
            else:
                assert _refused(answer) == (422, "invalid_input"), field


async def test_a_database_that_fails_is_said_and_not_taken_for_a_report(service: Service, home: Path) -> None:
    async with service() as client:
        done = (await client.post("/v1/checks", json=ASK)).json()["id"]
        await finished(client, done)
        with sqlite3.connect(home / "service" / "jobs.sqlite") as database:
            database.execute("ALTER TABLE factloop_job_texts RENAME TO gone")
        for path in ("/v1/checks", "/v1/checks?wait=true"):
            answer = await client.post(path, json=ASK)
            assert _refused(answer) == (503, "not_kept")
            assert answer.headers["retry-after"]
            assert "sqlite" not in answer.text.lower()
        answer = await client.get(f"/v1/jobs/{done}/result")
        assert _refused(answer) == (503, "not_kept")
        with sqlite3.connect(home / "service" / "jobs.sqlite") as database:
            database.execute("ALTER TABLE gone RENAME TO factloop_job_texts")
        answer = await client.post("/v1/checks?wait=true", json=ASK)
        while answer.status_code == 503:  # another call is trying the database
            answer = await client.post("/v1/checks?wait=true", json=ASK)
        assert answer.json()["claims"]


async def test_files_among_the_results_that_somebody_planted_do_no_harm(service: Service, home: Path) -> None:
    folder = home / "results"
    folder.mkdir()
    async with service(results=folder) as client:
        report = (await client.post("/v1/checks?wait=true", json=ASK)).json()
        hostile = {**report, "prompt": "<script>alert(1)</script>{{7*7}} 'sha256-AAAA'"}
        (folder / "good.json").write_text(json.dumps(hostile))
        (folder / "old.json").write_text(json.dumps({**report, "created_at": "0001-01-01T00:00:00"}))
        (folder / "late.json").write_text(json.dumps({**report, "created_at": "9999-12-31T23:59:59-14:00"}))
        (folder / "deep.json").write_text('{"a":' * 100_000)
        (folder / "nan.json").write_text(json.dumps({**report, "precision": float("nan")}))
        (folder / "two words.json").write_text(json.dumps(report))
        (folder / "loop.json").symlink_to("loop.json")
        (folder / "link.json").symlink_to("/etc/passwd")
        (folder / "up").symlink_to("..")
        os.mkfifo(folder / "pipe.json")
        listed = (await client.get("/v1/results")).json()["results"]
        assert [one["name"] for one in listed] == ["late", "good", "old"]
        for name in ("late", "old"):
            assert (await client.get(f"/v1/results/{name}/page.html")).status_code == 200
        page = await client.get("/v1/results/good/page.html")
        assert "<script>alert" not in page.text
        assert "{{7*7}}" in page.text
        assert "AAAA" not in page.headers["content-security-policy"]
        for name in ("deep", "nan", "two%20words", "loop", "link", "up", "pipe", "..", "%2e%2e%2fgood", "good%00"):
            assert (await client.get(f"/v1/results/{name}.json")).status_code == 404, name
        for file in folder.iterdir():
            file.unlink()
        folder.rmdir()
        assert (await client.get("/v1/results")).json() == {"results": []}
        assert _refused(await client.get("/v1/results/good.json")) == (404, "not_found")


async def test_a_job_that_somebody_damaged_hides_no_other(service: Service, home: Path) -> None:
    async with service() as client:
        for _ in range(4):
            last = (await client.post("/v1/checks", json=ASK)).json()["id"]
            await finished(client, last)
        jobs = [job["id"] for job in (await client.get("/v1/jobs")).json()["jobs"]]
    with sqlite3.connect(home / "service" / "jobs.sqlite") as database:
        database.execute("UPDATE factloop_jobs SET job = '{', status = 'running' WHERE id = ?", (jobs[1],))
    async with service() as client:
        found, before = [], ""
        for _ in range(2):
            page = (await client.get(f"/v1/jobs?limit=2{before}")).json()
            found += [job["id"] for job in page["jobs"]]
            before = f"&before={page['next']}"
        assert found == [jobs[0], jobs[2], jobs[3]]
        assert page["next"] is None
        assert (await client.get(f"/v1/jobs/{jobs[1]}")).status_code == 404


@pytest.mark.parametrize(
    ("name", "body"),
    [
        *(("result", body) for body in ("x", "{}", "[" * 100_000, '{"schema_version": "1.0", "claims": 5}')),
        *(("labels", body) for body in ("x", "null", '{"c1.1": {}}', "[" * 100_000)),
        *(("events", body) for body in ("x", "[1, 2]", '[["a", 5, {}]]', "[" * 100_000, "[[" + "9" * 5_000)),
    ],
    ids=lambda value: value[:12],
)
async def test_a_damaged_text_is_one_clear_error(service: Service, home: Path, name: str, body: str) -> None:
    async with service() as client:
        report = (await client.post("/v1/checks?wait=true", json=ASK)).json()
        (job,) = (await client.get("/v1/jobs")).json()["jobs"]
        at, claim = f"/v1/jobs/{job['id']}", report["claims"][0]["id"]
        with sqlite3.connect(home / "service" / "jobs.sqlite") as database:
            database.execute("DELETE FROM factloop_job_texts WHERE name = ?", (name,))
            columns = "factloop_job_texts (job_id, name, body)"
            database.execute(f"INSERT INTO {columns} VALUES (?, ?, ?)", (job["id"], name, body))
        readers = {"result": ("report.html", "claims.csv", "labels"), "labels": ("labels",)}.get(name, ())
        for path in readers:
            assert _refused(await client.get(f"{at}/{path}")) == (409, "damaged"), path
        given = await client.put(f"{at}/labels/{claim}", json={"label": "supported"})
        assert _refused(given) == (409, "damaged") if readers else given.status_code == 200
        assert [event for event, _, _ in events_in((await client.get(f"{at}/events")).text)][-1:] == ["job_finished"]
        assert (await client.delete(at)).status_code == 200


async def test_a_fault_of_our_own_is_no_damaged_text(service: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(routes_jobs, "render_csv", Job.model_validate)
    async with service() as client:
        await client.post("/v1/checks?wait=true", json=ASK)
        (job,) = (await client.get("/v1/jobs")).json()["jobs"]
        assert _refused(await client.get(f"/v1/jobs/{job['id']}/claims.csv")) == (500, "internal")
