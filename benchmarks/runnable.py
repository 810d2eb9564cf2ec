"""`python -m benchmarks.runnable`: what `FactCheckRunnable` costs over the bare checker, offline and without latency.

The same answers against the same documents: by `FactChecker.acheck` with an index of them, and by `FactCheckRunnable`
with the documents in its input, indexed before (an index of new ones is a row of its own). The two take turns, so that
a busy machine slows both; a ratio is the median of those of neighbours. Ends with 1 where a target is missed.
"""

from __future__ import annotations

import asyncio
import statistics
import time
from collections.abc import Awaitable, Callable
from functools import partial
from typing import Any

import typer
from langchain_core.documents import Document
from rich.console import Console

from benchmarks.rows import Row, compared, table
from factloop import FactChecker
from factloop.integrations.langchain import FactCheckRunnable
from factloop.setup.sources import Sources
from factloop.tools.search.given import GivenDocuments
from tests.simulator.building import build_world

TARGET = 1.05
ROUNDS = 60
Ask = Callable[[], Awaitable[Any]]


def main(rounds: int = ROUNDS) -> None:
    """Print targets beside measurements."""
    rows = asyncio.run(_rows(rounds))
    Console().print(table("FactCheckRunnable against the bare checker", rows))
    raise typer.Exit(1 if any(row.is_met is False for row in rows) else 0)


async def _rows(rounds: int) -> list[Row]:
    world, rows = build_world(), []
    for name, response in (("43 facts", world.responses[0]), ("26 facts", world.responses[1])):
        passages = [passage for passage in world.passages if passage.title.startswith(response.subject)]
        documents = [Document(item.text, metadata={"source": item.url, "title": item.title}) for item in passages]
        asked = {"question": response.prompt, "response": response.text, "documents": documents}
        async with FactChecker(cache=False) as checker:
            pairs = await _in_turns(
                partial(checker.acheck, response.text, response.prompt, sources=Sources((GivenDocuments(documents),))),
                partial(FactCheckRunnable(checker).ainvoke, asked),
                rounds,
            )
        ratio = statistics.median(door / plain for plain, door in pairs)
        plain_ms = 1000 * statistics.median(plain for plain, _ in pairs)
        rows.append(Row(name, f"bare checker, {len(documents)} documents", "", f"{plain_ms:.1f} ms", None))
        rows.append(compared(name, "FactCheckRunnable / bare", ratio, "at most", TARGET, "{:.3f}"))
        rows.append(Row(name, "index of new documents", "", f"{_index_ms(documents):.1f} ms", None))
    return rows


async def _in_turns(plain: Ask, door: Ask, rounds: int) -> list[tuple[float, float]]:
    """Seconds of both, side by side; which goes first alternates, and the first round is thrown away."""
    pairs: list[tuple[float, float]] = []
    for number in range(rounds + 1):
        first, second = (plain, door) if number % 2 else (door, plain)
        one, two = await _seconds(first), await _seconds(second)
        pairs.append((one, two) if number % 2 else (two, one))
    return pairs[1:]


async def _seconds(ask: Ask) -> float:
    started = time.perf_counter()
    await ask()
    return time.perf_counter() - started


def _index_ms(documents: list[Document]) -> float:
    took = []
    for _ in range(5):
        started = time.perf_counter()
        GivenDocuments(documents)
        took.append(time.perf_counter() - started)
    return 1000 * statistics.median(took)


if __name__ == "__main__":
    typer.run(main)
