"""Runs an experiment: every variant on every item in every repeat, so that a kill loses only what was in flight.

    results = await arun_experiment(load_plan("plan.yaml"), run_dir="runs/strict")

In the run directory stand the cells that are done (`cells.jsonl`), the model's answers of each repeat
(`repeat-1.sqlite`, ...), the searches of all (`searches.sqlite`), and at the end `results.json`.
"""

from __future__ import annotations

import time
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import AsyncExitStack, aclosing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from langchain_core.documents import Document

from factloop.checking.cascade.stage import refuse_without_documents
from factloop.checking.check import Asked, Checking, open_checking
from factloop.checking.preparing import prepare
from factloop.core.files.json import to_json, write_atomically
from factloop.core.records import Usage
from factloop.evaluation.experiments.answers import SharedAnswers, paid_for, spent_on
from factloop.evaluation.experiments.cells import Cell, CellLog, claim_cell, response_cell
from factloop.evaluation.experiments.evidence import described
from factloop.evaluation.experiments.items import Data, Item, load_data
from factloop.evaluation.experiments.plan import ExperimentPlan
from factloop.evaluation.experiments.records import Results
from factloop.evaluation.experiments.variants import (
    ReadyVariant,
    all_settings,
    ready_variants,
    refuse_without_source,
    whole_settings,
)
from factloop.setup.run_directory import RunDirectory
from factloop.setup.session import Common, Store, common_to
from factloop.setup.settings import CheckSettings
from factloop.setup.sources import Sources
from factloop.tools.calls.together import as_they_come
from factloop.tools.search.given import GivenIndexes

RESPONSES_AT_ONCE, CALLS_AT_ONCE = 32, 64
"""Responses in work at a time; model calls where the settings have no bound. Of claims twice as many as calls are in
work: each makes one call after the other, and those of several variants often wait for the same."""
CELLS, RESULTS, SEARCHES = "cells.jsonl", "results.json", "searches.sqlite"
REPORT = "experiment.json"
"""The comparison that was made of the results, where somebody keeps it with them."""


@dataclass(frozen=True)
class ExperimentStarted:
    """Everything is ready, and so many cells are done already."""

    n_cells: int
    n_done: int


@dataclass(frozen=True)
class CellJudged:
    """One more cell is done."""

    cell: Cell
    spent: Usage
    """What this attempt has really paid so far."""


ExperimentEvent = ExperimentStarted | CellJudged | Results


@dataclass(frozen=True)
class _Task:
    """A cell to be judged."""

    variant: str
    repeat: int
    item: Item

    @property
    def key(self) -> tuple[str, int, str]:
        return self.variant, self.repeat, self.item.run.id


async def astream_experiment(
    plan: ExperimentPlan,
    *,
    run_dir: str | Path | None = None,
    defaults: CheckSettings | None = None,
    limits: Mapping[str, Any] | None = None,
) -> AsyncGenerator[ExperimentEvent, None]:
    """What happens in an experiment: its start, each cell as soon as it is judged, and the results last.

    The plan's settings go over `defaults`, and `limits` over both. All that can be wrong is found before anything is
    spent. `run_dir` makes the experiment resumable: another attempt at the same plan judges what is missing, and what
    failed for a passing reason (budget, timeout, tool failure); it may have more repeats, another baseline, K and other
    limits. The budget holds over all variants, repeats and attempts. The user's cache is not used: a repeat is to be
    another draw from the model.

    With a model or a paid search it costs money. Raises ConfigError, DataError. Whoever stops before the end closes the
    stream (`contextlib.aclosing`).
    """
    started = time.perf_counter()
    data = load_data(plan.data_path)
    settings = all_settings(plan, defaults, limits or {})
    whole = whole_settings(settings)
    ready = await ready_variants(plan, settings)
    refuse_without_source(ready, data)
    async with AsyncExitStack() as stack:
        directory = stack.enter_context(_directory(run_dir))
        if directory is not None:
            directory.claim(_configuration(data, ready))
        answers = _opened(stack, stack.enter_context(_kept_in(directory)), plan.repeats)
        common = _common(whole, answers)
        log = stack.enter_context(CellLog(None if directory is None else directory.path / CELLS))
        tasks = list(_tasks(plan, data))
        waiting = [task for task in tasks if task.key not in log.finished]
        yield ExperimentStarted(len(tasks), len(tasks) - len(waiting))
        if waiting:
            if directory is not None:
                for name in (RESULTS, REPORT):  # until its end this attempt has none
                    (directory.path / name).unlink(missing_ok=True)
            at_once = _at_once(data, whole)
            async with aclosing(_judged(waiting, ready, common, answers, data, at_once)) as judging:
                async for cell in judging:
                    log.append(cell)
                    yield CellJudged(cell, spent_on(answers, time.perf_counter() - started))
        cells = {cell.key: cell for cell in log}
        results = _results(plan, data, ready, [cells[task.key] for task in tasks]).model_copy(
            update={"paid": paid_for(answers, time.perf_counter() - started)}
        )
        if directory is not None:
            write_atomically(directory.path / RESULTS, to_json(results), private=True)
    yield results


