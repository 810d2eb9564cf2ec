from __future__ import annotations

import subprocess
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx

from tests.cli.processes import Start, address_of, processes_in
from tests.simulator import MODEL, Simulator

WITHIN_S = 180.0
LOOK_S = 0.2
MAX_JOBS = 4  # jobs at work in one service
AT_ONCE = 8  # model calls of one service
ASK: dict[str, Any] = {
    "response": "Ada Lovelace was born in London. Ada Lovelace was taught in Paris.",
    "documents": [{"text": "Ada Lovelace was born in London on 10 December 1815."}],
}


@dataclass
class RunningService:
    process: subprocess.Popen[str]
    client: httpx.Client

    @property
    def url(self) -> str:
        return str(self.client.base_url).rstrip("/")

    def ask(self) -> str:
        answer = self.client.post("/v1/checks", json=ASK)
        assert answer.status_code == 202, answer.text
        job_id: str = answer.json()["id"]
        return job_id

    def job(self, job_id: str) -> Any:
        answer = self.client.get(f"/v1/jobs/{job_id}")
        assert answer.status_code == 200, answer.text
        return answer.json()

    def n_with(self, status: str) -> int:
        answer = self.client.get("/v1/jobs", params={"status": status, "limit": 200})
        return len(answer.json()["jobs"])


@dataclass
class Services:
    sim: Simulator
    folder: Path
    begin: Start
    started: list[RunningService] = field(default_factory=list)

    def start(self, *flags: object, folder: str = "shared") -> RunningService:
        return self._ready(self._begin(flags, folder))

    def start_several(self, n_services: int, *flags: object) -> list[RunningService]:
        return [self._ready(process) for process in [self._begin(flags, "shared") for _ in range(n_services)]]

    def _begin(self, flags: Sequence[object], folder: str) -> subprocess.Popen[str]:
        given = ["--folder", self.folder / folder, "--port", 0, "--model", MODEL, "--base-url", self.sim.base_url]
        given += ["--no-cache", "--concurrency", AT_ONCE, "--set", f"max_jobs={MAX_JOBS}", "--set", "max_queued=1000"]
        return self.begin("serve", *given, "--set", "rate=100000/minute", *flags)

    def _ready(self, process: subprocess.Popen[str]) -> RunningService:
        self.started.append(RunningService(process, httpx.Client(base_url=address_of(process), timeout=WITHIN_S)))
        return self.started[-1]


@contextmanager
def services_over(sim: Simulator, folder: Path) -> Iterator[Services]:
    with processes_in(folder, **sim.environment) as begin:
        services = Services(sim, folder, begin)
        yield services
        for one in services.started:
            one.client.close()


def wait_until(condition: Callable[[], Any]) -> None:
    for _ in range(int(WITHIN_S / LOOK_S)):
        if condition():
            return
        time.sleep(LOOK_S)
    raise AssertionError("it did not come to that")
