"""What all routes share, and the routes beside those of jobs: the page, health, metrics, results, tickets."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Header, Request
from fastapi.responses import HTMLResponse, JSONResponse, Response
from fastapi.security import APIKeyQuery, HTTPBearer
from prometheus_client import CONTENT_TYPE_LATEST

from factloop.service.access import PARAMETER, RateLimits, Tickets
from factloop.service.errors import RequestRefusal, not_found, unavailable
from factloop.service.jobs import KEPT_REPEATS_H, Jobs, Readiness
from factloop.service.metrics import Metrics
from factloop.service.pages import INDEX, PAGE_POLICY, Asset, report_policy
from factloop.service.results import Result, ResultFolder
from factloop.service.settings import ServiceSettings
from factloop.service.shapes import ErrorBody, Health, Info, ResultList, Ticket, TicketAsk
from factloop.service.work import Work

REFUSALS: dict[int | str, dict[str, Any]] = {
    status: {"model": ErrorBody} for status in (400, 401, 403, 404, 408, 409, 413, 415, 422, 429, 500, 502, 503, 504)
}
"""The refusals that a route under a key may answer with."""
HTML: dict[int | str, dict[str, Any]] = {200: {"content": {"text/html": {}}}}
KEY = HTTPBearer(scheme_name="key", description="A key that the operator of the service gave out.", auto_error=False)
TICKET = APIKeyQuery(
    name=PARAMETER, scheme_name="ticket", description="For one page, from `POST /v1/tickets`.", auto_error=False
)


@dataclass(frozen=True)
class LoopServices:
    """The objects that live in the event loop."""

    jobs: Jobs
    work: Work
    info: Info
    readiness: Readiness


@dataclass
class ServiceContext:
    """The service's shared objects, put together at the start; `opened` is added once the event loop runs."""

    settings: ServiceSettings
    metrics: Metrics
    results: ResultFolder
    tickets: Tickets
    rates: RateLimits
    assets: Mapping[str, Asset]
    opened: LoopServices | None = None


def _context(request: Request) -> ServiceContext:
    found: ServiceContext = request.app.state.context
    return found


InContext = Annotated[ServiceContext, Depends(_context)]


def _opened(context: InContext) -> LoopServices:
    if context.opened is None:
        raise unavailable("stopping", "the service is starting or being stopped", None)
    return context.opened


def _owner(request: Request) -> str:
    owner: Any = request.scope.get("owner")
    if not isinstance(owner, str):  # the guard sets it, or this is not reached
        raise RequestRefusal(401, "unauthorized", "a key is needed")
    return owner


Open = Annotated[LoopServices, Depends(_opened)]
Owner = Annotated[str, Depends(_owner)]


@dataclass(frozen=True)
class Caller:
    """The caller of a request for work; `key` is the name that the caller gives the request."""

    request: Request
    owner: str
    request_id: str
    key: str | None
    public_path: str

    async def left_before(self, answer: asyncio.Task[Response]) -> bool:
        """Whether the caller hangs up before there is an answer."""
        leaving = asyncio.create_task(self._left())
        try:
            done, _ = await asyncio.wait({answer, leaving}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            leaving.cancel()
        return answer not in done

    async def _left(self) -> None:
        while (await self.request.receive())["type"] != "http.disconnect":
            pass


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
    return Caller(request, owner, request.scope["request_id"], idempotency_key, context.settings.public_path)


TheCaller = Annotated[Caller, Depends(_caller)]

open_to_all = APIRouter()
with_key = APIRouter(responses=REFUSALS)
with_ticket = APIRouter(responses=REFUSALS)
"""Routes that a ticket opens as well as a key."""


@open_to_all.get("/", response_class=HTMLResponse, include_in_schema=False)
async def page(context: InContext) -> Response:
    return await asset(INDEX, context)


@open_to_all.get("/assets/{name}", include_in_schema=False)
async def asset(name: str, context: InContext) -> Response:
    found = context.assets.get(name)
    if found is None:
        raise not_found("page")
    headers = {"Content-Security-Policy": PAGE_POLICY, "Cache-Control": "no-cache"}
    return Response(found.body, media_type=found.media_type, headers=headers)


@open_to_all.get("/health", tags=["state"])
async def health() -> Health:
    """Whether the process answers."""
    return Health(status="ok")


@open_to_all.get("/ready", tags=["state"], response_model=Health, responses={503: {"model": Health}})
async def ready(context: InContext) -> Response:
    """Whether new work is taken: it looks whether the database takes a row, and the folder a file."""
    if context.opened is None or context.opened.jobs.is_stopping:
        state = Health(status="stopping")
    else:
        troubles = await context.opened.readiness.troubles()
        state = Health(status="unready" if troubles else "ok", troubles=troubles)
    return JSONResponse(state.model_dump(mode="json"), status_code=200 if state.status == "ok" else 503)


@open_to_all.get("/metrics", tags=["state"], response_class=Response, responses={200: {"content": {"text/plain": {}}}})
async def metrics(context: InContext) -> Response:
    """Counts for Prometheus."""
    return Response(context.metrics.text(), media_type=CONTENT_TYPE_LATEST)


@with_key.get("/v1/info", tags=["state"])
async def info(opened: Open, _owner: Owner) -> Info:
    """Describes this service."""
    return opened.info


@with_key.get("/v1/results", tags=["results"])
async def results(context: InContext, _owner: Owner) -> ResultList:
    """Audits, comparisons, experiments and runs that the operator registered."""
    return ResultList(results=tuple(await asyncio.to_thread(context.results.all)))


@with_key.get("/v1/results/{name}.json", tags=["results"])
async def result(name: str, context: InContext, _owner: Owner) -> Response:
    """One registered result as JSON."""
    return Response((await _result(context, name)).text, media_type="application/json")


@with_ticket.get("/v1/results/{name}/page.html", tags=["results"], response_class=Response, responses=HTML)
async def result_page(name: str, context: InContext, _owner: Owner) -> Response:
    """One registered result as a page that needs nothing else."""
    found = await _result(context, name)
    return page_of(await asyncio.to_thread(found.kind.render, found.record))


@with_key.post("/v1/tickets", tags=["results"])
async def ticket(ask: TicketAsk, context: InContext, owner: Owner) -> Ticket:
    """Gives an address under which a browser can open a page of the caller's: a link carries no key."""
    return Ticket(address=context.settings.public_path + context.tickets.address(owner, ask.page))


async def _result(context: ServiceContext, name: str) -> Result:
    found = await asyncio.to_thread(context.results.find, name)
    if found is None:
        raise not_found("result")
    return found


def page_of(report: str) -> Response:
    """A report's page, under the policy that it names."""
    return HTMLResponse(report, headers={"Content-Security-Policy": report_policy(report)})
