from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.simulator import INSTANT, Simulator


@pytest.fixture(scope="module")
def running() -> Iterator[Simulator]:
    with Simulator() as simulator:
        yield simulator


@pytest.fixture
def sim(running: Simulator, monkeypatch: pytest.MonkeyPatch) -> Simulator:
    """A simulator as if just started; the environment has its search engine and a key, not the model's address."""
    running.set(**vars(INSTANT))
    running.reset()
    for name, value in running.environment.items():
        monkeypatch.setenv(name, value)
    return running
