"""Services that share PostgreSQL: each job ends once and is paid for once, whatever is killed or restarted.

What was paid for is counted by the simulated model.
"""

from __future__ import annotations

import signal
import time
from html import unescape

import httpx
import pytest
from sqlalchemy import create_engine, text

from factloop.service.work import BEGUN_ANEW
from tests.real.services import ASK, AT_ONCE, MAX_JOBS, Services, wait_until
from tests.service.asking import events_in
from tests.service.postgres import PostgresServer
from tests.simulator import Simulator

pytestmark = [pytest.mark.real, pytest.mark.postgres, pytest.mark.timeout(400)]

SLOW_S = 0.5
LEASE_S = 10.0  # the lease of `factloop serve`


@pytest.fixture
def n_calls(services: Services, sim: Simulator) -> int:
    alone = services.start(folder="alone")
    report = alone.client.post("/v1/checks?wait=true", json=ASK).json()
    assert (len(report["claims"]), report["counts"]["unscored"]) == (2, 0)
    found: int = sim.stats().model.requests
    assert found == report["usage"]["calls"] > 0
    sim.reset()
    sim.set(llm_latency_s=SLOW_S)
    return found


def test_a_killed_service_loses_no_job(
    services: Services, sim: Simulator, server: PostgresServer, n_calls: int
) -> None:
    n_jobs = 200
    three = services.start_several(3, "--database", server.url)
    jobs = [three[number % 3].ask() for number in range(n_jobs)]
    wait_until(lambda: three[1].n_with("done") >= n_jobs // 10)
    three[0].process.kill()
    watched = three[1].client.get(f"/v1/jobs/{jobs[-1]}/events")  # in whichever of them it is
    wait_until(lambda: three[2].n_with("done") == n_jobs)
    ended = [three[1].job(job) for job in jobs]
    n_asked = sim.stats().model.requests
    assert {job["status"] for job in ended} == {"done"}
    assert not any(job["begun_anew"] for job in ended), "they share a folder"
    assert n_jobs * n_calls <= n_asked <= n_jobs * n_calls + AT_ONCE, "those in flight"
    assert [type for type, _, _ in events_in(watched.text)][-2:] == ["check_finished", "job_finished"]
    results = [three[2].client.get(f"/v1/jobs/{job}/result") for job in jobs]
    assert {result.status_code for result in results} == {200}


def test_a_job_is_waited_for_and_stopped_in_another_service(
    services: Services, sim: Simulator, server: PostgresServer, n_calls: int
) -> None:
    busy = services.start("--database", server.url)
    running = [busy.ask() for _ in range(MAX_JOBS)]
    wait_until(lambda: busy.n_with("running") == MAX_JOBS)
    other = services.start("--database", server.url)
    stopped = other.client.post(f"/v1/jobs/{running[0]}/cancel").json()
    assert stopped["status"] in ("cancelled", "done")
    same = {"Idempotency-Key": "one"}
    first = busy.client.post("/v1/checks", json=ASK, headers=same).json()["id"]
    assert other.client.post("/v1/checks", json=ASK, headers=same).json()["id"] == first
    waited = other.client.post("/v1/checks?wait=true", json=ASK, headers=same)
    assert len(waited.json()["claims"]) == 2
    wait_until(lambda: busy.n_with("done") >= MAX_JOBS)
    assert sim.stats().model.requests <= (MAX_JOBS + 1) * n_calls


def test_cut_connections_and_a_restart_let_no_job_run_twice(
    services: Services, sim: Simulator, server: PostgresServer, n_calls: int
) -> None:
    n_jobs = 12
    first = services.start("--database", server.url)
    jobs = [first.ask() for _ in range(n_jobs)]
    wait_until(lambda: first.n_with("running") == MAX_JOBS)
    engine = create_engine(server.url)
    with engine.connect() as connection:
        connection.execute(
            text(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
                "WHERE pid <> pg_backend_pid() AND datname = 'postgres'"
            )
        )
    engine.dispose()
    second = services.start("--database", server.url)
    server.stop()
    server.start()
    wait_until(lambda: _n_done(second.client) == n_jobs)
    assert {second.job(job)["status"] for job in jobs} == {"done"}
    assert sim.stats().model.requests == n_jobs * n_calls


def test_jobs_that_end_while_the_server_is_away_are_kept_afterwards(
    services: Services, sim: Simulator, server: PostgresServer, n_calls: int
) -> None:
    # Each with a folder of its own: a job that the other one took would be paid for twice.
    two = [services.start("--database", server.url, folder=name) for name in ("one", "another")]
    jobs = [two[number % 2].ask() for number in range(MAX_JOBS)]  # so that both have room for more
    wait_until(lambda: two[0].n_with("running") == len(jobs))
    server.stop()
    wait_until(lambda: sim.stats().model.answered == len(jobs) * n_calls)
    for one in two:
        unready = one.client.get("/ready")
        assert (unready.status_code, unready.json()["troubles"][0]["what"]) == (503, "database")
        assert one.client.get("/health").status_code == 200
        refused = one.client.post("/v1/checks", json=ASK)
        assert (refused.status_code, refused.json()["error"]["type"]) == (503, "not_kept")
    time.sleep(LEASE_S + 2)  # all leases have lapsed when it is back
    server.start()
    wait_until(lambda: _n_done(two[1].client) == len(jobs))
    wait_until(lambda: two[0].client.get("/ready").status_code == 200)
    assert sim.stats().model.requests == len(jobs) * n_calls
    for job in jobs:
        assert two[0].client.get(f"/v1/jobs/{job}/result").json()["counts"]["unscored"] == 0


def test_a_service_that_stood_still_gives_its_job_up(
    services: Services, sim: Simulator, server: PostgresServer, n_calls: int
) -> None:
    """It holds the run directory until it learns that its lease is lost; the other service waits for that."""
    still = services.start("--database", server.url)
    job = still.ask()
    wait_until(lambda: sim.stats().model.requests > 0)
    still.process.send_signal(signal.SIGSTOP)
    other = services.start("--database", server.url)
    begun_at = other.job(job)["started_at"]
    wait_until(lambda: other.job(job)["started_at"] != begun_at)
    taken = other.job(job)
    still.process.send_signal(signal.SIGCONT)
    wait_until(lambda: other.job(job)["status"] == "done")
    assert (taken["status"], other.job(job)["begun_anew"]) == ("running", False)
    assert sim.stats().model.requests <= n_calls + AT_ONCE
    assert still.job(job) == other.job(job)


def test_without_the_folder_a_job_begins_anew_and_says_so(
    services: Services, server: PostgresServer, sim: Simulator, n_calls: int
) -> None:
    dead = services.start("--database", server.url, folder="of its own")
    job = dead.ask()
    wait_until(lambda: sim.stats().model.requests > 0)
    dead.process.kill()
    other = services.start("--database", server.url, folder="another")
    wait_until(lambda: other.job(job)["status"] == "done")
    assert other.job(job)["begun_anew"] is True
    report = other.client.get(f"/v1/jobs/{job}/result").json()
    assert BEGUN_ANEW in report["warnings"]
    assert BEGUN_ANEW in other.job(job)["summary"]["warnings"]
    assert BEGUN_ANEW in unescape(other.client.get(f"/v1/jobs/{job}/report.html").text)
    assert n_calls < sim.stats().model.requests <= 2 * n_calls


def _n_done(client: httpx.Client) -> int:
    """0 while the database is away."""
    answer = client.get("/v1/jobs", params={"status": "done", "limit": 200})
    return len(answer.json()["jobs"]) if answer.status_code == 200 else 0
