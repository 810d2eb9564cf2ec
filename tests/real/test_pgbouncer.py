from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.real.pgbouncer import is_installed, running_pgbouncer
from tests.real.services import ASK, AT_ONCE, MAX_JOBS, Services, wait_until
from tests.service.postgres import PostgresServer
from tests.simulator import Simulator

pytestmark = [
    pytest.mark.real,
    pytest.mark.postgres,
    pytest.mark.timeout(400),
    pytest.mark.skipif(not is_installed(), reason="Debian's pgbouncer is not installed"),
]


@pytest.fixture
def pooled(server: PostgresServer) -> Iterator[str]:
    """The database through PgBouncer, which reads its files as another user."""
    with (
        tempfile.TemporaryDirectory(prefix="factloop-pgbouncer-") as folder,
        running_pgbouncer(Path(folder), server.url) as url,
    ):
        yield url


def test_a_killed_service_loses_no_job(services: Services, sim: Simulator, pooled: str) -> None:
    n_jobs = 24
    sim.set(llm_latency_s=0.3)
    found = services.start_several(3, "--database", pooled, "--set", f"max_jobs_together={2 * MAX_JOBS}")
    same = {"Idempotency-Key": "one"}
    first = {found[number].client.post("/v1/checks", json=ASK, headers=same).json()["id"] for number in range(3)}
    jobs = [*first, *(found[number % 3].ask() for number in range(n_jobs - 1))]
    wait_until(lambda: found[1].n_with("done") >= MAX_JOBS)
    found[0].process.kill()
    wait_until(lambda: found[2].n_with("done") == n_jobs)
    ended = [found[1].job(job) for job in jobs]
    n_calls = min(job["summary"]["n_calls"] for job in ended if job["n_deaths"] == 0)
    assert len(first) == 1
    assert {job["status"] for job in ended} == {"done"}
    assert n_jobs * n_calls <= sim.stats().model.requests <= n_jobs * n_calls + AT_ONCE
