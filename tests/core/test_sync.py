from __future__ import annotations

import subprocess
import sys

import pytest

from factloop.core.errors import ConfigError
from factloop.core.sync import run_blocking

FIRST_CALLS = """
import asyncio, sys, threading
from factloop.core.sync import run_blocking

async def loop_here():
    return id(asyncio.get_running_loop())

def call():
    together.wait()
    found.append(run_blocking(loop_here()))

sys.setswitchinterval(1e-6)  # threads take turns as often as they can
together, found = threading.Barrier(16), []
threads = [threading.Thread(target=call) for _ in range(16)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
print(len(found), len(set(found)), sum(thread.name == "factloop" for thread in threading.enumerate()))
"""


@pytest.mark.process
def test_first_calls_from_several_threads_share_one_loop() -> None:
    for _ in range(3):
        done = subprocess.run([sys.executable, "-c", FIRST_CALLS], capture_output=True, text=True, check=True)
        assert done.stdout.split() == ["16", "1", "1"]


def test_the_background_loop_itself_is_refused_not_waited_for() -> None:
    async def inner() -> int:
        return 1

    async def outer() -> int:
        return run_blocking(inner())

    with pytest.raises(ConfigError, match="own event loop"):
        run_blocking(outer())
