"""Routes for jobs: submitting and tracking them, reading reports, and saving human labels."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncGenerator, AsyncIterator, Mapping
from contextlib import aclosing
from datetime import UTC, datetime
from functools import partial
from typing import Annotated, Any, Union

from fastapi import APIRouter, Depends, Header, Path, Query
from fastapi.responses import JSONResponse, Response, StreamingResponse
from fastapi.sse import KEEPALIVE_COMMENT, format_sse_event

from factloop.agents.trustscore.records import LongFormTrustReport, TrustReport
from factloop.checking.views.plain import render_csv
from factloop.core.records import FactualityReport
from factloop.entrance.asks import NO_SUBJECT, NOTHING_TO_SCORE_BY, hold_text, nothing_to_judge_by
from factloop.reports.figures import plural
from factloop.reports.labels import GivenLabel, LabelFile, claims_to_label, hash_of, with_documents
from factloop.service.errors import (
    STATUS_OF_FAILURE,
    RequestRefusal,
    error_words,
    invalid,
    not_found,
    read_saved,
    refuse_without_evaluation,
)
from factloop.service.results import KINDS
from factloop.service.routes import (
    HTML,
    REFUSALS,
    Caller,
    InContext,
    InTurn,
    LoopServices,
    Open,
    Owner,
    TheCaller,
    Turn,
    left_before,
    page_of,
)
from factloop.service.running import LiveEvent
from factloop.service.shapes import (
    Ask,
    CheckAsk,
    Deleted,
    Documents,
    Job,
    JobPage,
    Kind,
    LabelAsk,
    LabelTakenBack,
    LongFormAsk,
    Outcome,
    Status,
    TrustAsk,
)
from factloop.service.store import UNFINISHED, JobFilter, TextName, new_job, read_labels
from factloop.setup.sources import SourceMode

with_key = APIRouter(prefix="/v1", responses=REFUSALS)
with_ticket = APIRouter(prefix="/v1", responses=REFUSALS, tags=["jobs"])
OF_JOBS = {kind.name: kind for kind in reversed(KINDS) if kind.is_job}
REPORT: Any = Union[tuple(kind.record for kind in OF_JOBS.values())]  # noqa: UP007  # not known before the service starts
MOST_JOBS = 200
LARGEST_NUMBER = 2**62
SEARCH = "search"
Wait = Annotated[
    bool,
    Query(
        description="Wait for the report instead of returning the job. If the caller disconnects while waiting, "
        "the job is cancelled, unless the request has an `Idempotency-Key`."
    ),
]
ASKED: Any = {"status_code": 202, "response_model": Job, "tags": ["ask"]}  # the responses of routes that create work
AUDIT: Any = {"application/json": {"schema": {"$ref": "#/components/schemas/AuditAsk"}}}
"""For the schema. The body may have a million values, so another process parses it."""
ClaimId = Annotated[str, Path(max_length=200, description="Id of a claim in the report.")]


@with_key.post("/checks", responses={200: {"model": FactualityReport}}, **ASKED)
async def check(ask: CheckAsk, opened: Open, caller: TheCaller, wait: Wait = False) -> Response:
    """Checks which claims in a response are supported."""
    opened.work.library.refuse_unknown(ask.documents)
    _refuse_nothing_to_judge_by(opened, ask.documents, ask.mode)
    return await _submitted(opened, caller, "check", ask, wait=wait)


@with_key.post("/trust", responses={200: {"model": TrustReport}}, **ASKED)
async def trust(ask: TrustAsk, opened: Open, caller: TheCaller, wait: Wait = False) -> Response:
    """Scores whether a model stands by an answer and whether documents support it."""
    opened.work.library.refuse_unknown(ask.documents)
    settings = opened.work.scorer.settings
    if settings.subject_model is None and ask.response is None:
        raise invalid(NO_SUBJECT, "response")
    has_texts = bool(settings.corpus) if ask.documents is None else hold_text(ask.documents)
    if settings.subject_model is None and not has_texts:
        raise invalid(NOTHING_TO_SCORE_BY, "documents")
    return await _submitted(opened, caller, "trust", ask, wait=wait)


@with_key.post("/trust/long-form", responses={200: {"model": LongFormTrustReport}}, **ASKED)
async def long_form(ask: LongFormAsk, opened: Open, caller: TheCaller, wait: Wait = False) -> Response:
    """Checks a long answer, and scores whether a model stands by each of its claims."""
    opened.work.library.refuse_unknown(ask.documents)
    if opened.work.scorer.settings.subject_model is None:
        raise invalid("this service has no subject model that could be asked about the claims")
    _refuse_nothing_to_judge_by(opened, ask.documents)
    return await _submitted(opened, caller, "long_form", ask, wait=wait)


@with_key.post("/audits", openapi_extra={"requestBody": {"content": AUDIT, "required": True}}, **ASKED)
async def audit(opened: Open, caller: TheCaller, turn: InTurn) -> Response:
    """Measures how far evaluators can be trusted, using claims with scores and human labels."""
    refuse_without_evaluation("audits")
    from factloop.service.evaluation import look_at_rows, n_rows_in

    body = await caller.request.body()
    n_rows = await turn.compute(n_rows_in, partial(look_at_rows, body))
    asked = new_job("audit", f"{n_rows:,} labelled claims", request_id=caller.request_id)
    return _accepted(await opened.jobs.submit(caller.owner, asked, body.decode(), caller.key), caller)


def _refuse_nothing_to_judge_by(
    opened: LoopServices, documents: Documents | None, mode: SourceMode | None = None
) -> None:
    said = nothing_to_judge_by(documents, mode, can_search=opened.info.can_search)
    if said is not None:
        raise invalid(said, "documents")


async def _submitted(
    opened: LoopServices, caller: Caller, kind: Kind, ask: CheckAsk | TrustAsk | LongFormAsk, *, wait: bool
) -> Response:
    asked = new_job(
        kind,
        ask.question or ask.response or "",
        answer=ask.response or "",
        against=_against(ask),
        limits=opened.work.limits_of(ask, caller.owner),
        request_id=caller.request_id,
    )
    job = await opened.jobs.submit(caller.owner, asked, ask.model_dump_json(), caller.key)
    caller.request.scope["job"] = job.id
    if not wait:
        return _accepted(job, caller)
    waiting = asyncio.create_task(_waited_for(opened, job.id, caller))
    has_left = await left_before(caller.request, waiting)
    if not has_left or caller.key is not None or opened.jobs.is_stopping:  # with a key, the request can be repeated
        return await waiting
    waiting.cancel()
    await opened.jobs.cancel(job.id, caller.owner)
    return _accepted(job, caller)


def _against(ask: CheckAsk | TrustAsk | LongFormAsk) -> str:
    if ask.documents is None:
        return "the service's corpus" if isinstance(ask, TrustAsk) else SEARCH
    given = ask.documents if isinstance(ask.documents, str) else plural(len(ask.documents), "document")
    return f"{given} and {SEARCH}" if isinstance(ask, CheckAsk) and ask.mode == "factuality" else given


def _accepted(job: Job, caller: Caller) -> Response:
    return JSONResponse(json.loads(job.model_dump_json()), status_code=202, headers=_location(job.id, caller))


def _location(job_id: str, caller: Caller) -> dict[str, str]:
    return {"Location": f"{caller.public_path}/v1/jobs/{job_id}"}


async def _waited_for(opened: LoopServices, job_id: str, caller: Caller) -> Response:
    headers = _location(job_id, caller)
    try:
        job = await opened.jobs.ended(job_id, caller.owner)
    except RequestRefusal as error:  # the job still exists, so it should not be requested again
        told = f"{error.words.message}; the job's id is {job_id}"
        raise RequestRefusal(error.status, error.words.type, told, headers=error.headers | headers) from error
    if job is None:  # the owner has already deleted it
        raise not_found("job")
    if job.status == "done":
        return await _sent(job, opened, caller.owner, headers=headers)
    words = job.error or error_words("cancelled", "the job was cancelled")
    raise RequestRefusal(STATUS_OF_FAILURE.get(words.type, 500), words.type, words.message, headers=headers)


def is_job_id(text: str) -> bool:
    return len(text) == 32 and set(text) <= set("0123456789abcdef")


async def _job_of_path(job_id: str, opened: Open, owner: Owner) -> Job:
    job = await opened.jobs.get(job_id, owner) if is_job_id(job_id) else None
    if job is None:
        raise not_found("job")
    return job


TheJob = Annotated[Job, Depends(_job_of_path)]


@with_key.get("/jobs", tags=["jobs"])
async def jobs(
    opened: Open,
    owner: Owner,
    kind: Kind | None = None,
    status: Status | None = None,
    outcome: Annotated[Outcome | None, Query(description="Only checks with these verdicts.")] = None,
    text: Annotated[str, Query(max_length=200, description="Words in the question, answer or judge.")] = "",
    limit: Annotated[int, Query(ge=1, le=MOST_JOBS)] = 50,
    before: Annotated[str | None, Query(description="The value of `next` on the previous page.")] = None,
) -> JobPage:
    """The caller's jobs, newest first. A page may contain fewer jobs than requested even if more follow."""
    if before is not None and not is_job_id(before):
        raise invalid("must be the value of `next` on an earlier page", "before")
    return await opened.jobs.page(owner, JobFilter(kind, status, outcome, text), limit=limit, before=before)


