"""`python -m benchmarks.stream_guard`: how late a guarded stream is, against the simulator with its usual delays.

A long answer of the simulated world is written word by word at the pace of a fast model, and guarded meanwhile. Each
sentence's check is timed alone, so that its release can be set against it. Every claim is judged, so verdicts are set
against what the world holds, whether they have to do with the question or not. Ends with 1 where a target is missed.
"""

from __future__ import annotations

import asyncio
import os
import statistics
import time
from collections.abc import AsyncIterator
from dataclasses import dataclass, field

import typer
from langchain_core.documents import Document
from rich.console import Console

from benchmarks.rows import Row, compared, table
from factloop import FactChecker
from factloop.guarding import GuardedSentence, GuardEvent, GuardFinished, StreamGuard
from factloop.guarding.guard import MAX_WAIT_S
from factloop.setup.sources import Sources
from factloop.tools.search.given import GivenDocuments
from tests.simulator import MODEL, Response, RunningSimulator, spawn
from tests.simulator.scoring import Score, score

WORDS_PER_S = 40.0
SLACK_S = 0.1
"""What the machine may add: two cores, shared with the simulator."""


@dataclass
class StreamTimes:
    """When each character was written, and when each sentence came out."""

    written: list[float] = field(default_factory=list)
    ended: float = 0.0
    events: list[tuple[float, GuardEvent]] = field(default_factory=list)

    async def write(self, text: str) -> AsyncIterator[str]:
        for word in text.split(" "):
            await asyncio.sleep(1 / WORDS_PER_S)
            piece = f" {word}" if self.written else word
            self.written += [time.perf_counter()] * len(piece)
            yield piece
        self.ended = time.perf_counter()

    @property
    def finished(self) -> GuardFinished:
        last = self.events[-1][1]
        assert isinstance(last, GuardFinished)
        return last

    @property
    def sentences(self) -> list[tuple[float, GuardedSentence]]:
        return [(at, event) for at, event in self.events if isinstance(event, GuardedSentence)]

    @property
    def first_checked(self) -> tuple[float, GuardedSentence]:
        """The first sentence that states something; a title needs no check."""
        return next((at, event) for at, event in self.sentences if event.claims)

    def delay_s(self, at: float, event: GuardedSentence) -> float:
        """Delay from the last character of a sentence to its release."""
        return at - self.written[min(event.span[1], len(self.written)) - 1]


def main(responses: int = 3, repeats: int = 3) -> None:
    """Guard streams and print targets beside measurements."""
    with spawn() as simulator:
        os.environ.update(simulator.environment)
        rows = asyncio.run(_rows(simulator, responses, repeats))
    Console().print(table(f"guarded streams at {WORDS_PER_S:g} words/s", rows))
    raise typer.Exit(1 if any(row.is_met is False for row in rows) else 0)


async def _rows(simulator: RunningSimulator, n_responses: int, repeats: int) -> list[Row]:
    rows: list[Row] = []
    for response in simulator.world.responses[:n_responses]:
        after_s = await _checked_after_s(simulator, response)
        runs = [await _guarded(simulator, response) for _ in range(repeats)]
        _, first = runs[0].first_checked
        alone_s = statistics.median([await _alone_s(simulator, response, first.span) for _ in range(repeats)])
        first_s = statistics.median(run.delay_s(*run.first_checked) for run in runs)
        delays = [run.delay_s(at, event) for run in runs for at, event in run.sentences]
        out_s = statistics.median(run.events[-1][0] - run.ended for run in runs)
        facts = sum((score(run.finished.report.claims, response.facts, gated=False) for run in runs), Score())
        name = f"{len(response.facts)} facts, {len(runs[0].sentences)} sentences"
        n_wrong = facts.n_facts - facts.n_equal
        late_s = first_s - alone_s - MAX_WAIT_S - 1 / WORDS_PER_S  # a sentence is over by the first word of the next
        rows += [
            compared(name, "first claims out, less check, wait and a word (s)", late_s, "at most", SLACK_S, "{:.2f}"),
            Row(name, "first claims out; one check alone", "", f"{first_s:.2f} s; {alone_s:.2f} s", None),
            Row(name, "release after writing: median; longest", "",
                f"{statistics.median(delays):.2f} s; {max(delays):.2f} s", None),
            compared(name, "facts judged wrongly, lost or given to another", n_wrong, "at most", 0),
            Row(name, "all out after the last word; a check after it", "", f"{out_s:.2f} s; {after_s:.2f} s", None),
        ]  # fmt: skip
    return rows + [await _grounded(simulator, max_wait_s) for max_wait_s in (0.0, MAX_WAIT_S, 2.0)]


async def _grounded(simulator: RunningSimulator, max_wait_s: float) -> Row:
    """The calls that it takes to guard 18 sentences by the documents that they were written from."""
    response = simulator.world.responses[0]
    text = " ".join([fact.self_contained for fact in response.facts if not fact.is_duplicate][:18])
    documents = GivenDocuments([Document(one.text, metadata={"source": one.url}) for one in response.passages])
    watched, before = StreamTimes(), simulator.stats().model.requests
    async with FactChecker(model=MODEL, base_url=simulator.base_url, cache=False) as checker:
        guard = StreamGuard(checker, max_wait_s=max_wait_s)
        async for event in guard.aevents(watched.write(text), response.prompt, sources=Sources((documents,))):
            watched.events.append((time.perf_counter(), event))
    n_calls, began = simulator.stats().model.requests - before, watched.written[0]
    first_s, all_s = watched.first_checked[0] - began, watched.events[-1][0] - began
    name = f"18 sentences by documents, max_wait_s={max_wait_s:g}"
    return Row(
        name,
        "calls; first claims and all out after the first word",
        "",
        f"{n_calls}; {first_s:.1f} s; {all_s:.1f} s",
        None,
    )


async def _guarded(simulator: RunningSimulator, response: Response) -> StreamTimes:
    watched = StreamTimes()
    async with _checker(simulator) as checker:
        guard = StreamGuard(checker, at_once=16)
        async for event in guard.aevents(watched.write(response.text), response.prompt):
            watched.events.append((time.perf_counter(), event))
    return watched


def _checker(simulator: RunningSimulator) -> FactChecker:
    return FactChecker(model=MODEL, base_url=simulator.base_url, search="serper", cache=False, concurrency=0)


async def _checked_after_s(simulator: RunningSimulator, response: Response) -> float:
    async with _checker(simulator) as checker:
        started = time.perf_counter()
        await checker.acheck(response.text, response.prompt)
        return time.perf_counter() - started


async def _alone_s(simulator: RunningSimulator, response: Response, span: tuple[int, int]) -> float:
    async with _checker(simulator) as checker:
        await checker.acheck("", spans=[])  # what the first check of a checker sets up
        started = time.perf_counter()
        await checker.acheck(response.text[: span[1]], response.prompt, spans=[span])
        return time.perf_counter() - started


if __name__ == "__main__":
    typer.run(main)
