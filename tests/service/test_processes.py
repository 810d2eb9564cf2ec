from __future__ import annotations

import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from factloop import FactualityReport
from tests.checking.simulated import simulated_checker
from tests.cli.processes import address_of, processes_in
from tests.service.asking import FINISHED_WITHIN_S, events_in
from tests.simulator import MODEL, Simulator

AT_ONCE = 4  # model calls of one job

Start = Callable[..., tuple["subprocess.Popen[str]", httpx.Client]]


@pytest.fixture
def start(home: Path, sim: Simulator) -> Iterator[Start]:
    """Starts `factloop serve` with the simulator; kills whatever still runs at the end."""
    flags = ["--folder", "service", "--port", 0, "--model", MODEL, "--base-url", sim.base_url]
    flags += ["--search", "serper", "--concurrency", AT_ONCE]
    with processes_in(home, **sim.environment) as begin:

        def make() -> tuple[subprocess.Popen[str], httpx.Client]:
            process = begin("serve", *flags)
            return process, httpx.Client(base_url=address_of(process), timeout=FINISHED_WITHIN_S)

        yield make


def _asked(sim: Simulator) -> dict[str, Any]:
    response = min(sim.world.responses, key=lambda response: len(response.facts))
    return {
        "response": ". ".join(response.text.split(". ")[:6]) + ".",
        "question": response.prompt,
        "mode": "factuality",
    }


def _until(condition: Callable[[], Any]) -> None:
    while not condition():
        time.sleep(0.01)


@pytest.mark.process
@pytest.mark.parametrize("sent", [signal.SIGTERM, signal.SIGKILL])
def test_a_job_goes_on_after_the_service_was_stopped(
    start: Start, sim: Simulator, home: Path, sent: signal.Signals
) -> None:
    asked = _asked(sim)
    with_own_cache = {"cache_dir": home / "undisturbed", "concurrency": AT_ONCE}
    undisturbed = simulated_checker(sim, **with_own_cache).check(asked["response"], asked["question"])
    n_alone = sim.stats().model.requests
    sim.reset()
    sim.set(llm_latency_s=0.1, search_latency_s=0.1)
    process, client = start()
    with client:
        running, waiting = [client.post("/v1/checks", json=asked).json()["id"] for _ in range(2)]
        _until(lambda: sim.stats().model.answered >= n_alone // 2)
        if sent == signal.SIGTERM:
            with client.stream("GET", f"/v1/jobs/{running}/events") as stream:
                process.send_signal(sent)
                seen = events_in("".join(stream.iter_text()))
            assert "job_finished" not in [type for type, _, _ in seen]
        else:
            process.send_signal(sent)
    assert process.wait(FINISHED_WITHIN_S) == (0 if sent == signal.SIGTERM else -signal.SIGKILL)
    assert sim.stats().model.answered < 2 * n_alone
    _, client = start()
    with client:
        events = events_in(client.get(f"/v1/jobs/{running}/events").text)
        report = FactualityReport.model_validate_json(client.get(f"/v1/jobs/{running}/result").content)
        _until(lambda: client.get(f"/v1/jobs/{waiting}").json()["status"] == "done")
        told = [client.get(f"/v1/jobs/{job}").json() for job in (running, waiting)]
        _until(lambda: not list((home / "service" / "journals").iterdir()))  # they are put away after that
    assert events[-1][0] == "job_finished"
    assert report.counts == undisturbed.counts
    cut_off = 0 if sent == signal.SIGTERM else 2 * AT_ONCE  # those in flight, of both jobs
    assert sim.stats().model.requests <= 2 * n_alone + cut_off
    usages, asked_for = [job["progress"]["usage"] for job in told], sim.stats()
    n_reported = sum(usage["calls"] + usage["failed_calls"] + usage["searches"] for usage in usages)
    n_answered = sum(usage["calls"] + usage["searches"] for usage in usages)
    if sent == signal.SIGTERM:
        assert n_answered == n_reported, "what was under way has ended, searches, too"
    # A kill may come before a request that was noted has left.
    assert 0 <= n_reported - asked_for.model.requests - asked_for.search.requests <= cut_off
    assert not any(job["begun_anew"] for job in told)