@with_key.get("/jobs/{job_id}", tags=["jobs"])
async def job(job: TheJob) -> Job:
    """The state of a job."""
    return job


@with_key.get("/jobs/{job_id}/request", tags=["jobs"], response_model=Ask)
async def request(job: TheJob, opened: Open, owner: Owner) -> Response:
    """The request of a job."""
    return await _sent(job, opened, owner, "request")


@with_key.post("/jobs/{job_id}/cancel", tags=["jobs"])
async def cancel(job: TheJob, opened: Open, owner: Owner) -> Job:
    """Cancels a job and returns its last state. A job that has already ended is not changed."""
    return await opened.jobs.cancel(job.id, owner) or job


@with_key.delete("/jobs", tags=["jobs"])
async def delete_older(
    opened: Open,
    owner: Owner,
    older_than_days: Annotated[
        float, Query(ge=0, le=36_500, description="Delete only jobs created more than this many days ago.")
    ],
) -> Deleted:
    """Deletes the caller's older jobs that have ended, together with their texts and reports."""
    return Deleted(n_jobs=await opened.jobs.delete_older(older_than_days, owner))


@with_key.delete("/jobs/{job_id}", tags=["jobs"])
async def delete(job: TheJob, opened: Open) -> Job:
    """Deletes a job that has ended and returns its last state. Unfinished jobs must be cancelled first."""
    if job.status in UNFINISHED:
        raise RequestRefusal(409, "not_finished", "the job has not ended; cancel it first")
    await opened.jobs.delete(job.id)
    return job


