"""The calls between the command and its graph are few: a reader follows a check through each of them."""

from __future__ import annotations

import asyncio
import gc
import inspect
import types
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import pytest
from langgraph.graph.state import CompiledStateGraph

import factloop.cli.check as command
from tests.cli.command import Command

OURS = str(Path(command.__file__).parents[1])
MOST = 8


def awaited_by(one: Any) -> Iterator[types.FrameType]:
    """The frames of a task, from its own coroutine to what it waits for now."""
    while one is not None:
        if inspect.iscoroutine(one):
            frame, one = one.cr_frame, one.cr_await
        elif inspect.isasyncgen(one):
            frame, one = one.ag_frame, one.ag_await
        else:  # a step of an asynchronous generator, which alone knows the generator
            one = next(filter(inspect.isasyncgen, gc.get_referents(one)), None)
            continue
        if frame is not None:
            yield frame


def calls_now() -> list[str]:
    """Our functions that are under way: those on the stack, and those that wait in a task of this event loop."""
    on_stack = [found.frame for found in reversed(inspect.stack(context=0))]
    waiting = [frame for task in asyncio.all_tasks() for frame in awaited_by(task.get_coro())]
    frames = {id(frame): frame.f_code for frame in (*on_stack, *waiting)}
    names = [code.co_qualname for code in frames.values() if code.co_filename.startswith(OURS)]
    return names[names.index("check") :]


@pytest.mark.parametrize("run_dir", [(), ("--run-dir", "run")])
def test_the_command_reaches_its_graph_in_eight_calls(
    factloop: Command, answer: Path, docs: Path, monkeypatch: pytest.MonkeyPatch, run_dir: tuple[str, ...]
) -> None:
    """Counted at the graph's first step, when the functions that pass on its steps are under way, too."""
    seen: list[list[str]] = []
    steps_of = CompiledStateGraph.astream

    async def astream(graph: Any, *given: Any, **named: Any) -> AsyncIterator[Any]:
        seen.append(calls_now())
        async for step in steps_of(graph, *given, **named):
            yield step

    monkeypatch.setattr(CompiledStateGraph, "astream", astream)
    assert factloop("check", answer, "--docs", docs, *run_dir).code == 0
    (calls,) = seen
    assert {"check", "FactChecker.astream"} <= set(calls)
    assert len(calls) <= MOST, calls
