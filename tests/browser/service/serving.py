from __future__ import annotations

import asyncio
import json
import socket
import threading
import urllib.request
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import uvicorn
from starlette.types import Receive, Scope, Send

from factloop.core.errors import FactloopError
from factloop.service.app import build_app
from factloop.service.routes import ServiceContext
from factloop.service.settings import ServiceSettings
from factloop.setup.settings import CheckSettings
from factloop.trust.settings import TrustSettings
from tests.browser.visits import LATER_MS
from tests.simulator import MODEL, RunningSimulator
from tests.threaded_server import ThreadedServer

PATIENCE_S = 90.0


class Serving:
    def __init__(
        self, folder: Path, check: CheckSettings | None = None, trust: TrustSettings | None = None, **settings: Any
    ) -> None:
        given = {"rate": "100000/minute", **settings}
        self._settings = ServiceSettings(folder=folder, port=0, **given)
        self._check = check or CheckSettings(cache=False)
        self._trust = trust or TrustSettings(cache=False)
        self.url = ""

    def start(self) -> Self:
        self._started = threading.Event()
        self._failure: Exception | None = None
        self._thread = threading.Thread(target=self._run, name="service", daemon=True)
        self._thread.start()
        if not self._started.wait(PATIENCE_S) or self._failure is not None:
            raise RuntimeError("the service did not start") from self._failure
        self._settings = self._settings.model_copy(update={"port": int(self.url.rpartition(":")[2])})
        return self

    def stop(self) -> None:
        self._loop.call_soon_threadsafe(self._stop)
        self._thread.join(PATIENCE_S)
        assert not self._thread.is_alive()

    def get(self, path: str) -> Any:
        with urllib.request.urlopen(self.url + path, timeout=PATIENCE_S) as answer:
            return json.load(answer)

    def post(self, path: str, body: object, headers: Mapping[str, str] | None = None) -> Any:
        asked = urllib.request.Request(
            self.url + path, json.dumps(body).encode(), {"Content-Type": "application/json", **(headers or {})}
        )
        with urllib.request.urlopen(asked, timeout=PATIENCE_S) as answer:
            return json.load(answer)

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._thread.is_alive():
            self.stop()

    def _run(self) -> None:
        try:
            asyncio.run(self._serve())
        except (OSError, FactloopError) as error:
            self._failure = error
            self._started.set()

    async def _serve(self) -> None:
        app = build_app(self._settings, self._check, self._trust)
        self._context: ServiceContext = app.state.context

        async def late(scope: Scope, receive: Receive, send: Send) -> None:
            await asyncio.sleep(LATER_MS / 1000)
            await app(scope, receive, send)

        config = uvicorn.Config(late, lifespan="off", log_config=None, ws="none", timeout_graceful_shutdown=1)
        self._server, self._loop = ThreadedServer(config), asyncio.get_running_loop()
        with socket.create_server((self._settings.host, self._settings.port)) as listening:
            self.url = f"http://{self._settings.host}:{listening.getsockname()[1]}"
            async with app.router.lifespan_context(app):
                self._started.set()
                await self._server.serve(sockets=[listening])

    def _stop(self) -> None:
        assert self._context.opened is not None
        self._context.opened.jobs.begin_stop()
        self._server.should_exit = True


def simulated(sim: RunningSimulator, **settings: Any) -> CheckSettings:
    return CheckSettings(
        **{"model": MODEL, "base_url": sim.base_url, "search": ("serper",), "cache": False, **settings}
    )
