"""Routes to jobs: their state, their events, and their reports."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing
from datetime import UTC, datetime, timedelta
from typing import Annotated, Any, Union

from fastapi import APIRouter, Header, Query
from fastapi.responses import HTMLResponse, Response, StreamingResponse
from fastapi.sse import KEEPALIVE_COMMENT, format_sse_event

from factloop.checking.views.layout import ResponseLayout, layout_of
from factloop.checking.views.table import render_csv
from factloop.core.records import FactualityReport
from factloop.service.context import (
    InContext,
    LoopServices,
    Open,
    Owner,
    TheJob,
    answers,
    is_job_id,
    no_such_job,
    page_and,
)
from factloop.service.errors import RequestRefusal, refuse_without_evaluation
from factloop.service.filtering import JobFilter, Outcome
from factloop.service.live import LiveEvent
from factloop.service.pages import report_policy
from factloop.service.result_kinds import KINDS
from factloop.service.shapes import Ask, CheckAsk, ChecksComparison, Deleted, Job, JobPage, Kind, Status
from factloop.service.store import UNFINISHED

router = APIRouter(prefix="/v1", tags=["jobs"])
OF_JOBS = {kind.name: kind for kind in reversed(KINDS) if kind.is_job}
REPORT: Any = Union[tuple(kind.record for kind in OF_JOBS.values())]  # noqa: UP007  # known when the service starts
MOST_JOBS = 200
LARGEST_NUMBER = 2**62


@router.get("/jobs", responses=answers(422))
async def jobs(
    opened: Open,
    owner: Owner,
    kind: Kind | None = None,
    status: Status | None = None,
    outcome: Annotated[Outcome | None, Query(description="Checks by their verdicts.")] = None,
    text: Annotated[str, Query(max_length=200, description="Words of the question, the answer, the judge.")] = "",
    limit: Annotated[int, Query(ge=1, le=MOST_JOBS)] = 50,
    before: Annotated[str | None, Query(description="The `next` of the page before this one.")] = None,
) -> JobPage:
    """The caller's jobs, newest first. A page may have fewer jobs than asked for, and more after it."""
    if before is not None and not is_job_id(before):
        raise RequestRefusal(422, "invalid_input", "give the `next` of an earlier page", field="before")
    return await opened.jobs.page(owner, JobFilter(kind, status, outcome, text), limit=limit, before=before)


@router.get("/jobs/{job_id}", responses=answers(404, 422))
async def job(job: TheJob) -> Job:
    """The state of a job."""
    return job


@router.get("/jobs/{job_id}/request", response_model=Ask, responses=answers(404, 422))
async def request(job: TheJob, opened: Open) -> Response:
    """The request of a job: a page shows it beside its report, and may ask again."""
    text = await opened.jobs.request(job.id)
    if text is None:  # deleted since it was looked up
        raise no_such_job()
    return Response(text, media_type="application/json")


@router.post("/jobs/{job_id}/cancel", responses=answers(403, 404, 422))
async def cancel(job: TheJob, opened: Open, owner: Owner) -> Job:
    """Stops a job; one that has ended meanwhile stays as it is. The answer is its last state."""
    return await opened.jobs.cancel(job.id, owner) or job


@router.delete("/jobs", responses=answers(403, 422))
async def delete_older(
    opened: Open,
    owner: Owner,
    older_than_days: Annotated[float, Query(ge=0, le=36_500, description="Jobs that were made before that.")],
) -> Deleted:
    """Forgets the caller's older jobs that have ended, with their texts and reports."""
    than = datetime.now(UTC) - timedelta(days=older_than_days)
    return Deleted(n_jobs=await opened.jobs.delete_older(owner, than))


@router.delete("/jobs/{job_id}", responses=answers(403, 404, 409, 422))
async def delete(job: TheJob, opened: Open) -> Job:
    """Forgets a job that has ended; the answer is its last state. One that has not is to be cancelled first."""
    if job.status in UNFINISHED:
        raise RequestRefusal(409, "not_finished", "the job is not over: cancel it first")
    await opened.jobs.delete(job.id)
    return job


@router.get(
    "/jobs/{job_id}/events",
    response_class=StreamingResponse,
    responses={200: {"content": {"text/event-stream": {"schema": {"type": "string"}}}}, **answers(404, 422)},
)
async def events(
    job: TheJob,
    opened: Open,
    context: InContext,
    owner: Owner,
    last_event_id: Annotated[str | None, Header(description="Only what came after this event.")] = None,
) -> Response:
    """Sends the events of a job, as server-sent events, from its beginning; the last is `job_finished`.

    A stream that ends without it was cut off by the service being stopped: ask again with `Last-Event-ID`.
    """
    stream = opened.jobs.follow(job.id, owner, _number(last_event_id), context.settings.heartbeat_s)
    return StreamingResponse(_encoded(stream), media_type="text/event-stream", headers={"X-Accel-Buffering": "no"})


