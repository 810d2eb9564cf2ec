from __future__ import annotations

import asyncio
import gc
import os
import signal
from collections.abc import Generator, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings

from tests.simulator import INSTANT, Response, Simulator

# Without a deadline: on busy cores a call takes as long as it takes. HYPOTHESIS_PROFILE=full tries more, and the same
# ones each time, so that a change fails for what it changed; HYPOTHESIS_PROFILE=search looks for new failures.
settings.register_profile("quick", deadline=None, max_examples=20, derandomize=True)
settings.register_profile("full", deadline=None, max_examples=100, derandomize=True)
settings.register_profile("search", deadline=None, max_examples=2_000)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "quick"))

STARTED_BY = {"start": "process", "browser": "browser", "cluster": "ray", "minilm": "torch"}
"""By fixture, the slow kind that whatever uses it belongs to."""
OF_ONE_KIND = {Path(__file__).parent / kind: kind for kind in ("browser", "real")}
"""By folder, the slow kind of all that it holds: the quick tests are collected without it."""


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Collects without garbage collection and freezes imported objects, which saves 8 of 30 seconds of collection."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.set_threshold(10_000, 20, 20)
        gc.enable()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        for fixture in STARTED_BY.keys() & set(getattr(item, "fixturenames", ())):
            item.add_marker(STARTED_BY[fixture])
        if kind := _kind_of(item.path.parent):
            item.add_marker(kind)


@cache
def _kind_of(folder: Path) -> str | None:
    return next((kind for whole, kind in OF_ONE_KIND.items() if folder.is_relative_to(whole)), None)


def pytest_configure() -> None:
    """Background shells ignore SIGINT, and the commands under test would inherit that."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(scope="module")
def frozen() -> None:
    """For tests that collect garbage: excludes what is already alive.

    After thousands of tests one collection takes a quarter of a second, and statsmodels runs one in every adjustment.
    """
    gc.collect()
    gc.freeze()


@pytest.fixture(scope="module")
def running() -> Iterator[Simulator]:
    with Simulator() as simulator:
        yield simulator


@pytest.fixture
def sim(running: Simulator, monkeypatch: pytest.MonkeyPatch) -> Simulator:
    """A simulator in its initial state. The environment has its search engine and a key, not the model's address."""
    running.set(**vars(INSTANT))
    running.reset()
    for name, value in running.environment.items():
        monkeypatch.setenv(name, value)
    return running


@pytest.fixture
def response(sim: Simulator) -> Response:
    return min(sim.world.responses, key=lambda response: len(response.facts))


@pytest.fixture
def slept(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    sleep, noted = asyncio.sleep, list[float]()

    async def noting(delay: float, result: Any = None) -> Any:
        noted.append(delay)
        return await sleep(delay, result)

    monkeypatch.setattr(asyncio, "sleep", noting)
    return noted


@pytest.fixture
def brisk(monkeypatch: pytest.MonkeyPatch) -> None:
    """Runs each `asyncio.sleep` a hundred times faster."""
    sleep = asyncio.sleep

    async def shorter(delay: float, result: Any = None) -> Any:
        return await sleep(delay / 100, result)

    monkeypatch.setattr(asyncio, "sleep", shorter)


@pytest.fixture
def widest_umask() -> Iterator[None]:
    """Sets umask 0: new files are open to everyone unless the code restricts them."""
    before = os.umask(0)
    yield
    os.umask(before)
