"""What all routes share, and the routes unrelated to jobs: page, health, metrics, results and tickets."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Annotated, Any, TypeVar

from fastapi import APIRouter, Depends, Header, Query, Request
from fastapi.responses import HTMLResponse, JSONResponse, Response
from fastapi.security import APIKeyQuery, HTTPBearer
from prometheus_client import CONTENT_TYPE_LATEST

from factloop.service.access import PARAMETER, RateLimits, Tickets
from factloop.service.errors import RequestRefusal, invalid, not_found, unavailable
from factloop.service.jobs import KEPT_REPEATS_H, Jobs, Readiness
from factloop.service.metrics import Metrics
from factloop.service.pages import INDEX, PAGE_POLICY, Asset, report_policy
from factloop.service.places import Places
from factloop.service.reading import FileReader
from factloop.service.results import Result, ResultFolder
from factloop.service.settings import ServiceSettings
from factloop.service.shapes import (
    CallerInfo,
    ErrorBody,
    FileAsk,
    FileText,
    Health,
    Info,
    ResultList,
    Ticket,
    TicketAsk,
)
from factloop.service.work import Work

T = TypeVar("T")
REFUSALS: dict[int | str, dict[str, Any]] = {
    status: {"model": ErrorBody}
    for status in (400, 401, 403, 404, 408, 409, 413, 415, 422, 429, 500, 502, 503, 504, 507)
}
HTML: dict[int | str, dict[str, Any]] = {200: {"content": {"text/html": {}}}}
KEY = HTTPBearer(scheme_name="key", description="A key issued by the operator of the service.", auto_error=False)
TICKET = APIKeyQuery(
    name=PARAMETER, scheme_name="ticket", description="Opens one page. `POST /v1/tickets` returns it.", auto_error=False
)


@dataclass(frozen=True)
class LoopServices:
    jobs: Jobs
    work: Work
    info: Info
    readiness: Readiness
    places: Places
    files: FileReader


@dataclass
class ServiceContext:
    """The service's shared objects, assembled on startup. `opened` is added once the event loop is running."""

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
        raise unavailable("stopping", "the service is starting or shutting down", None)
    return context.opened


def _owner(request: Request) -> str:
    owner: Any = request.scope.get("owner")
    if not isinstance(owner, str):  # never reached, because the guard sets the owner or rejects the request
        raise RequestRefusal(401, "unauthorized", "an API key is required")
    return owner


Open = Annotated[LoopServices, Depends(_opened)]
Owner = Annotated[str, Depends(_owner)]


@dataclass(frozen=True)
class Caller:
    """The caller who requests work. `key` identifies repeated attempts at the same request."""

    request: Request
    owner: str
    request_id: str
    key: str | None
    public_path: str


async def left_before(request: Request, answer: asyncio.Task[Any]) -> bool:
    """Whether the caller disconnects before the response is ready."""
    leaving = asyncio.create_task(_left(request))
    try:
        done, _ = await asyncio.wait({answer, leaving}, return_when=asyncio.FIRST_COMPLETED)
    finally:
        leaving.cancel()
    return answer not in done


async def _left(request: Request) -> None:
    while (await request.receive())["type"] != "http.disconnect":
        pass


@dataclass(frozen=True)
class Turn:
    """Runs a request's computations when it is the caller's turn."""

    request: Request
    owner: str
    places: Places

    async def compute(self, call: Callable[..., T], *inputs: Callable[[], Awaitable[Any]]) -> T:
        """Fetches the inputs and runs the blocking call with them. Raises RequestRefusal."""
        return await self.places.compute(self.owner, partial(_left, self.request), call, *inputs)

    async def compute_for_stream(self, call: Callable[..., T], *inputs: Callable[[], Awaitable[Any]]) -> T:
        """Like `compute`, but for part of a response that has started. Waits for its turn unless the caller leaves."""
        return await self.places.compute(self.owner, asyncio.Event().wait, call, *inputs, waits=True)


def _turn(request: Request, owner: Owner, opened: Open) -> Turn:
    return Turn(request, owner, opened.places)


InTurn = Annotated[Turn, Depends(_turn)]


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
            description=f"A name for this request, kept for {KEPT_REPEATS_H} hours. If the same name is sent "
            "with the same body, the first job is returned, and nothing is run or paid for again.",
        ),
    ] = None,
) -> Caller:
    return Caller(request, owner, request.scope["request_id"], idempotency_key, context.settings.public_path)


TheCaller = Annotated[Caller, Depends(_caller)]