async def arun_experiment(
    plan: ExperimentPlan,
    *,
    run_dir: str | Path | None = None,
    on_cell: Callable[[Cell], None] | None = None,
    defaults: CheckSettings | None = None,
    limits: Mapping[str, Any] | None = None,
) -> Results:
    """The results of an experiment, as `astream_experiment` gives them; `on_cell` sees each cell judged."""
    events = astream_experiment(plan, run_dir=run_dir, defaults=defaults, limits=limits)
    async with aclosing(events):
        async for event in events:
            if isinstance(event, Results):
                return event
            if isinstance(event, CellJudged) and on_cell is not None:
                on_cell(event.cell)
    raise AssertionError("an experiment ends with its results")


def _tasks(plan: ExperimentPlan, data: Data) -> Iterator[_Task]:
    """All variants of an item one after the other: what they share is asked once, and soon used up."""
    for repeat in range(1, plan.repeats + 1):
        for item in data.items:
            yield from (_Task(variant, repeat, item) for variant in plan.variants)


async def _judged(
    tasks: Sequence[_Task],
    ready: Sequence[ReadyVariant],
    common: Common,
    answers: Sequence[SharedAnswers],
    data: Data,
    at_once: int,
) -> AsyncGenerator[Cell, None]:
    """The cells as they come, repeat by repeat: what belongs to one is closed before the next."""
    indexes = GivenIndexes(at_once // len(ready) + 1)  # of the claims in work: each takes some 1.6 MB
    searches, *of_repeats = answers
    for repeat, of_repeat in enumerate(of_repeats, 1):
        waiting = [task for task in tasks if task.repeat == repeat]
        if not waiting:
            continue
        async with AsyncExitStack() as stack:
            checkings: dict[str, Checking] = {}
            for one in ready:
                way = "tools" if one.settings.tool_calling else "no tools"
                store = Store(of_repeat.asked_with(way), searches, common)
                checkings[one.name] = open_checking(prepare(one.settings, one.tools), store=store)
                stack.push_async_callback(checkings[one.name].aclose)
            judge = _judge(checkings, indexes, data)
            async with aclosing(as_they_come(waiting, judge, at_once=at_once)) as judging:
                async for cell in judging:
                    yield cell


def _judge(checkings: Mapping[str, Checking], indexes: GivenIndexes, data: Data) -> Callable[[_Task], Awaitable[Cell]]:
    make = claim_cell if data.kind == "claims" else response_cell

    async def judge(task: _Task) -> Cell:
        checking, item = checkings[task.variant], task.item
        sources = None
        if item.document is not None:
            tool = await indexes.of([Document(item.document)])
            sources = Sources(() if tool is None else (tool,))
        elif not checking.setup.tools:
            sources = Sources(())  # nothing to judge by: it is in the results, unscored
        if sources is None:
            refuse_without_documents(checking.setup.settings, checking.setup.tools)
        else:
            checking = checking.over(sources)
        report = await checking.report(Asked(item.run.response, item.run.prompt, item.run.facts, sources=sources))
        return make(task.variant, task.repeat, item, report)

    return judge


def _common(whole: CheckSettings, answers: Sequence[SharedAnswers]) -> Common:
    """The limits of the whole experiment, with what earlier attempts paid already counted."""
    common = common_to(whole)
    for one in answers:
        common.budget.note_earlier(*one.paid_before)
    return common


def _at_once(data: Data, whole: CheckSettings) -> int:
    calls = whole.concurrency or CALLS_AT_ONCE
    return 2 * calls if data.kind == "claims" else min(RESPONSES_AT_ONCE, calls)


def _opened(stack: AsyncExitStack, folder: Path, repeats: int) -> list[SharedAnswers]:
    """The searches, then the answers of each repeat."""
    names = [SEARCHES, *(f"repeat-{number}.sqlite" for number in range(1, repeats + 1))]
    found = []
    for name in names:
        found.append(SharedAnswers(folder / name))
        stack.callback(found[-1].close)
    return found


@contextmanager
def _directory(run_dir: str | Path | None) -> Iterator[RunDirectory | None]:
    if run_dir is None:
        yield None
        return
    with RunDirectory(Path(run_dir)) as directory:
        yield directory


@contextmanager
def _kept_in(directory: RunDirectory | None) -> Iterator[Path]:
    if directory is not None:
        yield directory.path
        return
    with TemporaryDirectory(prefix="factloop-") as temporary:
        yield Path(temporary)


def _configuration(data: Data, ready: Sequence[ReadyVariant]) -> dict[str, Any]:
    """What must not change between the attempts at one experiment."""
    variants = {f"variant {one.name}": one.made_of for one in ready}
    return {"experiment": data.kind, "data": data.digest, **variants}


def _results(plan: ExperimentPlan, data: Data, ready: Sequence[ReadyVariant], cells: Sequence[Cell]) -> Results:
    claims = tuple(claim for cell in cells for claim in cell.claims)
    return Results(
        name=plan.name,
        kind=data.kind,
        data=data.name,
        n_items=len(data.items),
        repeats=plan.repeats,
        baseline=plan.baseline_name,
        variants=described(ready, claims, plan.baseline_name, by_text=data.kind == "responses"),
        k=plan.k,
        claims=claims,
        responses=tuple(cell.response for cell in cells if cell.response is not None),
        paid=paid_for((), 0.0),
    )
