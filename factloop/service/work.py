"""The work of each kind of job: it asks the checker, the scorer or the audit, as the Python API and the command do."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterator
from contextlib import aclosing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from factloop.agents.trustscore.records import LongFormTrustReport, TrustReport
from factloop.checking.checker import FactChecker
from factloop.core.events import CheckFinished, ClaimFound, ClaimJudged, Event, ServerWait
from factloop.core.factuality import at_each_k, counted_claims, n_contradicted
from factloop.core.files.json import to_json
from factloop.core.records import FactualityReport, Record
from factloop.entrance.asks import RequestModel
from factloop.service.documents import Library
from factloop.service.shapes import (
    AuditAsk,
    CheckAsk,
    CheckEnded,
    CheckSummary,
    Documents,
    Kind,
    LongFormAsk,
    LongFormSummary,
    Progress,
    Summary,
    TrustAsk,
    TrustSummary,
)
from factloop.setup.limits import Limits
from factloop.setup.sources import SourceMode, Sources
from factloop.tools.calls.meter import UsageMeter
from factloop.tools.models.chat import ChatModel
from factloop.trust.long_form import acheck_and_score
from factloop.trust.scorer import TrustScorer

ASKS: dict[Kind, type[RequestModel]] = {
    "check": CheckAsk,
    "trust": TrustAsk,
    "long_form": LongFormAsk,
    "audit": AuditAsk,
}
WAITING_TOLD_EVERY_S = 5.0
BEGUN_ANEW = (
    "another service had begun this and ended early, and the answers that it had paid for could not be reached: it was "
    "begun anew, and the cost here leaves out what was paid for before"
)
R = TypeVar("R", FactualityReport, TrustReport, LongFormTrustReport)


@dataclass(frozen=True)
class JobOutcome:
    """The outcome of a finished job."""

    report: Record
    result: str
    """The report as JSON."""
    summary: Summary


@dataclass(frozen=True)
class JobListener:
    """The callbacks that a job reports its events and progress to."""

    event: Callable[[Record, str], None]
    progress: Callable[[Progress], None]


class Work:
    """The checker and the scorer that all jobs share."""

    def __init__(
        self, checker: FactChecker, scorer: TrustScorer, library: Library, chat: ChatModel | None = None
    ) -> None:
        """`chat` is the checker's model, to be closed with it."""
        self.checker, self.scorer, self.library, self._chat = checker, scorer, library, chat

    async def do(
        self, kind: Kind, request: str, folder: Path, watching: JobListener, *, begun_anew: bool = False
    ) -> JobOutcome:
        """Does the work, keeping what is paid for in the folder. Raises FactloopError.

        `begun_anew`: the report says that an earlier attempt was paid for as well.
        """
        ask, notes = ASKS[kind].model_validate_json(request), (BEGUN_ANEW,) * begun_anew
        match ask:
            case CheckAsk():
                return await self._check(ask, folder, watching, notes)
            case TrustAsk():
                return await self._trust(ask, folder, watching, notes)
            case LongFormAsk():
                return await self._long_form(ask, folder, watching, notes)
            case AuditAsk():
                from factloop.service.audits import audit

                report, result, summary = await audit(ask, folder)
                return JobOutcome(report, result, summary)
            case _:
                raise AssertionError(f"no work is called {kind}")

    def limits_of(self, ask: RequestModel) -> Limits | None:
        """The limits that hold for the check of a request: each the tighter of the caller's and the service's.

        None for a request without a check.
        """
        if not isinstance(ask, CheckAsk | LongFormAsk):
            return None
        return Limits.of_lone_check(self.checker.settings).within(ask.limits)

    def share_pace(self, n_services: int) -> None:
        """Leaves the other services that are at work their part of the ceiling on model calls."""
        for one in {self.checker.pace, self.scorer.pace}:
            one.share(n_services)

    async def aclose(self) -> None:
        await self.checker.aclose()
        await self.scorer.aclose()
        if self._chat is not None:
            await self._chat.aclose()

    async def _check(self, ask: CheckAsk, folder: Path, watching: JobListener, notes: tuple[str, ...]) -> JobOutcome:
        report = _with_ks(await self._factuality(ask, folder, watching), ask.k)
        report = _noted(report, (*notes, *self._cut(ask.limits)))
        summary = summary_of_check(report)
        watching.event(CheckEnded(summary=summary), "check_finished")
        return JobOutcome(report, await asyncio.to_thread(to_json, report), summary)

    async def _long_form(
        self, ask: LongFormAsk, folder: Path, watching: JobListener, notes: tuple[str, ...]
    ) -> JobOutcome:
        mode: SourceMode = "factuality" if ask.documents is None else "faithfulness"
        check = CheckAsk(
            response=ask.response, prompt=ask.prompt, documents=ask.documents, mode=mode, limits=ask.limits
        )
        last = Progress()

        def noted(progress: Progress) -> None:
            nonlocal last
            last = progress
            watching.progress(progress)

        async def checked() -> FactualityReport:
            factuality = await self._factuality(check, folder, JobListener(watching.event, noted))
            noted(last.model_copy(update={"usage": factuality.usage}))
            return factuality

        with _told_cost(watching, lambda: last) as meter:
            scored = await acheck_and_score(
                checked, settings=self.scorer.settings, pace=self.scorer.pace, meter=meter, run_dir=folder / "trust"
            )
        report = _noted(scored, (*notes, *self._cut(ask.limits)))
        return JobOutcome(report, await asyncio.to_thread(to_json, report), _summary_of_long_form(report))

    def _cut(self, asked: Limits | None) -> tuple[str, ...]:
        """What is said of limits above those that the service gives each check."""
        return () if asked is None else asked.cut_to(Limits.of_lone_check(self.checker.settings))

    async def _factuality(self, ask: CheckAsk, folder: Path, watching: JobListener) -> FactualityReport:
        """The report of a check, each event of which is told as it happens."""
        progress, meter, begun = Progress(), UsageMeter(), time.perf_counter()
        told_s = -float("inf")
        events = self.checker.astream(
            ask.response,
            ask.prompt,
            sources=await self._sources(ask.documents, ask.mode),
            limits=ask.limits,
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
                            continue  # what is published is kept
                        told_s = event.waited_s
                    progress = _further(progress, event)
                    watching.progress(progress)
                    watching.event(event, event.type)
        finally:  # a check that is stopped, or fails, was paid for as well
            usage = meter.snapshot(time.perf_counter() - begun)
            watching.progress(progress.model_copy(update={"usage": usage}))
        raise AssertionError("a check ends with its report")

    async def _sources(self, documents: Documents | None, mode: SourceMode = "faithfulness") -> Sources | None:
        if documents is None:
            return None
        tool = await self.library.tool(documents)
        name = documents if isinstance(documents, str) else None
        return Sources(() if tool is None else (tool,), mode, registered_as=name)

    async def _trust(self, ask: TrustAsk, folder: Path, watching: JobListener, notes: tuple[str, ...]) -> JobOutcome:
        sources = await self._sources(ask.documents)
        with _told_cost(watching, Progress) as meter:
            report = await self.scorer.ascore(
                ask.question, ask.response, sources=sources, run_dir=folder / "trust", meter=meter
            )
        report = _noted(report, notes)
        return JobOutcome(report, to_json(report), _summary_of_trust(report))


@contextmanager
def _told_cost(watching: JobListener, reached: Callable[[], Progress]) -> Iterator[UsageMeter]:
    """A meter whose sum is told at the end with the progress `reached`, what that cost included.

    So a job that is stopped tells its cost, too.
    """
    meter, begun = UsageMeter(), time.perf_counter()
    try:
        yield meter
    finally:
        whole, elapsed_s, last = UsageMeter(), time.perf_counter() - begun, reached()
        if last.usage is not None:
            whole.add(last.usage)
        whole.add(meter.snapshot(elapsed_s))
        watching.progress(last.model_copy(update={"usage": whole.snapshot(elapsed_s)}))


def summary_of_check(report: FactualityReport) -> CheckSummary:
    return CheckSummary(
        counts=report.counts,
        precision=report.precision,
        n_contradicted=n_contradicted(counted_claims(report)),
        judge=report.fingerprint.judge,
        n_calls=report.usage.calls,
        cost_usd=report.usage.cost_usd,
        warnings=report.warnings,
    )


def _further(progress: Progress, event: Event) -> Progress:
    if isinstance(event, ClaimFound):
        return progress.model_copy(update={"n_claims_found": progress.n_claims_found + 1})
    if isinstance(event, ClaimJudged):
        judged = progress.n_claims_judged + 1
        return progress.model_copy(update={"n_claims_judged": judged, "usage": event.usage})
    return progress


def _summary_of_trust(report: TrustReport) -> TrustSummary:
    return TrustSummary(
        trust_bc=report.trust_bc.value,
        trust_fc=report.trust_fc.value,
        trust_ov=report.trust_ov.value,
        judge=report.fingerprint.subject_model or "",
        n_calls=report.usage.calls,
        cost_usd=report.usage.cost_usd,
    )


def _summary_of_long_form(report: LongFormTrustReport) -> LongFormSummary:
    checked = summary_of_check(report.factuality)
    costs = (checked.cost_usd, report.usage.cost_usd)
    return LongFormSummary(
        counts=checked.counts,
        precision=checked.precision,
        n_contradicted=checked.n_contradicted,
        judge=checked.judge,
        standings=report.counts,
        n_calls=checked.n_calls + report.usage.calls,
        cost_usd=None if None in costs else sum(cost for cost in costs if cost is not None),
        warnings=(*checked.warnings, *report.warnings),
    )


def _noted(report: R, notes: tuple[str, ...]) -> R:
    return report.model_copy(update={"warnings": (*report.warnings, *notes)}) if notes else report


def _with_ks(report: FactualityReport, ks: tuple[int, ...] | None) -> FactualityReport:
    return report if ks is None else report.model_copy(update={"at_k": at_each_k(report.counts, ks)})
