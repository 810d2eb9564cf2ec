"""Runs each kind of job with the checker, the scorer or the audit, just like the Python API and the commands."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from contextlib import aclosing, contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from factloop.agents.trustscore.records import LongFormTrustReport, TrustReport
from factloop.checking.checker import FactChecker
from factloop.core.events import CheckFinished, ClaimFound, ClaimJudged, Event, ServerWait
from factloop.core.factuality import at_each_k, counted_claims, n_contradicted
from factloop.core.files.json import to_json
from factloop.core.records import FactualityReport, Record
from factloop.entrance.asks import RequestModel
from factloop.entrance.documents import RegisteredDocuments, open_documents, state_of
from factloop.entrance.work_loop import WorkLoop
from factloop.service.errors import invalid
from factloop.service.shapes import (
    CheckAsk,
    CheckEnded,
    CheckSummary,
    Documents,
    DocumentsInfo,
    Kind,
    LongFormAsk,
    LongFormSummary,
    Progress,
    Summary,
    TrustAsk,
    TrustSummary,
)
from factloop.service.spending import Cost
from factloop.setup.limits import Limits
from factloop.setup.settings import CheckSettings
from factloop.setup.sources import SourceMode, Sources
from factloop.tools.calls.limiter import CALLER
from factloop.tools.calls.meter import UsageMeter
from factloop.tools.models.chat import ChatModel
from factloop.tools.search.base import SearchTool
from factloop.tools.search.given import GivenIndexes
from factloop.trust.long_form import acheck_and_score
from factloop.trust.scorer import TrustScorer
from factloop.trust.settings import TrustSettings

ASKS: dict[Kind, type[RequestModel]] = {"check": CheckAsk, "trust": TrustAsk, "long_form": LongFormAsk}
WAITING_TOLD_EVERY_S = 5.0
BEGUN_ANEW = (
    "this job was restarted after its service stopped; the cost does not include answers that were paid for before that"
)
LOOK_AT_FILES_EVERY_S = 60.0
Reported = FactualityReport | TrustReport | LongFormTrustReport

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class JobOutcome:
    report: Record
    result: str
    summary: Summary


@dataclass(frozen=True)
class JobListener:
    event: Callable[[Record, str], object]
    progress: Callable[[Progress], object]

    def within(self, loop: asyncio.AbstractEventLoop) -> JobListener:
        """A listener that may be called from any thread and calls this one in the given loop."""
        return JobListener(
            lambda record, type: loop.call_soon_threadsafe(self.event, record, type),
            lambda progress: loop.call_soon_threadsafe(self.progress, progress),
        )


class Library:
    """The documents registered by the operator, and the indexes of documents that callers have sent recently."""

    def __init__(
        self, registered: Mapping[str, RegisteredDocuments], states: dict[str, Hashable] | None = None
    ) -> None:
        self.registered, self._states = registered, states or {}
        self._indexes = GivenIndexes()

    @property
    def info(self) -> tuple[DocumentsInfo, ...]:
        return tuple(
            DocumentsInfo(name=name, title=name.replace("_", " ").replace("-", " "), n_files=tool.n_files)
            for name, tool in self.registered.items()
        )

    def refuse_unknown(self, documents: Documents | None) -> None:
        """Raises RequestRefusal if no documents have this name."""
        if isinstance(documents, str) and documents not in self.registered:
            known = ", ".join(self.registered) or "none"
            raise invalid(f"there are no documents with this name; the registered names are: {known}", "documents")

    async def watch(self) -> None:
        """Logs changes to registered files, which are read only at startup."""
        while self._states:
            await asyncio.sleep(LOOK_AT_FILES_EVERY_S)
            for place, before in self._states.items():
                self._states[place] = await asyncio.to_thread(state_of, place)
                if self._states[place] != before:
                    log.warning("documents in %s have changed; restart the service to read them again", place)

    async def tool(self, documents: Documents) -> SearchTool | None:
        """None if the caller's documents contain no text."""
        if isinstance(documents, str):
            return self.registered[documents]
        return await self._indexes.of([one.as_document() for one in documents])


async def open_library(documents: Mapping[str, Sequence[str]], settings: CheckSettings) -> Library:
    """Reads and indexes the registered documents in a thread. Raises ConfigError or DataError."""
    states = {place: await asyncio.to_thread(state_of, place) for paths in documents.values() for place in paths}
    opened = {name: await asyncio.to_thread(open_documents, name, paths, settings) for name, paths in documents.items()}
    for warning in (one for tool in opened.values() for one in tool.warnings):
        log.warning("%s", warning)
    return Library(opened, states)