@router.get(
    "/jobs/{job_id}/result",
    response_model=REPORT,
    responses=answers(404, 409, 422),
)
async def result(job: TheJob, opened: Open) -> Response:
    """The report of a job that is done."""
    return Response(await _result(job, opened), media_type="application/json")


@router.get("/jobs/{job_id}/report.html", response_class=Response, responses=page_and(404, 409, 422))
async def report(job: TheJob, opened: Open) -> Response:
    """The report as a page that needs nothing else."""
    text = await _result(job, opened)
    page = await asyncio.to_thread(_rendered, job.kind, text)
    return HTMLResponse(page, headers={"Content-Security-Policy": report_policy(page)})


@router.get(
    "/jobs/{job_id}/claims.csv",
    response_class=Response,
    responses={200: {"content": {"text/csv": {"schema": {"type": "string"}}}}, **answers(404, 409, 422)},
)
async def claims(job: TheJob, opened: Open) -> Response:
    """The claims of a check that is done as a table, one a row, for spreadsheets."""
    if job.kind != "check":
        raise RequestRefusal(422, "invalid_input", "only checks have a table of claims", field="job_id")
    text = await _result(job, opened)
    table = await asyncio.to_thread(lambda: render_csv(FactualityReport.model_validate_json(text)))
    return Response(f"\ufeff{table}", media_type="text/csv")  # without the mark Excel takes it for Latin letters


@router.get("/jobs/{job_id}/layout", responses=answers(404, 422))
async def layout(job: TheJob, opened: Open) -> ResponseLayout:
    """The response of a check laid out from its Markdown; once the check is done, with the words that fail."""
    if job.kind != "check":
        raise RequestRefusal(422, "invalid_input", "only checks are laid out", field="job_id")
    asked = await opened.jobs.request(job.id)
    if asked is None:  # deleted since it was looked up
        raise no_such_job()
    report = await _result(job, opened) if job.status == "done" else None
    return await asyncio.to_thread(_layout, asked, report)


@router.get("/compare", responses=answers(404, 409, 422, 503))
async def compare(opened: Open, owner: Owner, first: str, second: str) -> ChecksComparison:
    """Compares two checks, claim by claim; the older one is `first` in the answer."""
    refuse_without_evaluation("comparisons")
    from factloop.service.comparing import compare_checks

    one, other = [
        await _check_report(name, given, opened, owner) for name, given in (("first", first), ("second", second))
    ]
    return await asyncio.to_thread(compare_checks, one, other)


async def _check_report(name: str, job_id: str, opened: LoopServices, owner: str) -> tuple[Job, FactualityReport]:
    job = await opened.jobs.get(job_id, owner) if is_job_id(job_id) else None
    if job is None:
        raise no_such_job(name)
    if job.kind != "check":
        raise RequestRefusal(422, "invalid_input", "only checks can be compared", field=name)
    text = await _result(job, opened)
    return job, await asyncio.to_thread(FactualityReport.model_validate_json, text)


async def _result(job: Job, opened: LoopServices) -> str:
    if job.status != "done":
        raise RequestRefusal(409, "not_done", f"the job is {job.status}, and has no report")
    text = await opened.jobs.result(job.id)
    if text is None:  # deleted since it was looked up
        raise no_such_job()
    return text


def _rendered(kind: Kind, text: str) -> str:
    if kind not in OF_JOBS:  # made when the package was there
        refuse_without_evaluation(f"reports of kind {kind}")
    return OF_JOBS[kind].render(OF_JOBS[kind].record.model_validate_json(text))


def _layout(asked: str, result: str | None) -> ResponseLayout:
    report = None if result is None else FactualityReport.model_validate_json(result)
    return layout_of(CheckAsk.model_validate_json(asked).response, report)


async def _encoded(events: AsyncGenerator[LiveEvent | None, None]) -> AsyncIterator[bytes]:
    yield KEEPALIVE_COMMENT  # the headers go out at once
    async with aclosing(events):
        async for sent in events:
            if sent is None:
                yield KEEPALIVE_COMMENT
            else:
                yield format_sse_event(data_str=sent.data, event=sent.type, id=str(sent.number))


def _number(last_event_id: str | None) -> int:
    """The number in the header; 0 for anything else, so that all events are sent."""
    given = last_event_id or ""
    return min(int(given), LARGEST_NUMBER) if given.isascii() and given.isdigit() and len(given) < 20 else 0
