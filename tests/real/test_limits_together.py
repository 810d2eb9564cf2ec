"""Three services that share a PostgreSQL server: what the operator limits holds over all of them."""

from __future__ import annotations

from pathlib import Path

import httpx
import pytest

from factloop.service.access import OF_AN_ADDRESS
from tests.real.services import ASK, RunningService, Services, wait_until
from tests.service.postgres import PostgresServer
from tests.simulator import Simulator

pytestmark = [pytest.mark.real, pytest.mark.postgres, pytest.mark.timeout(400)]

N_SERVICES = 3
N_SENTENCES = 2
"""Of the answer that is checked: as many calls has a job at a time."""
KEY = "a-key-of-sixteen-letters"


def three(services: Services, server: PostgresServer, *flags: object) -> list[RunningService]:
    return services.start_several(N_SERVICES, "--database", server.url, *flags)


def asked_in_turn(found: list[RunningService], n_jobs: int, **headers: str) -> list[httpx.Response]:
    """The answers to so many requests, each to the next service."""
    return [found[number % N_SERVICES].client.post("/v1/checks", json=ASK, headers=headers) for number in range(n_jobs)]


def test_jobs_at_work(services: Services, sim: Simulator, server: PostgresServer) -> None:
    together, n_jobs = 4, 18
    sim.set(llm_latency_s=0.2)
    found = three(services, server, "--set", f"max_jobs_together={together}")  # each may have as many by itself
    asked_in_turn(found, n_jobs)
    seen = 0

    def are_done() -> bool:
        nonlocal seen
        seen = max(seen, found[0].n_with("running"))
        return found[1].n_with("done") == n_jobs

    wait_until(are_done)
    assert 1 < seen <= together
    assert sim.stats().max_in_flight <= together * N_SENTENCES


def test_callers(services: Services, server: PostgresServer, tmp_path: Path) -> None:
    keys = tmp_path / "keys.txt"
    keys.write_text(f"{KEY}\n", encoding="utf-8")
    found = three(services, server, "--set", "rate=4/hour", "--api-key-file", keys)
    good = {"Authorization": f"Bearer {KEY}"}
    answers = asked_in_turn(found, 6, **good)
    assert [answer.status_code for answer in answers] == [202] * 4 + [429] * 2
    n_tries = OF_AN_ADDRESS.amount + N_SERVICES
    wrong = [
        found[number % N_SERVICES].client.get("/v1/info", headers={"Authorization": f"Bearer wrong{number}"})
        for number in range(n_tries)
    ]
    assert [answer.status_code for answer in wrong] == [401] * OF_AN_ADDRESS.amount + [429] * N_SERVICES
    assert {one.client.get("/v1/info", headers=good).status_code for one in found} == {200}


def test_what_a_day_may_cost(services: Services, sim: Simulator, server: PostgresServer) -> None:
    of_job, of_day = 10, 45
    sim.set(llm_latency_s=0.1)
    found = three(services, server, "--max-calls", of_job, "--set", f"max_calls_per_day={of_day}")
    answers = asked_in_turn(found, 40)
    wait_until(lambda: found[0].n_with("running") == 0 and _is_spent(found[2]))
    done = found[1].client.get("/v1/jobs", params={"status": "done"}).json()["jobs"]
    n_asked = sim.stats().model.requests
    assert {answer.status_code for answer in answers} <= {202, 503}
    assert of_day - of_job < n_asked <= of_day
    assert {job["summary"]["counts"]["unscored"] for job in done} == {0}, "no job was cut short"


def _is_spent(one: RunningService) -> bool:
    """Whether the next request is refused; one that is taken counts, too, and its job is waited for by the caller."""
    answer = one.client.post("/v1/checks", json=ASK)
    return answer.status_code == 503 and answer.json()["error"]["type"] == "budget_spent"