@with_ticket.get(
    "/jobs/{job_id}/events",
    response_class=StreamingResponse,
    responses={200: {"content": {"text/event-stream": {"schema": {"type": "string"}}}}},
)
async def events(
    job: TheJob,
    opened: Open,
    context: InContext,
    owner: Owner,
    turn: InTurn,
    last_event_id: Annotated[str | None, Header(description="Send only events after this one.")] = None,
) -> Response:
    """Sends all events of a job as server-sent events. The last event is `job_finished`.

    If a stream ends without it, the service was stopped. Request the remaining events with `Last-Event-ID`.
    """
    heartbeat_s, after = context.settings.heartbeat_s, _number(last_event_id)
    stream = opened.jobs.follow(job.id, owner, after, heartbeat_s, turn.compute_for_stream)
    return StreamingResponse(_encoded(stream), media_type="text/event-stream", headers={"X-Accel-Buffering": "no"})


async def _encoded(portions: AsyncGenerator[list[LiveEvent], None]) -> AsyncIterator[bytes]:
    yield KEEPALIVE_COMMENT  # sends the headers immediately
    async with aclosing(portions):
        async for events in portions:
            lines = (format_sse_event(data_str=one.data, event=one.type, id=str(one.number)) for one in events)
            yield b"".join(lines) or KEEPALIVE_COMMENT
            await asyncio.sleep(0)  # others are served between two events


def _number(last_event_id: str | None) -> int:
    given = last_event_id or ""
    return min(int(given), LARGEST_NUMBER) if given.isascii() and given.isdigit() and len(given) < 20 else 0


@with_key.get("/jobs/{job_id}/result", tags=["jobs"], response_model=REPORT)
async def result(job: TheJob, opened: Open, owner: Owner) -> Response:
    """The report of a finished job."""
    return await _sent(job, opened, owner)


@with_ticket.get("/jobs/{job_id}/report.html", response_class=Response, responses=HTML)
async def report(job: TheJob, opened: Open, turn: InTurn) -> Response:
    """The report as a self-contained page."""
    return await turn.compute(partial(_page, job.kind), partial(_text_of, job, opened, turn.owner))


