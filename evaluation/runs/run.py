"""Checks every response of a data set, in this process or on Ray, and summarizes the results.

    async with FactChecker(model="openai:gpt-4o-mini", search="serper") as checker:
        items = response_items(load_responses("responses.jsonl"))
        summary = await arun(checker, items, data="responses.jsonl", run_dir="runs/a")

Starting an interrupted run again resumes it. Judged responses are saved in `reports.jsonl` and individual answers in
the journal, so only calls that were in flight are paid for twice.
"""

from __future__ import annotations

import time
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Iterable, Iterator
from contextlib import AbstractAsyncContextManager, ExitStack, aclosing, asynccontextmanager, contextmanager
from functools import partial
from pathlib import Path
from typing import Any, Literal

from factloop.checking.checker import FactChecker
from factloop.core.errors import ConfigError
from factloop.core.records import FactualityReport, Fingerprint
from factloop.evaluation.datasets.factscore import FactLabel
from factloop.evaluation.running.journals import JOURNAL
from factloop.evaluation.running.log import Log, LogFormat, no_passing_failure
from factloop.evaluation.running.on_ray import judged_on_ray
from factloop.evaluation.running.run import (
    AT_ONCE,
    BATCHED_AT_ONCE,
    Events,
    Judge,
    Run,
    answers_folder,
    claimed_folder,
    summary_of,
)
from factloop.evaluation.runs.items import RunItem, spooled
from factloop.evaluation.runs.reading import REPORTS, SUMMARY, parse_judged
from factloop.evaluation.runs.records import JudgedResponse, RunSummary
from factloop.evaluation.runs.run_claims import RunClaims
from factloop.evaluation.runs.summary import Scoring, summarise
from factloop.setup.session import refuse_unbatched
from factloop.setup.settings import CheckSettings
from factloop.setup.sources import Sources
from factloop.tools.calls.together import as_they_come
from factloop.tools.search.given import GivenIndexes

Kind = Literal["responses", "factscore"]

ReportEngine = Callable[[Iterable[RunItem], Path | None], AsyncGenerator[JudgedResponse, None]]
"""Judges the items and yields them in any order. Stores paid-for answers in the folder, if there is one."""

Debias = Callable[[RunSummary, RunClaims], RunSummary]
"""Adds corrected figures to a summary, after matching the labelled claims with the run's claims."""

REPORT_LOG = LogFormat[JudgedResponse, str](
    name="the reports",
    key=lambda judged: judged.id,
    dump=lambda judged: judged.model_dump_json(ensure_ascii=True).encode() + b"\n",
    parse=parse_judged,
    is_final=lambda judged: no_passing_failure(judged.judgements),
)


async def astream_run(
    checker: FactChecker,
    items: Iterable[RunItem],
    *,
    data: str,
    kind: Kind = "responses",
    scoring: Scoring | None = None,
    run_dir: str | Path | None = None,
    limit: int | None = None,
    engine: ReportEngine | None = None,
    debias: Debias | None = None,
) -> Events[JudgedResponse, RunSummary]:
    """Yields the start of the run, each response as soon as it is judged, and finally the summary.

    All items are read and validated before any money is spent. Memory holds only the counts of each response and the
    reports in progress. `limit` keeps only the first items. `debias` is applied to the summary before it is saved.

    With `run_dir`, an interrupted run can be resumed: a second call with the same items and settings judges only
    responses that are missing or that failed for a temporary reason (budget, timeout, tool failure). `scoring`, `limit`
    and `engine` may change between calls. Without `run_dir`, the checker's settings decide where answers are stored.

    Usage is summed over all attempts, but `wall_s` covers only this one. A call shared by two responses is counted
    twice if an attempt ended between them.

    Costs money if a model or a paid search is used. Raises ConfigError and DataError. A caller that stops early must
    close the stream (`contextlib.aclosing`).
    """
    started = time.perf_counter()
    refuse_unbatched(checker.settings, run_dir)
    if debias is not None and checker.settings.eligibility:  # labels are for claims, not for eligibility
        raise ConfigError("cannot calibrate a run that judges eligibility; omit the labels or `eligibility`")
    judge = engine or partial(_judge_here, checker)

    def summed_up(reports: Iterator[JudgedResponse]) -> RunSummary:
        elapsed_s = time.perf_counter() - started
        sum_up = partial(summarise, kind=kind, data=data, scoring=scoring, elapsed_s=elapsed_s)
        if debias is None:
            return sum_up(reports)
        claims = RunClaims()
        return debias(sum_up(claims.seen(reports)), claims)

    with ExitStack() as stack:
        spool = stack.enter_context(spooled(items, limit=limit))
        fingerprint = await _fingerprint(checker, spool)
        configuration = {"kind": kind, "data": spool.digest, **fingerprint.configuration}
        folder = stack.enter_context(claimed_folder(run_dir, {} if run_dir is None else configuration))
        log = stack.enter_context(Log(None if folder is None else folder / REPORTS, REPORT_LOG))
        run = Run(
            items=spool,
            key=lambda item: item.id,
            log=log,
            engine=lambda waiting: judge(waiting, folder),
            usage=lambda judged: judged.report.usage,
            summarise=summed_up,
            results=() if folder is None else (folder / SUMMARY,),
        )
        async with aclosing(run.stream()) as events:
            async for event in events:
                yield event


