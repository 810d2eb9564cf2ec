"""Reading before the first answer happens beside the event loop, which may be a service's."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

CORPUS = Path(__file__).parents[2] / "examples" / "lighthouse" / "sources"
LARGE_FILE = 100_000

# In a process of its own: the tables are read once a process.
FIRST_ANSWER = """
import asyncio, json, os, sys, threading
from factloop import TrustScorer

read = {"by the loop": [], "beside it": []}

def note(event, arguments):
    if event == "open" and isinstance(arguments[0], str) and os.path.isfile(arguments[0]):
        by_loop = threading.current_thread() is threading.main_thread()
        read["by the loop" if by_loop else "beside it"].append((arguments[0], os.path.getsize(arguments[0])))

async def main(corpus, folder):
    async with TrustScorer(corpus=corpus, cache=False) as scorer:
        await scorer.ascore("Who built it?", "John Smeaton built it.", run_dir=folder)

sys.addaudithook(note)
asyncio.run(main(*sys.argv[1:]))
print(json.dumps(read))
"""


@pytest.mark.process
def test_the_first_answer_leaves_the_loop_to_others(tmp_path: Path) -> None:
    found = subprocess.run(
        [sys.executable, "-c", FIRST_ANSWER, str(CORPUS), str(tmp_path / "run")],
        capture_output=True,
        text=True,
        check=True,
        timeout=120,
    )
    read = json.loads(found.stdout)
    assert [path for path, size in read["by the loop"] if size > LARGE_FILE] == []
    assert [path for path, size in read["beside it"] if size > LARGE_FILE]
