"""The objects that the routes share, and how routes get at them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any

from fastapi import Depends, Header, Request

from factloop.service.errors import RequestRefusal
from factloop.service.jobs import KEPT_REPEATS_H, Jobs
from factloop.service.metrics import Metrics
from factloop.service.pages import Asset
from factloop.service.readiness import Readiness
from factloop.service.results import ResultFolder
from factloop.service.settings import ServiceSettings
from factloop.service.shapes import ErrorBody, Info, Job
from factloop.service.tickets import Tickets
from factloop.service.windows import Windows
from factloop.service.work import Work


@dataclass
class ServiceContext:
    """The service's shared objects, put together at the start; `opened` is added once the event loop runs."""

    settings: ServiceSettings
    metrics: Metrics
    results: ResultFolder
    tickets: Tickets
    windows: Windows
    assets: Mapping[str, Asset] = field(default_factory=dict)
    opened: LoopServices | None = None

    @property
    def is_stopping(self) -> bool:
        return self.opened is None or self.opened.jobs.is_stopping


@dataclass(frozen=True)
class LoopServices:
    """The objects that live in the event loop."""

    jobs: Jobs
    work: Work
    info: Info
    readiness: Readiness


def _context(request: Request) -> ServiceContext:
    found: ServiceContext = request.app.state.context
    return found


def _opened(context: Annotated[ServiceContext, Depends(_context)]) -> LoopServices:
    if context.opened is None:
        raise RequestRefusal(503, "stopping", "the service is starting or being stopped")
    return context.opened


def _owner(request: Request) -> str:
    owner: Any = request.scope.get("owner")
    if not isinstance(owner, str):  # the guard sets it, or this is not reached
        raise RequestRefusal(401, "unauthorized", "a key is needed")
    return owner


InContext = Annotated[ServiceContext, Depends(_context)]
Open = Annotated[LoopServices, Depends(_opened)]
Owner = Annotated[str, Depends(_owner)]


@dataclass(frozen=True)
class Caller:
    """The caller of a request for work."""

    owner: str
    request_id: str
    key: str | None
    """The name that the caller gives the request."""
    public_path: str
    """The path of the service for the caller."""


def _caller(
    request: Request,
    owner: Owner,
    context: InContext,
    idempotency_key: Annotated[
        str | None,
        Header(
            min_length=1,
            max_length=255,
            pattern=r"^[\x21-\x7e]+$",
            description=f"A name of this request, kept for {KEPT_REPEATS_H} hours: sent again with the same body it "
            "gives the job of the first time, which is not done or paid for again.",
        ),
    ] = None,
) -> Caller:
    return Caller(owner, request.scope["request_id"], idempotency_key, context.settings.public_path)


TheCaller = Annotated[Caller, Depends(_caller)]


async def find_job(job_id: str, opened: Open, owner: Owner) -> Job:
    """The caller's job of the path. Raises RequestRefusal; another owner's job counts as unknown."""
    job = await opened.jobs.get(job_id, owner) if is_job_id(job_id) else None
    if job is None:
        raise no_such_job()
    return job


def is_job_id(text: str) -> bool:
    return len(text) == 32 and set(text) <= set("0123456789abcdef")


def no_such_job(field: str | None = None) -> RequestRefusal:
    return RequestRefusal(404, "not_found", "there is no such job", field=field)


TheJob = Annotated[Job, Depends(find_job)]


def answers(*statuses: int) -> dict[int | str, dict[str, Any]]:
    """The refusals of a route, for its documentation: those of every route, and these."""
    return {status: {"model": ErrorBody} for status in (400, 401, 413, 429, 503, *statuses)}


def page_and(*statuses: int) -> dict[int | str, dict[str, Any]]:
    """The answers of a route to a page."""
    return {200: {"content": {"text/html": {}}}, **answers(*statuses)}