class Work:
    """The checker and scorer that all jobs share, and the event loop that they run in."""

    def __init__(
        self,
        checker: FactChecker,
        scorer: TrustScorer,
        library: Library,
        chat: ChatModel | None = None,
        loop: WorkLoop | None = None,
        share: Callable[[str], Cost] = lambda _: Cost(),
    ) -> None:
        """Closing this also closes the checker, the scorer and `chat`. `share` returns what an owner's job may cost."""
        self.checker, self.scorer, self.library, self._chat = checker, scorer, library, chat
        self._loop, self._share = loop or WorkLoop(), share

    async def do(
        self,
        kind: Kind,
        request: str,
        folder: Path,
        watching: JobListener,
        *,
        owner: str = "",
        begun_anew: bool = False,
    ) -> JobOutcome:
        """Does the work and saves every paid answer in the folder. Raises FactloopError. With `begun_anew`, the report
        says that an earlier attempt was also paid for."""
        CALLER.set(owner)
        watching = watching.within(asyncio.get_running_loop())
        return await self._loop.do(lambda: self._done(kind, request, folder, watching, owner, begun_anew=begun_anew))

    @property
    def asks_others(self) -> bool:
        """Whether jobs may cost money for model calls or searches."""
        return bool(self._chat or self.scorer.settings.subject_model or self.checker.settings.search)

    async def awarm_up(self) -> None:
        """Imports and loads everything that a first job needs."""
        await self._loop.do(self.checker.awarm_up)

    async def _done(
        self, kind: Kind, request: str, folder: Path, watching: JobListener, owner: str, *, begun_anew: bool
    ) -> JobOutcome:
        if kind == "audit":
            from factloop.service.evaluation import audit

            return JobOutcome(*await audit(request.encode(), folder))
        ask = ASKS[kind].model_validate_json(request)
        report = await self._report(ask, folder, watching, owner)
        limits = getattr(ask, "limits", None)
        cut = () if limits is None else limits.cut_to(self.most_for(owner))
        report = report.model_copy(update={"warnings": (*report.warnings, *(BEGUN_ANEW,) * begun_anew, *cut)})
        summary = summary_of(report)
        if isinstance(summary, CheckSummary):
            watching.event(CheckEnded(summary=summary), "check_finished")
        return JobOutcome(report, await asyncio.to_thread(to_json, report), summary)

    def most_for(self, owner: str) -> Limits:
        """The service's limits for each of the owner's checks."""
        return Limits.of_lone_check(self.checker.settings).within(self._limits(owner))

    def limits_of(self, ask: RequestModel, owner: str) -> Limits | None:
        """The stricter of the caller's and the service's limits, or None if there is no check."""
        return self.most_for(owner).within(ask.limits) if isinstance(ask, CheckAsk | LongFormAsk) else None

    def _limits(self, owner: str, asked: Limits | None = None) -> Limits | None:
        share = self._share(owner)
        return Limits(max_calls=share.calls, budget_usd=share.usd).within(asked) if share.is_limited else asked

    def _trust_settings(self, owner: str) -> TrustSettings:
        settings, share = self.scorer.settings, self._share(owner)
        most = Cost(settings.budget_usd, settings.max_calls).within(share)
        return settings.model_copy(update={"budget_usd": most.usd, "max_calls": most.calls})

    def share_pace(self, n_services: int) -> None:
        """Divides the rate limit on model calls among all running services."""
        for one in {self.checker.pace, self.scorer.pace}:
            self._loop.call(partial(one.share, n_services))

    async def drain(self, within_s: float) -> None:
        """Starts no new calls, and waits at most this long for calls in progress, so that their cost is recorded."""

        async def drained() -> None:
            with suppress(TimeoutError):
                async with asyncio.timeout(within_s):
                    for one in {self.checker.pace, self.scorer.pace}:
                        await one.drain()

        await self._loop.do(drained)

    async def aclose(self) -> None:
        await self._loop.do(self._close)
        await self._loop.aclose()

    async def _close(self) -> None:
        await self.checker.aclose()
        await self.scorer.aclose()
        if self._chat is not None:
            await self._chat.aclose()

    async def _report(self, ask: RequestModel, folder: Path, watching: JobListener, owner: str) -> Reported:
        match ask:
            case CheckAsk():
                report = await self._factuality(ask, folder, watching, owner)
                return report if ask.k is None else report.model_copy(update={"at_k": at_each_k(report.counts, ask.k)})
            case TrustAsk():
                sources = await self._sources(ask.documents)
                corpus = self.scorer.corpus or ()
                scorer = TrustScorer(settings=self._trust_settings(owner), corpus=corpus, pace=self.scorer.pace)
                with _told_cost(watching, Progress) as meter:
                    return await scorer.ascore(
                        ask.question, ask.response, sources=sources, run_dir=folder / "trust", meter=meter
                    )
            case LongFormAsk():
                return await self._long_form(ask, folder, watching, owner)
        raise AssertionError(f"{type(ask).__name__} does not request any work")

    async def _long_form(
        self, ask: LongFormAsk, folder: Path, watching: JobListener, owner: str
    ) -> LongFormTrustReport:
        mode: SourceMode = "factuality" if ask.documents is None else "faithfulness"
        check = CheckAsk(mode=mode, **{name: getattr(ask, name) for name in LongFormAsk.model_fields})
        last = Progress()

        def noted(progress: Progress) -> None:
            nonlocal last
            last = progress
            watching.progress(progress)

        async def checked() -> FactualityReport:
            factuality = await self._factuality(check, folder, JobListener(watching.event, noted), owner)
            noted(last.model_copy(update={"usage": factuality.usage}))
            return factuality

        with _told_cost(watching, lambda: last) as meter:
            return await acheck_and_score(
                checked,
                settings=self._trust_settings(owner),
                pace=self.scorer.pace,
                meter=meter,
                run_dir=folder / "trust",
            )

    async def _factuality(self, ask: CheckAsk, folder: Path, watching: JobListener, owner: str) -> FactualityReport:
        progress, meter, begun = Progress(), UsageMeter(), time.perf_counter()
        told_s = -float("inf")
        events = self.checker.astream(
            ask.response,
            ask.question,
            sources=await self._sources(ask.documents, ask.mode),
            limits=self._limits(owner, ask.limits),
            run_dir=folder / "check",
            meter=meter,
        )
        try:
            async with aclosing(events):
                async for event in events:
                    if isinstance(event, CheckFinished):
                        return event.report
                    if isinstance(event, ServerWait):
                        if abs(event.waited_s - told_s) < WAITING_TOLD_EVERY_S:
                            continue  # published events are saved
                        told_s = event.waited_s
                    progress = _further(progress, event)
                    watching.progress(progress)
                    watching.event(event, event.type)
        finally:  # a check that is stopped or fails also costs money
            usage = meter.snapshot(time.perf_counter() - begun)
            watching.progress(progress.model_copy(update={"usage": usage, **_earlier(meter)}))
        raise AssertionError("the check ended without a report")

    async def _sources(self, documents: Documents | None, mode: SourceMode = "faithfulness") -> Sources | None:
        if documents is None:
            return None
        tool = await self.library.tool(documents)
        name = documents if isinstance(documents, str) else None
        return Sources(() if tool is None else (tool,), mode, registered_as=name)


