"""Routes of labels: what a person says of the claims of a check."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime
from typing import Annotated

from fastapi import APIRouter, Path
from fastapi.responses import Response
from pydantic import StringConstraints

from factloop.core.files.json import to_json
from factloop.core.records import FactualityReport, Record
from factloop.entrance.asks import RequestModel
from factloop.reports.labels import (
    LONGEST_COMMENT,
    ClaimToLabel,
    GivenLabel,
    LabelFile,
    PersonLabel,
    claims_to_label,
    hash_of,
    with_documents,
)
from factloop.service.context import LoopServices, Open, TheJob, answers, no_such_job
from factloop.service.errors import RequestRefusal
from factloop.service.kept_labels import read_labels
from factloop.service.shapes import Job

router = APIRouter(prefix="/v1", tags=["labels"])
ClaimId = Annotated[str, Path(max_length=200, description="Id of a claim of the report.")]


class LabelAsk(RequestModel):
    """A person's label of a claim."""

    label: PersonLabel
    comment: Annotated[str, StringConstraints(max_length=LONGEST_COMMENT)] = ""
    blind: bool = False
    """Whether the verdict was hidden from the person until the label was given."""


class LabelTakenBack(Record):
    """What became of a label."""

    label: GivenLabel | None
    """The label that was taken back; null if there was none."""


@router.get("/jobs/{job_id}/labels", response_model=LabelFile, responses=answers(404, 409, 422))
async def labels(job: TheJob, opened: Open) -> Response:
    """The claims of a check that is done and the labels they were given: a file for `factloop labels export`."""
    text = await _report(job, opened)
    kept = await opened.jobs.labels(job.id)
    return Response(await asyncio.to_thread(_file, text, kept), media_type="application/json")


@router.put("/jobs/{job_id}/labels/{claim_id}", responses=answers(403, 404, 409, 415, 422))
async def give(claim_id: ClaimId, ask: LabelAsk, job: TheJob, opened: Open) -> GivenLabel:
    """Labels a claim of a check that is done. A label that it had is replaced."""
    claim = await _claim(claim_id, job, opened)
    given = GivenLabel(response_id=claim.response_id, claim_id=claim_id, given_at=datetime.now(UTC), **ask.model_dump())
    await opened.jobs.change_label(job.id, claim_id, given)
    return given


@router.delete("/jobs/{job_id}/labels/{claim_id}", responses=answers(403, 404, 409, 422))
async def take_back(claim_id: ClaimId, job: TheJob, opened: Open) -> LabelTakenBack:
    """Takes the label of a claim back; the answer has it."""
    await _claim(claim_id, job, opened)
    return LabelTakenBack(label=await opened.jobs.change_label(job.id, claim_id, None))


async def _claim(claim_id: str, job: Job, opened: LoopServices) -> ClaimToLabel:
    text = await _report(job, opened)
    claims = await asyncio.to_thread(_claims, text)
    found = next((one for one in claims if one.claim_id == claim_id), None)
    if found is None:
        raise RequestRefusal(404, "not_found", "the check has no such claim to label", field="claim_id")
    return found


async def _report(job: Job, opened: LoopServices) -> str:
    if job.kind != "check":
        raise RequestRefusal(422, "invalid_input", "only the claims of checks are labelled", field="job_id")
    if job.status != "done":
        raise RequestRefusal(409, "not_done", f"the job is {job.status}, and has no report")
    text = await opened.jobs.result(job.id)
    if text is None:  # deleted since it was looked up
        raise no_such_job()
    return text


def _claims(text: str) -> tuple[ClaimToLabel, ...]:
    return claims_to_label(FactualityReport.model_validate_json(text))


def _file(text: str, kept: str | None) -> str:
    report = FactualityReport.model_validate_json(text)
    claims, given = claims_to_label(report), read_labels(kept)
    return to_json(
        LabelFile(
            claims_hash=hash_of(claims),
            claims=with_documents(claims, report),
            labels=tuple(given[one.claim_id] for one in claims if one.claim_id in given),
        )
    )
