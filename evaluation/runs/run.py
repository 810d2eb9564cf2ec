"""A run over a data set: judges what is still missing, and sums up the whole.

    async with FactChecker(model="openai:gpt-4o-mini", search="serper") as checker:
        items = response_items(load_responses("responses.jsonl"))
        summary = await arun(checker, items, data="responses.jsonl", run_dir="runs/a")

A killed run goes on when it is started again: what it judged is in `reports.jsonl`, and answers to single calls are in
the journal, so that at most the calls in flight are paid for twice.
"""

from __future__ import annotations

import time
from collections.abc import AsyncGenerator, Callable, Iterable, Iterator
from contextlib import ExitStack, aclosing, contextmanager
from functools import partial
from pathlib import Path
from typing import Any, Literal

from factloop.checking.checker import FactChecker
from factloop.core.errors import ConfigError
from factloop.core.records import Fingerprint
from factloop.evaluation.running.folders import answers_folder, claimed_folder
from factloop.evaluation.running.journals import JOURNAL
from factloop.evaluation.running.log import Log, LogFormat, no_passing_failure
from factloop.evaluation.running.run import AT_ONCE, Events, Run, summary_of
from factloop.evaluation.runs.items import RunItem, spooled
from factloop.evaluation.runs.judge import judge_here
from factloop.evaluation.runs.reading import REPORTS, SUMMARY, parse_judged
from factloop.evaluation.runs.records import JudgedResponse, RunSummary
from factloop.evaluation.runs.run_claims import RunClaims
from factloop.evaluation.runs.summary import Scoring, summarise

Kind = Literal["responses", "factscore"]

ReportEngine = Callable[[Iterable[RunItem], Path | None], AsyncGenerator[JudgedResponse, None]]
"""Judges the items, in any order; keeps answers paid for in the folder, where there is one."""

Debias = Callable[[RunSummary, RunClaims], RunSummary]
"""Adds debiased figures to a summary, by labelled claims that it holds against the run's."""

REPORT_LOG = LogFormat[JudgedResponse, str](
    name="the reports",
    key=lambda judged: judged.id,
    dump=lambda judged: judged.model_dump_json(ensure_ascii=True).encode() + b"\n",
    parse=parse_judged,
    is_final=lambda judged: no_passing_failure(claim.judgement for claim in judged.report.claims),
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
    """Yields the events of a run: its start, each response as soon as it is judged, and the summary last.

    All items are read and checked before anything is spent; memory holds counts of each, and the reports in work only.
    `limit` keeps the first so many. `run_dir` makes the run resumable: another attempt with the same items and
    settings, with any `scoring`, `limit` and `engine`, judges what is missing, and what failed for a passing reason
    (budget, timeout, tool failure). Without it answers are kept where the settings of the checker say. `debias` has
    the last word on the summary, before it is kept; for it a few bytes of each claim are held, too.

    Usage is that of all attempts, as far as responses were judged in them; a call that two responses share is counted
    twice where an attempt ended between them. Its `wall_s` is the time of this attempt.

    With a model or a paid search it costs money. Raises ConfigError, DataError. A caller that stops before the end
    closes the stream (`contextlib.aclosing`).
    """
    started = time.perf_counter()
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
        configuration = {} if run_dir is None else _configuration(kind, spool.digest, fingerprint)
        folder = stack.enter_context(claimed_folder(run_dir, configuration))
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
    """The summary of a run; options as of `astream_run`."""
    return await summary_of(astream_run(checker, items, **options))


async def _judge_here(
    checker: FactChecker, items: Iterable[RunItem], folder: Path | None
) -> AsyncGenerator[JudgedResponse, None]:
    at_once = min(AT_ONCE, checker.settings.concurrency or AT_ONCE)
    with _journal(checker, folder) as journal:
        async with aclosing(judge_here(checker, items, journal=journal, at_once=at_once)) as judging:
            async for judged in judging:
                yield judged


@contextmanager
def _journal(checker: FactChecker, folder: Path | None) -> Iterator[Path | None]:
    """The journal for answers; None for the user's cache."""
    settings = checker.settings
    asks = settings.model is not None or any(tool.cacheable for tool in checker.tools)
    if folder is None and settings.cache and asks:
        yield None
        return
    with answers_folder(folder) as kept:
        yield kept / JOURNAL


async def _fingerprint(checker: FactChecker, items: Iterable[RunItem]) -> Fingerprint:
    """The fingerprint of the checker. Raises ConfigError where a model has nothing to judge some item by."""
    bare, n_given = None, 0
    for item in items:
        n_given += item.documents is not None
        bare = item.id if bare is None and item.documents is None else bare
    try:
        return await checker.afingerprint(alone=bare is not None)
    except ConfigError as error:
        if n_given and not checker.has_sources:
            raise ConfigError(f"the response {bare!r} comes without documents: {error}") from error
        raise


def _configuration(kind: Kind, digest: str, fingerprint: Fingerprint) -> dict[str, Any]:
    """The configuration, which must not change between the attempts at one run."""
    return {"kind": kind, "data": digest, **fingerprint.configuration}
