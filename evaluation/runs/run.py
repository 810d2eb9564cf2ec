"""A run over a data set: judges what is not yet judged, and sums up what is.

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
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Literal

from factloop.checking.checker import FactChecker
from factloop.core.files.json import to_json, write_atomically
from factloop.core.records import Fingerprint
from factloop.evaluation.running.log import ReportLog
from factloop.evaluation.running.spool import Spool
from factloop.evaluation.runs.here import AT_ONCE, judge_here
from factloop.evaluation.runs.items import RunItem
from factloop.evaluation.runs.reading import REPORTS, SUMMARY
from factloop.evaluation.runs.records import JudgedResponse, RunSummary
from factloop.evaluation.runs.summary import Scoring, summarise
from factloop.setup.run_directory import RunDirectory
from factloop.tools.calls.meter import UsageMeter

JOURNAL = "journal.sqlite"
Kind = Literal["responses", "factscore"]

Engine = Callable[[Iterable[RunItem], Path | None], AsyncGenerator[JudgedResponse, None]]
"""Judges the items, in whatever order; keeps answers paid for in the folder, where there is one."""


@dataclass(frozen=True)
class RunStarted:
    """The input is whole, and so much of it is already judged."""

    n_responses: int
    n_done: int


RunEvent = RunStarted | JudgedResponse | RunSummary


async def astream_run(
    checker: FactChecker,
    items: Iterable[RunItem],
    *,
    data: str,
    kind: Kind = "responses",
    scoring: Scoring | None = None,
    run_dir: str | Path | None = None,
    limit: int | None = None,
    engine: Engine | None = None,
    correct: Callable[[RunSummary], RunSummary] | None = None,
) -> AsyncGenerator[RunEvent, None]:
    """What happens in a run: its start, each response as soon as it is judged, and the summary last.

    All items are read and checked before anything is spent; memory holds counts of each, and the reports in work only.
    `limit` keeps the first so many. `run_dir` makes the run resumable: another attempt with the same items and
    settings, whatever its `scoring`, `limit` and `engine`, judges what is missing, and what failed for a passing reason
    (budget, timeout, tool failure). Without it answers are kept where the settings of the checker say. `correct` has
    the last word on the summary, before it is kept.

    Usage is that of all attempts, as far as responses were judged in them; a call that two responses share is counted
    twice where an attempt ended between them. Its `wall_s` is the time of this attempt.

    With a model or a paid search it costs money. Raises ConfigError, DataError. Whoever stops before the end closes the
    stream (`contextlib.aclosing`).
    """
    started = time.perf_counter()
    engine = engine or partial(_judge_here, checker)
    with ExitStack() as stack:
        spool = stack.enter_context(Spool(items, limit=limit))
        directory = None
        if run_dir is not None:
            fingerprint = await checker.afingerprint()
            directory = stack.enter_context(RunDirectory(Path(run_dir)))
            directory.claim(_configuration(kind, spool.digest, fingerprint))
        folder = None if directory is None else directory.path
        log = stack.enter_context(ReportLog(None if folder is None else folder / REPORTS))
        wanted = {item.id for item in spool}
        yield RunStarted(spool.n, len(wanted & log.finished))
        if wanted - log.finished:
            if folder is not None:
                (folder / SUMMARY).unlink(missing_ok=True)  # until its end this attempt has none
            waiting = (item for item in spool if item.id not in log.finished)
            async with aclosing(engine(waiting, folder)) as judging:
                async for judged in judging:
                    log.append(judged)
                    yield judged
        reports = (judged for judged in log if judged.id in wanted)
        summary = summarise(
            reports,
            kind=kind,
            data=data,
            account=UsageMeter(),
            scoring=scoring,
            elapsed_s=time.perf_counter() - started,
        )
        summary = summary if correct is None else correct(summary)
        if folder is not None:
            write_atomically(folder / SUMMARY, to_json(summary), private=True)
    yield summary


async def arun(checker: FactChecker, items: Iterable[RunItem], **options: Any) -> RunSummary:
    """The summary of a run; options as of `astream_run`."""
    async with aclosing(astream_run(checker, items, **options)) as events:
        async for event in events:
            if isinstance(event, RunSummary):
                return event
    raise AssertionError("a run ends with its summary")


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
    """Where answers are kept. Never in memory, which would grow with the run."""
    if folder is not None:
        yield folder / JOURNAL
    elif checker.settings.cache and (checker.settings.model is not None or _searches_elsewhere(checker)):
        yield None  # the user's cache
    else:
        with TemporaryDirectory(prefix="factloop-") as temporary:
            yield Path(temporary) / JOURNAL


def _searches_elsewhere(checker: FactChecker) -> bool:
    return any(tool.cacheable for tool in checker.tools)


def _configuration(kind: Kind, digest: str, fingerprint: Fingerprint) -> dict[str, Any]:
    """What must not change between the attempts at one run. Versions may: what is judged stays as it is."""
    kept = fingerprint.model_dump(mode="json", exclude={"versions", "factloop_version", "seed"})
    return {"kind": kind, "data": digest, **kept}