def _page(kind: Kind, text: str) -> Response:
    if kind not in OF_JOBS:  # the package was installed when the job ran
        refuse_without_evaluation(f"reports of kind {kind}")
    return page_of(OF_JOBS[kind].render(read_saved(OF_JOBS[kind].record.model_validate_json, text)))


@with_key.get(
    "/jobs/{job_id}/claims.csv",
    tags=["jobs"],
    response_class=Response,
    responses={200: {"content": {"text/csv": {"schema": {"type": "string"}}}}},
)
async def claims(job: TheJob, opened: Open, turn: InTurn) -> Response:
    """The claims of a finished check as a table for spreadsheets, with one claim per row."""
    _refuse_other_kinds(job, "only checks have a table of claims")
    return await turn.compute(_table, partial(_text_of, job, opened, turn.owner))


def _table(text: str) -> Response:
    table = render_csv(read_saved(FactualityReport.model_validate_json, text))
    return Response(f"\ufeff{table}", media_type="text/csv")  # otherwise Excel reads it as Latin-1


async def _sent(
    job: Job, opened: LoopServices, owner: str, name: TextName = "result", headers: Mapping[str, str] | None = None
) -> Response:
    async def read() -> Response:
        return Response(await _text_of(job, opened, owner, name), media_type="application/json", headers=headers)

    return await opened.places.unsent(owner, read)


async def _text_of(job: Job, opened: LoopServices, owner: str, name: TextName = "result") -> str:
    if name == "result" and job.status != "done":
        raise RequestRefusal(409, "not_done", f"the job has no report; its status is {job.status}")
    text = await opened.jobs.text(job.id, owner, name)
    if text is None:  # deleted after the job was found
        raise not_found("job")
    return text


def _refuse_other_kinds(job: Job, message: str) -> None:
    if job.kind != "check":
        raise invalid(message, "job_id")


LABELLED = "only the claims of checks can be labelled"


@with_key.get("/jobs/{job_id}/labels", tags=["labels"], response_model=LabelFile)
async def labels(job: TheJob, opened: Open, turn: InTurn) -> Response:
    """The claims and labels of a finished check, in a file that you can pass to `factloop research labels export`."""
    _refuse_other_kinds(job, LABELLED)
    return await turn.compute(
        _label_file, partial(_text_of, job, opened, turn.owner), partial(opened.jobs.text, job.id, turn.owner, "labels")
    )


def _label_file(text: str, kept: str | None) -> Response:
    report = read_saved(FactualityReport.model_validate_json, text)
    claims, given = claims_to_label(report), read_labels(kept)
    file = LabelFile(
        claims_hash=hash_of(claims),
        claims=with_documents(claims, report),
        labels=tuple(given[one.claim_id] for one in claims if one.claim_id in given),
    )
    return Response(file.model_dump_json(), media_type="application/json")


@with_key.put("/jobs/{job_id}/labels/{claim_id}", tags=["labels"])
async def give(claim_id: ClaimId, ask: LabelAsk, job: TheJob, opened: Open, turn: InTurn) -> GivenLabel:
    """Labels a claim in a finished check, replacing any previous label."""
    response_id = await _response_of(claim_id, job, opened, turn)
    given = GivenLabel(response_id=response_id, claim_id=claim_id, given_at=datetime.now(UTC), **ask.model_dump())
    await opened.jobs.change_label(job.id, turn.owner, claim_id, given)
    return given


@with_key.delete("/jobs/{job_id}/labels/{claim_id}", tags=["labels"])
async def take_back(claim_id: ClaimId, job: TheJob, opened: Open, turn: InTurn) -> LabelTakenBack:
    """Removes the label of a claim and returns it."""
    await _response_of(claim_id, job, opened, turn)
    return LabelTakenBack(label=await opened.jobs.change_label(job.id, turn.owner, claim_id, None))


async def _response_of(claim_id: str, job: Job, opened: LoopServices, turn: Turn) -> str:
    _refuse_other_kinds(job, LABELLED)
    return await turn.compute(partial(_response_in, claim_id), partial(_text_of, job, opened, turn.owner))


def _response_in(claim_id: str, text: str) -> str:
    claims = claims_to_label(read_saved(FactualityReport.model_validate_json, text))
    found = next((one for one in claims if one.claim_id == claim_id), None)
    if found is None:
        raise RequestRefusal(404, "not_found", "no claim with this id can be labelled here", field="claim_id")
    return found.response_id
