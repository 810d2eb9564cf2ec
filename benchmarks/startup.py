"""Measures how long the command line takes to answer, and what importing the package loads."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

from benchmarks.rows import Row, compared

HEAVY = ("torch", "spacy")
OURS, THEIRS = "factloop.integrations.langchain", "langchain_openai, langgraph.graph"
N_TRIES = 5
FACTLOOP = str(Path(sys.executable).with_name("factloop"))


def startup_rows() -> Iterator[Row]:
    """The best of some tries: the rest of the machine only ever slows it down."""
    help_s = min(_seconds([FACTLOOP, "--help"]) for _ in range(N_TRIES))
    yield compared("start", "factloop --help", help_s, "at most", 0.5, "{:.2f} s")
    program = f"import factloop, sys; print(*(name for name in {HEAVY} if name in sys.modules))"
    loaded = subprocess.run([sys.executable, "-c", program], check=True, capture_output=True, text=True).stdout.strip()
    yield Row("start", "import factloop loads of torch, spaCy", "neither", loaded or "neither", not loaded)
    tries = [
        [_seconds([sys.executable, "-c", f"import {modules}"]) for modules in (OURS, THEIRS)] for _ in range(N_TRIES)
    ]
    ours, theirs = map(min, zip(*tries, strict=True))
    yield compared("start", f"import {OURS} / import {THEIRS}", ours / theirs, "at most", 1.3, "{:.2f}")


def _seconds(command: list[str]) -> float:
    started = time.perf_counter()
    subprocess.run(command, check=True, capture_output=True)
    return time.perf_counter() - started
