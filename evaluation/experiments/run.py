"""Runs an experiment: every variant judges every item in every repeat.

results = await arun_experiment(load_plan("plan.yaml"), run_dir="runs/strict")

The run directory contains the finished cells (`cells.jsonl`), the model's answers for each repeat (`repeat-1.sqlite`,
...), all searches (`searches.sqlite`) and, at the end, the results (`results.json`). A killed run can be resumed, and
loses only the calls in progress.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import time
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AsyncExitStack, ExitStack, aclosing, contextmanager
from dataclasses import dataclass
from functools import partial
from itertools import groupby
from pathlib import Path
from shutil import copytree
from typing import Any

from factloop.checking.cascade.stage import refuse_without_documents
from factloop.checking.check import Checking, CheckRequest, open_checking
from factloop.checking.preparing import prepare
from factloop.core.errors import ConfigError
from factloop.core.records import FactualityReport, Usage
from factloop.evaluation.experiments.answers import SharedAnswers, paid_for, spent_on
from factloop.evaluation.experiments.cells import CELL_LOG, Cell, CellKey, cell_of
from factloop.evaluation.experiments.items import Data, Item
from factloop.evaluation.experiments.plan import ExperimentPlan
from factloop.evaluation.experiments.records import Results
from factloop.evaluation.experiments.splitting import split_quality, splits_of
from factloop.evaluation.experiments.variants import (
    ReadyVariant,
    all_settings,
    describe_variants,
    ready_variants,
    whole_settings,
)
from factloop.evaluation.running.log import Log
from factloop.evaluation.running.run import (
    AT_ONCE,
    BATCHED_AT_ONCE,
    Events,
    Increments,
    Judge,
    Run,
    answers_folder,
    claimed_folder,
    summary_of,
)
from factloop.evaluation.runs.run import sources_of
from factloop.reports.figures import plural
from factloop.setup.chat_model import build_model
from factloop.setup.session import Common, Store, common_to, refuse_unbatched
from factloop.setup.settings import CheckSettings
from factloop.setup.sources import Sources
from factloop.tools.calls.budget import Budget
from factloop.tools.calls.meter import UsageMeter
from factloop.tools.calls.together import as_they_come
from factloop.tools.judges.base import Verifier
from factloop.tools.judges.build import BASELINE, CallingKind, build_judge, parse_spec
from factloop.tools.models.gateway import ModelGateway
from factloop.tools.search.given import GivenIndexes

CALLS_AT_ONCE = 64
"""Maximum number of concurrent model calls by default. Twice as many claims are in progress, because claims of several
variants often wait for the same call."""
CELLS, RESULTS, SEARCHES = "cells.jsonl", "results.json", "searches.sqlite"
PROPOSALS = "proposals.sqlite"
"""The answers of the model that proposed prompts. The limits apply to these as well."""
REPORT = "experiment.json"


CALLS_OF_ITEM = 3
"""Assumed maximum number of calls per item, until some item has made more."""


@dataclass(frozen=True)
class _Task:
    key: CellKey
    item: Item


async def astream_experiment(
    plan: ExperimentPlan,
    *,
    data: Data | None = None,
    run_dir: str | Path | None = None,
    defaults: CheckSettings | None = None,
    limits: Mapping[str, Any] | None = None,
) -> Events[Cell, Results]:
    """Yields the start of an experiment, each cell once it is judged, and finally the results.

    If `data` is set, it is judged instead of the development part. The plan's settings override `defaults`, and
    `limits` override both. Everything is validated before any money is spent.

    With `run_dir`, an experiment can be resumed, and judges only items that are missing or that failed for a temporary
    reason (budget, timeout, tool failure). Variants, prompts, claims, repeats and limits may change between attempts.
    Answers are stored by request, so only changed requests cost money. The budget covers all variants, repeats and
    attempts in the folder. Once it is used up, an experiment with unjudged items cannot be resumed. The user's cache is
    not used, because each repeat must be a new draw from the model.

    Costs money if a model or a paid search is used. Raises ConfigError or DataError. A caller that stops early must
    close the stream (`contextlib.aclosing`).
    """
    started = time.perf_counter()
    data = data or plan.load()
    settings = all_settings(plan, defaults, limits or {})
    whole = whole_settings(settings)
    ready = await ready_variants(plan, settings, data)
    for one in settings.values():
        refuse_unbatched(one, run_dir)
    with ExitStack() as stack:
        folder = stack.enter_context(claimed_folder(run_dir, {"experiment": data.kind}))
        answers = _open_answers(stack, stack.enter_context(answers_folder(folder)), plan.repeats)
        log = stack.enter_context(Log(None if folder is None else folder / CELLS, CELL_LOG))
        tasks = tuple(_tasks(plan, data, ready))
        if any(task.key not in log.finished for task in tasks):
            _refuse_spent_limits(whole, answers, folder)
        engine = partial(
            _judge_tasks,
            ready=ready,
            common=_shared_limits(whole, answers, folder),
            answers=answers,
            data=data,
            plan=plan,
            at_once=_at_once(data, whole),
        )
        run = Run(
            items=tasks,
            key=lambda task: task.key,
            log=log,
            engine=engine,
            usage=Increments(lambda: spent_on(answers, time.perf_counter() - started)),
            summarise=lambda cells: _results(
                plan, data, ready, tuple(cells), paid_for(answers, time.perf_counter() - started)
            ),
            results=() if folder is None else (folder / RESULTS, folder / REPORT),
        )
        async with aclosing(run.stream()) as events:
            async for event in events:
                yield event


async def judged_before(
    plan: ExperimentPlan, data: Data, settings: Mapping[str, CheckSettings], run_dir: Path | None
) -> list[Cell]:
    """Returns the cells that stored answers provide, at least up to the first missing answer.

    Nothing is requested, downloaded or written: the run directory is copied, because opening its files may change them.
    Only the judgements of chat models are repeated, which takes time. Raises OSError and anything that
    `astream_experiment` raises.
    """
    if run_dir is None or not (run_dir / CELLS).exists():
        return []
    asking = {name for name, one in settings.items() if one.model or (one.judge and parse_spec(one.judge).calls)}
    settings = {  # settings that require a download cannot be prepared
        name: one.model_copy(update={"allow_download": False})
        for name, one in settings.items()
        if name in asking or not one.allow_download
    }
    if not settings:
        return []
    changes: dict[str, Any] = {"variants": {name: plan.variants[name] for name in settings}}
    if plan.baseline_name not in settings:
        changes["baseline"] = None
    plan = plan.model_copy(update=changes)
    ready = await ready_variants(plan, settings, data)
    measured = plan.splitting is not None and parse_spec(plan.splitting).calls is not None
    unlimited = whole_settings(settings).model_copy(update={"max_calls": None, "budget_usd": None})
    with ExitStack() as stack:
        stack.enter_context(claimed_folder(run_dir, {"experiment": data.kind}))
        folder = copytree(run_dir, stack.enter_context(answers_folder(None)), dirs_exist_ok=True)
        answers = [one.asking_nothing() for one in _open_answers(stack, folder, plan.repeats)]
        log = stack.enter_context(Log(folder / CELLS, CELL_LOG))
        tasks = tuple(_tasks(plan, data, ready))
        judging = _judge_tasks(
            (task for task in tasks if task.key[0] in asking and task.key not in log.finished),
            ready=ready,
            common=common_to(unlimited, folder),
            answers=answers,
            data=data,
            plan=plan if measured else plan.model_copy(update={"splitting": None}),
            at_once=_at_once(data, unlimited),
        )
        async with aclosing(judging):
            return [*log.records(task.key for task in tasks), *[cell async for cell in judging]]


async def arun_experiment(plan: ExperimentPlan, **options: Any) -> Results:
    """Runs an experiment and returns its results. Accepts the options of `astream_experiment`."""
    return await summary_of(astream_experiment(plan, **options))


def n_judged_in(folder: Path | None, data: Data) -> int:
    """Counts the items with a cell in the run directory. Raises anything that `Log` or `claimed_folder` raises."""
    if folder is None or not (folder / CELLS).exists():
        return 0
    with claimed_folder(folder, {"experiment": data.kind}), Log(folder / CELLS, CELL_LOG) as log:
        return len({item for _, _, item, _ in log.finished} & {one.run.id for one in data.items})


def _tasks(plan: ExperimentPlan, data: Data, ready: Sequence[ReadyVariant]) -> Iterator[_Task]:
    """Yields all variants of an item one after another, so that shared answers are soon used."""
    shaped = {one.name: json.dumps(one.made_of, sort_keys=True) for one in ready}
    for repeat in range(1, plan.repeats + 1):
        for item in data.items:
            for variant in plan.variants:
                digest = hashlib.sha256(
                    f"{item!r}{shaped[variant]}{plan.splitting or ''}".encode("utf-8", "surrogatepass")
                ).hexdigest()
                yield _Task((variant, repeat, item.run.id, digest[:16]), item)


async def _judge_tasks(
    tasks: Iterable[_Task],
    *,
    ready: Sequence[ReadyVariant],
    common: Common,
    answers: Sequence[SharedAnswers],
    data: Data,
    plan: ExperimentPlan,
    at_once: int,
) -> AsyncGenerator[Cell, None]:
    """Yields the cells as they arrive, repeat by repeat. Each repeat's resources are closed before the next starts."""
    begun = _Begun(Budget() if ready[0].settings.batch else common.budget)  # batches wait for all items
    indexes = GivenIndexes(at_once // len(ready) + 1)  # each claim in progress takes about 1.6 MB
    searches, *of_repeats = answers
    for repeat, waiting in groupby(tasks, lambda task: task.key[1]):
        async with AsyncExitStack() as stack:
            checkings: dict[str, Checking] = {}
            for one in ready:
                way = "tools" if one.settings.tool_calling else "no tools"
                store = Store(of_repeats[repeat - 1].asked_with(way), searches, common, scope=f"{repeat} {way}")
                checkings[one.name] = open_checking(prepare(one.settings, one.tools), store=store)
                stack.push_async_callback(checkings[one.name].aclose)
            verifier = _split_judge(plan, checkings[plan.baseline_name], stack) if data.kind == "responses" else None
            judge = _judge(checkings, indexes, data, verifier, begun)
            async with aclosing(as_they_come(waiting, judge, at_once=at_once)) as judging:
                async for cell in judging:
                    yield cell


class _Begun:
    """Limits the items in progress to as many as the budget covers, because interrupted items waste money. Items start
    in order of arrival, so that the variants of a claim share the first variant's answers."""

    def __init__(self, budget: Budget) -> None:
        self._budget, self._n, self._calls_each = budget, 0, CALLS_OF_ITEM
        self._turn, self._ended = asyncio.Lock(), asyncio.Event()

    async def judged(self, judging: Callable[[], Awaitable[FactualityReport]]) -> FactualityReport:
        """Waits until the budget covers another item, or none is in progress."""
        async with self._turn:
            while self._n and not self._budget.lasts_for(self._calls_each * (self._n + 1)):
                self._ended.clear()
                await self._ended.wait()
            self._n += 1
        try:
            report = await judging()
        finally:
            self._n -= 1
            self._ended.set()
        self._calls_each = max(self._calls_each, report.usage.calls)
        return report


def _split_judge(plan: ExperimentPlan, checking: Checking, stack: AsyncExitStack) -> Verifier | None:
    """Returns the judge, if any, that measures how variants split. A model is called in the baseline's session."""
    if plan.splitting is None:
        return None
    spec, settings = parse_spec(plan.splitting), checking.setup.settings
    if spec.kind == BASELINE:
        from factloop.tools.judges.baseline import Baseline

        return Baseline()

    def gateway(_: CallingKind, name: str) -> ModelGateway:
        chat = build_model(settings, name, base_url=settings.base_url, temperature=0.0)
        stack.push_async_callback(chat.aclose)
        return checking.session.model(chat)

    prompts = checking.session.prompts
    return build_judge(spec, open_gateway=gateway, prompts=prompts, allow_download=settings.allow_download)


def _judge(
    checkings: Mapping[str, Checking], indexes: GivenIndexes, data: Data, verifier: Verifier | None, begun: _Begun
) -> Judge[_Task, Cell]:
    async def report_on(task: _Task) -> FactualityReport:
        checking, run = checkings[task.key[0]], task.item.run
        sources = await sources_of(run, indexes)
        if sources is None and not checking.setup.tools:
            sources = Sources(())  # without anything to judge against, the claim becomes unscored
        if sources is None:
            refuse_without_documents(checking.setup.settings, checking.setup.tools)
        else:
            checking = checking.over(sources)
        return await checking.report(CheckRequest(run.response, run.prompt, run.facts, sources=sources))

    async def judge(task: _Task) -> Cell:
        try:
            report = await begun.judged(partial(report_on, task))
        except ConfigError as error:
            if type(error) is ConfigError:  # for example, the server does not have the model
                raise ConfigError(f"variant {task.key[0]!r}: {error}") from error
            raise
        quality = None
        if verifier is not None:
            quality = await split_quality(list(splits_of(report)), verifier, meter=UsageMeter())
        return cell_of(task.key, task.item, report, is_claim=data.kind == "claims", quality=quality)

    return judge


def _refuse_spent_limits(whole: CheckSettings, answers: Sequence[SharedAnswers], folder: Path | None) -> None:
    """Raises ConfigError if earlier attempts, including those with other variants, have used up the limits."""
    calls, usd = (sum(paid) for paid in zip(*(one.paid_before for one in answers), strict=True))
    limits = {"max_calls": (calls, whole.max_calls), "budget_usd": (usd, whole.budget_usd)}
    reached = [f"{name} = {most:g}" for name, (spent, most) in limits.items() if most is not None and spent >= most > 0]
    if reached:
        raise ConfigError(
            f"{folder}: earlier attempts used {plural(int(calls), 'model call')} and {usd:.4g} USD, reaching "
            f"{' and '.join(reached)}; raise the limit, or use another run directory"
        )


def _shared_limits(whole: CheckSettings, answers: Sequence[SharedAnswers], folder: Path | None) -> Common:
    common = common_to(whole, folder)
    for one in answers:
        common.budget.note_earlier(*one.paid_before)
    return common


def _at_once(data: Data, whole: CheckSettings) -> int:
    if whole.batch:
        return BATCHED_AT_ONCE
    calls = whole.concurrency or CALLS_AT_ONCE
    return 2 * calls if data.kind == "claims" else min(AT_ONCE, calls)


def _open_answers(stack: ExitStack, folder: Path, repeats: int) -> list[SharedAnswers]:
    """Opens the searches, the answers of each repeat and then the proposals, if there are any."""
    names = [SEARCHES, *(f"repeat-{number}.sqlite" for number in range(1, repeats + 1))]
    names += [PROPOSALS] if (folder / PROPOSALS).exists() else []
    found = []
    for name in names:
        found.append(SharedAnswers(folder / name))
        stack.callback(found[-1].close)
    return found


@contextmanager
def proposal_store(run_dir: Path, whole: CheckSettings, repeats: int) -> Iterator[Store]:
    """Opens the store for a model that proposes prompts. The folder's limits apply."""
    with ExitStack() as stack:
        stack.enter_context(claimed_folder(run_dir, {"experiment": "claims"}))
        (run_dir / PROPOSALS).touch()
        answers = _open_answers(stack, run_dir, repeats)
        yield Store(answers[-1], answers[0], _shared_limits(whole, answers, run_dir))


def _results(
    plan: ExperimentPlan, data: Data, ready: Sequence[ReadyVariant], cells: Sequence[Cell], paid: Usage
) -> Results:
    claims = tuple(claim for cell in cells for claim in cell.claims)
    return Results(
        name=plan.name, kind=data.kind, data=data.name, n_items=len(data.items), repeats=plan.repeats,
        baseline=plan.baseline_name,
        variants=describe_variants(ready, claims, plan.baseline_name, by_text=data.kind == "responses"),
        k=plan.k, claims=claims,
        responses=tuple(cell.response for cell in cells if cell.response is not None), paid=paid,
    )  # fmt: skip
