from __future__ import annotations

import re

import pytest

from tests.service.asking import ASK, Service, finished

MADE = re.compile(r"[0-9a-f]{32}")


async def test_it_is_on_every_answer_and_with_the_job(service: Service) -> None:
    async with service() as client:
        job = (await client.post("/v1/checks", json=ASK, headers={"X-Request-ID": "trace/7-a"})).json()
        made = [(await client.get(path)).headers["X-Request-ID"] for path in ("/health", "/", "/v1/jobs", "/nothing")]
        await finished(client, job["id"])
    assert job["request_id"] == "trace/7-a"
    assert all(MADE.fullmatch(one) for one in made)
    assert len(set(made)) == 4


@pytest.mark.parametrize(("path", "status"), [("/nothing", 404), ("/v1/jobs?limit=0", 422), ("/v1/jobs/1", 404)])
async def test_refusals_have_it_in_their_bodies(service: Service, path: str, status: int) -> None:
    async with service() as client:
        refused = await client.get(path, headers={"X-Request-ID": "mine"})
        guarded = await client.get(path, headers={"X-Request-ID": "mine", "Host": "elsewhere.example"})
    assert refused.status_code == status
    assert refused.json()["request_id"] == refused.headers["X-Request-ID"] == "mine"
    assert (guarded.status_code, guarded.json()["request_id"]) == (400, "mine")


@pytest.mark.parametrize("given", ["", "two words", "x" * 129, 'a"}\\', "é"])
async def test_what_is_not_fit_for_a_log_is_replaced(service: Service, given: str) -> None:
    async with service() as client:
        answer = await client.get("/health", headers={"X-Request-ID": given.encode()})  # type: ignore[arg-type]  # bytes, as they are sent
    assert MADE.fullmatch(answer.headers["X-Request-ID"])