async def arun(checker: FactChecker, items: Iterable[RunItem], **options: Any) -> RunSummary:
    """Completes a run and returns its summary. Accepts the options of `astream_run`."""
    return await summary_of(astream_run(checker, items, **options))


async def _judge_here(
    checker: FactChecker, items: Iterable[RunItem], folder: Path | None
) -> AsyncGenerator[JudgedResponse, None]:
    at_once = _at_once(checker)
    with _journal(checker, folder) as journal:
        async with (
            open_judge(checker, journal=journal) as judge,
            aclosing(as_they_come(items, judge, at_once=at_once)) as judging,
        ):
            async for judged in judging:
                yield judged


def _at_once(checker: FactChecker) -> int:
    settings = checker.settings
    return BATCHED_AT_ONCE if settings.batch else min(AT_ONCE, settings.concurrency or AT_ONCE)


@contextmanager
def _journal(checker: FactChecker, folder: Path | None) -> Iterator[Path | None]:
    settings = checker.settings
    asks = checker.has_model or any(tool.cacheable for tool in checker.tools)
    if folder is None and settings.cache and asks:
        yield None
        return
    with answers_folder(folder) as kept:
        yield kept / JOURNAL


async def _fingerprint(checker: FactChecker, items: Iterable[RunItem]) -> Fingerprint:
    bare, n_given = None, 0
    for item in items:
        n_given += item.documents is not None
        bare = item.id if bare is None and item.documents is None else bare
    try:
        return await checker.afingerprint(alone=bare is not None)
    except ConfigError as error:
        if n_given and not checker.has_sources:
            raise ConfigError(f"the response {bare!r} has no documents: {error}") from error
        raise


async def sources_of(item: RunItem, indexes: GivenIndexes) -> Sources | None:
    """Returns the item's documents as the only sources, or None if it has none. Evidence from an earlier run replaces a
    search, so claims can be judged irrelevant, as after a search."""
    if item.documents is None:
        return None
    tool = await indexes.of([one.as_document() for one in item.documents])
    return Sources(() if tool is None else (tool,), "factuality" if item.is_evidence and tool else "faithfulness")


@asynccontextmanager
async def open_judge(
    checker: FactChecker, *, journal: Path | None = None
) -> AsyncIterator[Judge[RunItem, JudgedResponse]]:
    """Opens a judge for concurrent use. Paid-for answers are saved in `journal` and reused."""
    indexes = GivenIndexes(_at_once(checker))
    async with checker.opened(journal=journal, alone=False) as check:

        async def judge(item: RunItem) -> JudgedResponse:
            sources = await sources_of(item, indexes)
            report = await check(item.response, item.prompt, item.facts, sources=sources)
            return JudgedResponse(
                id=item.id, system=item.system, prompt_id=item.prompt_id, report=report, labels=_labels(item, report)
            )

        yield judge


def judge_on_ray(
    settings: CheckSettings,
    items: Iterable[RunItem],
    *,
    directory: Path | None,
    workers: int,
    address: str | None = None,
) -> AsyncGenerator[JudgedResponse, None]:
    if settings.batch:
        raise ConfigError("--batch and --workers cannot be combined; omit --workers, which a batch does not need")
    return judged_on_ray(
        items,
        open_judge_with,
        settings,
        describe=lambda item: f"the response {item.id!r}",
        directory=directory,
        workers=workers,
        address=address,
    )


def open_judge_with(
    settings: CheckSettings, journal: Path | None
) -> AbstractAsyncContextManager[Judge[RunItem, JudgedResponse]]:
    return open_judge(FactChecker(settings=settings), journal=journal)


def _labels(item: RunItem, report: FactualityReport) -> dict[str, FactLabel]:
    labels = [label for of_sentence in item.labels for label in of_sentence]
    return {claim.id: label for claim, label in zip(report.claims, labels, strict=True)} if labels else {}
