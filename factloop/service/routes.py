"""Routes beside those of jobs: the page, health, metrics, information and results."""

from __future__ import annotations

import asyncio

from fastapi import APIRouter
from fastapi.responses import HTMLResponse, JSONResponse, Response
from prometheus_client import CONTENT_TYPE_LATEST

from factloop.service.context import InContext, Open, Owner, ServiceContext, answers, page_and
from factloop.service.errors import RequestRefusal
from factloop.service.pages import INDEX, PAGE_POLICY, report_policy
from factloop.service.results import Result
from factloop.service.shapes import Health, Info, ResultList

router = APIRouter()


@router.get("/", response_class=HTMLResponse, include_in_schema=False)
async def page(context: InContext) -> Response:
    return _asset(context, INDEX)


@router.get("/assets/{name}", include_in_schema=False)
async def asset(name: str, context: InContext) -> Response:
    return _asset(context, name)


@router.get("/health", tags=["state"])
async def health() -> Health:
    """Whether the process answers."""
    return Health(status="ok")


@router.get("/ready", tags=["state"], response_model=Health, responses={503: {"model": Health}})
async def ready(context: InContext) -> Response:
    """Whether new work is taken: it looks whether the database takes a row, and the folder a file."""
    if context.opened is None or context.is_stopping:
        state = Health(status="stopping")
    else:
        troubles = await context.opened.readiness.troubles()
        state = Health(status="unready" if troubles else "ok", troubles=troubles)
    return JSONResponse(state.model_dump(mode="json"), status_code=200 if state.status == "ok" else 503)


@router.get("/metrics", tags=["state"], response_class=Response, responses={200: {"content": {"text/plain": {}}}})
async def metrics(context: InContext) -> Response:
    """Counts for Prometheus."""
    return Response(context.metrics.text(), media_type=CONTENT_TYPE_LATEST)


@router.get("/v1/info", tags=["state"], responses=answers(503))
async def info(opened: Open, _owner: Owner) -> Info:
    """Describes this service."""
    return opened.info


@router.get("/v1/results", tags=["results"], responses=answers())
async def results(context: InContext, _owner: Owner) -> ResultList:
    """Audits, comparisons, experiments and runs that the operator registered."""
    return ResultList(results=tuple(await asyncio.to_thread(context.results.all)))


@router.get("/v1/results/{name}.json", tags=["results"], responses=answers(404, 422))
async def result(name: str, context: InContext, _owner: Owner) -> Response:
    """One registered result as JSON."""
    return Response((await _result(context, name)).text, media_type="application/json")


@router.get("/v1/results/{name}/page.html", tags=["results"], response_class=Response, responses=page_and(404, 422))
async def result_page(name: str, context: InContext, _owner: Owner) -> Response:
    """One registered result as a page that needs nothing else."""
    found = await _result(context, name)
    drawn = await asyncio.to_thread(found.kind.render, found.record)
    return HTMLResponse(drawn, headers={"Content-Security-Policy": report_policy(drawn)})


async def _result(context: ServiceContext, name: str) -> Result:
    found = await asyncio.to_thread(context.results.find, name)
    if found is None:
        raise RequestRefusal(404, "not_found", "there is no such result")
    return found


def _asset(context: ServiceContext, name: str) -> Response:
    asset = context.assets.get(name)
    if asset is None:
        raise RequestRefusal(404, "not_found", "there is no such page")
    headers = {"Content-Security-Policy": PAGE_POLICY, "Cache-Control": "no-cache"}
    return Response(asset.body, media_type=asset.media_type, headers=headers)
