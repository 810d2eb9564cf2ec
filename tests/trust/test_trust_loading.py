"""What TrustScore reads before the first answer is read beside the event loop, which may be a service's."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

CORPUS = Path(__file__).parents[2] / "examples" / "lighthouse" / "sources"

# In a process of its own: the tables are read once a process.
FIRST_ANSWER = """
import asyncio, sys, time
from factloop import TrustScorer

async def longest_silence(until):
    worst = 0.0
    while not until.done():
        before = time.perf_counter()
        await asyncio.sleep(0.005)
        worst = max(worst, time.perf_counter() - before)
    return worst

async def main(corpus, folder):
    async with TrustScorer(corpus=corpus, cache=False) as scorer:
        scoring = asyncio.ensure_future(scorer.ascore("Who built it?", "John Smeaton built it.", run_dir=folder))
        before = time.perf_counter()
        worst = await longest_silence(scoring)
        print(worst / (time.perf_counter() - before))

asyncio.run(main(*sys.argv[1:]))
"""


def test_the_first_answer_leaves_the_loop_to_others(tmp_path: Path) -> None:
    found = subprocess.run(
        [sys.executable, "-c", FIRST_ANSWER, str(CORPUS), str(tmp_path / "run")],
        capture_output=True,
        text=True,
        check=True,
        timeout=120,
    )
    assert float(found.stdout) < 0.5  # it was nearly all of the time
