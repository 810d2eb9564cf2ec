from __future__ import annotations

import asyncio
import http.client
import json
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, replace
from functools import cached_property
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from pydantic import TypeAdapter

from tests.simulator.building import build_world
from tests.simulator.recorder import Statistics
from tests.simulator.server import HOST, SETTINGS, serving
from tests.simulator.settings import SimulatorSettings
from tests.simulator.subject import Subject
from tests.simulator.world import World

WORLD_SEED = 20
MODEL = "openai:sim"
STARTED_WITHIN_S = 60.0
ROOT = Path(__file__).resolve().parents[2]
INSTANT = SimulatorSettings(llm_latency_s=0.0, token_latency_s=0.0, search_latency_s=0.0)
"""No delays: for tests that look at answers, not at time."""

_STATISTICS = TypeAdapter(Statistics)


class RunningSimulator:
    def __init__(self, port: int, world_seed: int = WORLD_SEED) -> None:
        self._port, self._world_seed = port, world_seed

    @property
    def base_url(self) -> str:
        """Ends in /v1, as OpenAI's clients want it."""
        return f"http://{HOST}:{self._port}/v1"

    @property
    def serper_url(self) -> str:
        """Replaces https://google.serper.dev; searches go to /search below it."""
        return f"http://{HOST}:{self._port}"

    @property
    def environment(self) -> dict[str, str]:
        """Variables that point factloop's `--search serper` at this simulator."""
        return {"FACTLOOP_SERPER_URL": self.serper_url, "SERPER_API_KEY": "simulated", "OPENAI_API_KEY": "simulated"}

    @cached_property
    def world(self) -> World:
        return build_world(self._world_seed)

    @property
    def subject(self) -> Subject:
        """What the model knows with the present settings: the ground truth for TrustScore."""
        return Subject(self.world, self.settings)

    @property
    def settings(self) -> SimulatorSettings:
        return SETTINGS.validate_python(self._ask("GET", "/settings"))

    def set(self, **changes: Any) -> None:
        """Changes only the named settings. Raises ValueError for values that the server rejects."""
        self._ask("POST", "/settings", asdict(replace(self.settings, **changes)))

    def stats(self, *, with_log: bool = False) -> Statistics:
        """Counts since the start or the last `reset`."""
        return _STATISTICS.validate_python(self._ask("GET", "/stats?log=1" if with_log else "/stats"))

    def bodies(self, stage: str | None = None) -> list[dict[str, Any]]:
        """The last request bodies as received, oldest first, of one stage or of all."""
        raw = self._ask("GET", f"/bodies?stage={stage}" if stage else "/bodies")
        return [json.loads(body) for body in raw]

    def batches(self) -> list[list[str]]:
        """The names of the requests in each submitted batch."""
        made: list[list[str]] = self._ask("GET", "/batches")
        return made

    def reset(self) -> None:
        """Clears all counts and bodies; the settings stay."""
        self._ask("POST", "/reset", {})

    def _ask(self, method: str, path: str, body: object = None) -> Any:
        connection = http.client.HTTPConnection(HOST, self._port, timeout=30)
        try:
            connection.request(method, path, None if body is None else json.dumps(body))
            response = connection.getresponse()
            text = response.read().decode()
        finally:
            connection.close()
        if response.status != 200:
            raise ValueError(text)
        return json.loads(text)


class Simulator(RunningSimulator):
    """Runs in a thread of this process during a `with` block, without delays by default."""

    def __init__(self, settings: SimulatorSettings = INSTANT, *, world_seed: int = WORLD_SEED, **changes: Any) -> None:
        super().__init__(port=0, world_seed=world_seed)
        self._initial = replace(settings, **changes)
        self._thread = threading.Thread(target=self._run, name="simulator", daemon=True)
        self._is_serving = threading.Event()
        self._failure: OSError | None = None

    def __enter__(self) -> Self:
        build_world(self._world_seed)  # made here, so that the thread is not charged for it
        self._thread.start()
        if not self._is_serving.wait(STARTED_WITHIN_S) or self._failure is not None:
            raise RuntimeError("the simulator did not start") from self._failure
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._loop.call_soon_threadsafe(self._stop.set)
        self._thread.join()

    def _run(self) -> None:
        asyncio.run(self._serve())

    async def _serve(self) -> None:
        self._loop, self._stop = asyncio.get_running_loop(), asyncio.Event()
        try:
            async with serving(self.world, self._initial) as self._port:
                self._is_serving.set()
                await self._stop.wait()
        except OSError as error:
            self._failure = error
            self._is_serving.set()


@contextmanager
def spawn(
    settings: SimulatorSettings | None = None, *, world_seed: int = WORLD_SEED, **changes: Any
) -> Iterator[RunningSimulator]:
    """Runs a simulator in a separate process, so that its CPU time is separate too; with delays by default."""
    chosen = replace(settings or SimulatorSettings(), **changes)
    command = [sys.executable, "-m", "tests.simulator", "--port", "0", "--seed", str(world_seed)]
    command += ["--settings", json.dumps(asdict(chosen))]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        try:
            line = process.stdout.readline()
            if not line:
                raise RuntimeError("the simulator did not start")
            yield RunningSimulator(json.loads(line)["port"], world_seed)
        finally:
            process.terminate()