@contextmanager
def _told_cost(watching: JobListener, reached: Callable[[], Progress]) -> Iterator[UsageMeter]:
    """Yields a meter. At the end, even if the job is stopped, reports its total plus the cost in `reached()`."""
    meter, begun = UsageMeter(), time.perf_counter()
    try:
        yield meter
    finally:
        whole, elapsed_s, last = UsageMeter(), time.perf_counter() - begun, reached()
        if last.usage is not None:
            whole.add(last.usage)
        whole.add(meter.snapshot(elapsed_s))
        whole.note_earlier(last.earlier_calls + meter.earlier_calls, last.earlier_cost_usd + meter.earlier_usd)
        watching.progress(last.model_copy(update={"usage": whole.snapshot(elapsed_s), **_earlier(whole)}))


def _earlier(meter: UsageMeter) -> dict[str, Any]:
    return {"earlier_calls": meter.earlier_calls, "earlier_cost_usd": meter.earlier_usd}


def _further(progress: Progress, event: Event) -> Progress:
    if isinstance(event, ClaimFound):
        return progress.model_copy(update={"n_claims_found": progress.n_claims_found + 1})
    if isinstance(event, ClaimJudged):
        judged = progress.n_claims_judged + 1
        return progress.model_copy(update={"n_claims_judged": judged, "usage": event.usage})
    return progress


def summary_of(report: Reported) -> Summary:
    cost: dict[str, Any] = {"n_calls": report.usage.calls, "cost_usd": report.usage.cost_usd}
    if isinstance(report, TrustReport):
        values = {name: getattr(report, name).value for name in ("trust_bc", "trust_fc", "trust_ov")}
        return TrustSummary(**values, judge=report.fingerprint.subject_model or "", **cost)
    check = report if isinstance(report, FactualityReport) else report.factuality
    figures: dict[str, Any] = {
        "counts": check.counts,
        "precision": check.precision,
        "n_contradicted": n_contradicted(counted_claims(check)),
        "judge": check.fingerprint.judge,
    }
    if isinstance(report, FactualityReport):
        return CheckSummary(**figures, **cost, warnings=report.warnings)
    costs = (check.usage.cost_usd, report.usage.cost_usd)
    return LongFormSummary(
        **figures,
        standings=report.counts,
        n_calls=check.usage.calls + report.usage.calls,
        cost_usd=None if None in costs else sum(cost for cost in costs if cost is not None),
        warnings=(*check.warnings, *report.warnings),
    )