open_to_all = APIRouter()
with_key = APIRouter(responses=REFUSALS)
with_ticket = APIRouter(responses=REFUSALS)


@open_to_all.head("/", include_in_schema=False)
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


@open_to_all.head("/health", include_in_schema=False)
@open_to_all.get("/health", tags=["state"])
async def health() -> Health:
    """Whether the process is running."""
    return Health(status="ok")


@open_to_all.head("/ready", include_in_schema=False)
@open_to_all.get("/ready", tags=["state"], response_model=Health, responses={503: {"model": Health}})
async def ready(context: InContext) -> Response:
    """Whether new work is accepted. Tests whether the database accepts a row and the folder a file."""
    if context.opened is None or context.opened.jobs.is_stopping:
        state = Health(status="stopping")
    else:
        troubles = await context.opened.readiness.troubles()
        state = Health(status="unready" if troubles else "ok", troubles=troubles)
    return JSONResponse(state.model_dump(mode="json"), status_code=200 if state.status == "ok" else 503)


@open_to_all.get("/metrics", tags=["state"], response_class=Response, responses={200: {"content": {"text/plain": {}}}})
async def metrics(context: InContext) -> Response:
    """Metrics for Prometheus. The queue metrics are NaN while the database is unavailable."""
    if context.opened is not None:
        context.metrics.queue(*await context.opened.jobs.queue())
    return Response(context.metrics.text(), media_type=CONTENT_TYPE_LATEST)


@with_key.get("/v1/info", tags=["state"])
async def info(opened: Open, context: InContext, owner: Owner) -> Info:
    """Describes this service and the caller's limits."""
    keys, limits = context.settings.keys, opened.info.limits
    limits = limits.model_copy(update={"each_check": opened.work.most_for(owner)})
    if not keys:
        return opened.info.model_copy(update={"limits": limits})
    day, left = await opened.jobs.day_of(owner)
    caller = CallerInfo(
        name=keys.names[owner],
        budget_usd_per_day=day.usd,
        max_calls_per_day=day.calls,
        left_usd=left.usd,
        left_calls=left.calls,
    )
    return opened.info.model_copy(update={"limits": limits, "caller": caller})


@with_key.post("/v1/documents", tags=["checks"], response_model=FileText)
async def text_of_file(ask: FileAsk, request: Request, opened: Open, owner: Owner) -> Response:
    """Reads PDF, Word, HTML and other files into documents for a check. Nothing is saved."""
    reading = asyncio.create_task(opened.files.read(ask, owner))
    if await left_before(request, reading):
        reading.cancel()
    return await reading


@with_key.get("/v1/results", tags=["results"])
async def results(context: InContext, turn: InTurn) -> ResultList:
    """Audits, comparisons, experiments and runs registered by the operator."""
    return ResultList(results=tuple(await turn.compute(context.results.all)))


@with_key.get("/v1/results/{name}.json", tags=["results"])
async def result(name: str, context: InContext, turn: InTurn) -> Response:
    """One registered result as JSON."""
    return await turn.compute(lambda: Response(_result(context, name).text, media_type="application/json"))


@with_ticket.get("/v1/results/{name}/page.html", tags=["results"], response_class=Response, responses=HTML)
async def result_page(
    name: str,
    context: InContext,
    turn: InTurn,
    against: Annotated[str | None, Query(description="A second run or experiment, to compare with this one.")] = None,
) -> Response:
    """One registered result as a self-contained page, or the comparison of two results."""

    def rendered() -> Response:
        found = _result(context, name)
        if against is None:
            return page_of(found.kind.render(found.record))
        other = _result(context, against)
        if not (found.info.is_comparable and other.info.is_comparable):
            raise invalid("only the folders of two runs, or of two experiments, can be compared", "against")
        from factloop.service.evaluation import comparison_page

        return page_of(comparison_page((found.folder, other.folder), (found.info.created_at, other.info.created_at)))

    return await turn.compute(rendered)


@with_key.post("/v1/tickets", tags=["results"])
async def ticket(ask: TicketAsk, context: InContext, owner: Owner) -> Ticket:
    """Returns a URL at which a browser can open one of the caller's pages, because links cannot contain a key."""
    public = context.settings.public_origin + context.settings.public_path
    return Ticket(address=public + context.tickets.address(owner, ask.page))


def _result(context: ServiceContext, name: str) -> Result:
    found = context.results.find(name)
    if found is None:
        raise not_found("result")
    return found


def page_of(report: str) -> Response:
    """Uses the security policy in the report's head."""
    return HTMLResponse(report, headers={"Content-Security-Policy": report_policy(report)})
