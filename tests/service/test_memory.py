"""A long-running service uses no more memory, except for its bounded caches.

The checks run in a separate interpreter, because pytest keeps every log line and the tests' tracer every span.
"""

from __future__ import annotations

import asyncio
import functools
import gc
import os
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path

import httpx
import pytest

from factloop.service.app import build_app
from factloop.service.settings import ServiceSettings
from factloop.setup.settings import CheckSettings
from factloop.tools.judges import aligned
from factloop.trust.settings import TrustSettings
from tests.service.asking import ADDRESS, FINISHED_WITHIN_S

N_FIRST, N_CHECKS = 50, 500


@pytest.mark.process
@pytest.mark.timeout(600)
def test_checks_leave_nothing_behind(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "tests.service.test_memory"]
    done = subprocess.run(command, env={**os.environ, "TMPDIR": str(tmp_path)}, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr[-2000:]


def objects() -> Counter[str]:
    """Living objects by type, except those in bounded caches."""
    for module in [module for name, module in sys.modules.items() if name.startswith("factloop.")]:
        for found in vars(module).values():
            if type(found) is functools._lru_cache_wrapper and found.cache_info().maxsize is not None:
                found.cache_clear()
    aligned._kept.clear()
    gc.collect()
    return Counter(type(found).__qualname__ for found in gc.get_objects())


async def grown(folder: Path) -> Counter[str]:
    """The objects that the checks leave behind, not counting what the first ones fill once."""
    cache = folder / "cache"
    settings = ServiceSettings(folder=folder / "service", rate="100/second")
    app = build_app(settings, CheckSettings(cache_dir=cache), TrustSettings(cache_dir=cache))
    transport = httpx.ASGITransport(app)
    async with (
        app.router.lifespan_context(app),
        httpx.AsyncClient(transport=transport, base_url=ADDRESS, timeout=FINISHED_WITHIN_S) as client,
    ):
        for number in range(N_FIRST + N_CHECKS):
            if number == N_FIRST:
                before = objects()
            fact = f"Ada{number} Lovelace was born in London."
            asked = {"response": fact, "documents": [{"text": fact}]}
            assert (await client.post("/v1/checks?wait=true", json=asked)).status_code == 200
        return objects() - before


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        left = asyncio.run(grown(Path(folder)))
    if left.total() >= N_CHECKS // 2:
        sys.exit(f"{left.total()} objects left by {N_CHECKS} checks: {left.most_common(5)}")
