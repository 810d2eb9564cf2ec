"""Routes that ask for work: checks, scores, audits."""

from __future__ import annotations

import asyncio
import json
import shutil
import tempfile
from pathlib import Path
from typing import Annotated, Any

from fastapi import APIRouter, Query
from fastapi.responses import JSONResponse, Response

from factloop.agents.trustscore.records import LongFormTrustReport, TrustReport
from factloop.core.errors import DataError
from factloop.core.records import FactualityReport
from factloop.entrance.asks import NO_SUBJECT, NOTHING_TO_SCORE_BY, hold_text, nothing_to_judge_by
from factloop.reports.figures import plural
from factloop.service.context import Caller, LoopServices, Open, TheCaller, answers, no_such_job
from factloop.service.errors import STATUS_OF_FAILURE, RequestRefusal, failure_words, refuse_without_evaluation
from factloop.service.kept import not_kept
from factloop.service.shapes import AuditAsk, CheckAsk, Documents, Job, Kind, LongFormAsk, TrustAsk, title_of
from factloop.setup.sources import SourceMode

router = APIRouter(prefix="/v1", tags=["ask"])
Wait = Annotated[bool, Query(description="Answer with the report when it is done, rather than with the job.")]
SEARCH = "search"
_REFUSALS = answers(403, 408, 413, 415, 422, 500, 502, 503, 504)


def _responses(report: type[Any] | None) -> dict[int | str, dict[str, Any]]:
    waited: dict[int | str, dict[str, Any]] = {} if report is None else {200: {"model": report}, 409: _REFUSALS[422]}
    return {**_REFUSALS, **waited}


@router.post("/checks", status_code=202, response_model=Job, responses=_responses(FactualityReport))
async def check(ask: CheckAsk, opened: Open, caller: TheCaller, wait: Wait = False) -> Response:
    """Checks which claims of a response hold."""
    opened.work.library.refuse_unknown(ask.documents)
    _refuse_nothing_to_judge_by(opened, ask.documents, ask.mode)
    return await _submitted(opened, caller, "check", ask, wait=wait)


@router.post("/trust", status_code=202, response_model=Job, responses=_responses(TrustReport))
async def trust(ask: TrustAsk, opened: Open, caller: TheCaller, wait: Wait = False) -> Response:
    """Scores whether a model stands by an answer, and whether documents agree."""
    opened.work.library.refuse_unknown(ask.documents)
    settings = opened.work.scorer.settings
    if settings.subject_model is None and ask.response is None:
        raise RequestRefusal(422, "invalid_input", NO_SUBJECT, field="response")
    has_texts = bool(settings.corpus) if ask.documents is None else hold_text(ask.documents)
    if settings.subject_model is None and not has_texts:
        raise RequestRefusal(422, "invalid_input", NOTHING_TO_SCORE_BY, field="documents")
    return await _submitted(opened, caller, "trust", ask, wait=wait)


@router.post("/trust/long-form", status_code=202, response_model=Job, responses=_responses(LongFormTrustReport))
async def long_form(ask: LongFormAsk, opened: Open, caller: TheCaller, wait: Wait = False) -> Response:
    """Checks a long answer, and scores whether a model stands by each of its claims."""
    opened.work.library.refuse_unknown(ask.documents)
    if opened.work.scorer.settings.subject_model is None:
        raise RequestRefusal(422, "invalid_input", "no subject model is set up to ask about the claims")
    _refuse_nothing_to_judge_by(opened, ask.documents)
    return await _submitted(opened, caller, "long_form", ask, wait=wait)


@router.post("/audits", status_code=202, response_model=Job, responses=_responses(None))
async def audit(ask: AuditAsk, opened: Open, caller: TheCaller) -> Response:
    """Says how far evaluators can be trusted, from claims that they scored and people labelled."""
    refuse_without_evaluation("audits")
    try:
        await asyncio.to_thread(_try_rows, ask)
    except DataError as error:
        words = failure_words(error)
        raise RequestRefusal(422, words.type, words.message, field="rows") from error
    request = await asyncio.to_thread(_kept, ask)
    title = f"{len(ask.rows):,} labelled claims"
    job = await opened.jobs.submit(caller.owner, "audit", title, request, request_id=caller.request_id, key=caller.key)
    return _accepted(job, caller)


def _refuse_nothing_to_judge_by(
    opened: LoopServices, documents: Documents | None, mode: SourceMode | None = None
) -> None:
    said = nothing_to_judge_by(documents, mode, can_search=opened.info.can_search)
    if said is not None:
        raise RequestRefusal(422, "invalid_input", said, field="documents")


def _kept(ask: AuditAsk) -> str:
    """The request as JSON to be kept. Raises RequestRefusal for what JSON can say and no text can."""
    try:
        text = ask.model_dump_json()
        AuditAsk.model_validate_json(text)
    except ValueError as error:  # half a character, brackets by the hundred, a number of thousands of digits
        message = "a value is not a whole text, is nested too deep, or is a number of too many digits"
        raise RequestRefusal(422, "invalid_input", message, field="rows") from error
    return text


def _try_rows(ask: AuditAsk) -> None:
    from factloop.service.audits import write_rows

    folder = Path(tempfile.mkdtemp(prefix="factloop-"))
    try:
        write_rows(ask.rows, folder)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


async def _submitted(
    opened: LoopServices, caller: Caller, kind: Kind, ask: CheckAsk | TrustAsk | LongFormAsk, *, wait: bool
) -> Response:
    question = ask.question if isinstance(ask, TrustAsk) else ask.prompt
    job = await opened.jobs.submit(
        caller.owner,
        kind,
        title_of(question or ask.response or ""),
        ask.model_dump_json(),
        answer=title_of(ask.response or ""),
        against=_against(ask),
        limits=opened.work.limits_of(ask),
        request_id=caller.request_id,
        key=caller.key,
    )
    return await _result(opened, job.id, caller.owner) if wait else _accepted(job, caller)


def _against(ask: CheckAsk | TrustAsk | LongFormAsk) -> str:
    """What the answer is held against, in words."""
    if ask.documents is None:
        return "the service's corpus" if isinstance(ask, TrustAsk) else SEARCH
    given = ask.documents if isinstance(ask.documents, str) else plural(len(ask.documents), "document")
    return f"{given} and {SEARCH}" if isinstance(ask, CheckAsk) and ask.mode == "factuality" else given


def _accepted(job: Job, caller: Caller) -> Response:
    location = f"{caller.public_path}/v1/jobs/{job.id}"
    return JSONResponse(json.loads(job.model_dump_json()), status_code=202, headers={"Location": location})


async def _result(opened: LoopServices, job_id: str, owner: str) -> Response:
    """The report, once there is one. Raises RequestRefusal for a job that failed or was cancelled."""
    job = await opened.jobs.ended(job_id, owner)
    if job is None:  # its owner deleted it at once
        raise no_such_job()
    if job.status == "done":
        result = await opened.jobs.result(job.id)
        if result is None:
            raise not_kept()
        return Response(result, media_type="application/json")
    if job.error is not None:
        raise RequestRefusal(STATUS_OF_FAILURE.get(job.error.type, 500), job.error.type, job.error.message)
    raise RequestRefusal(409, "cancelled", "the job was cancelled")
