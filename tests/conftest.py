from __future__ import annotations

import os
import signal
from collections.abc import Iterator

import pytest
from hypothesis import settings

from tests.simulator import INSTANT, Simulator

settings.register_profile("untimed", deadline=None)  # on busy cores a call takes as long as it takes
settings.load_profile("untimed")


def pytest_configure() -> None:
    """Started in the background a shell lets interrupts be ignored, and the commands under test would inherit that."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


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


@pytest.fixture
def widest_umask() -> Iterator[None]:
    """New files are everybody's to read and to write, unless somebody sees to it."""
    before = os.umask(0)
    yield
    os.umask(before)
