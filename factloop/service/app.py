"""Builds the service as an ASGI application and runs it with uvicorn. Stopping it loses no work."""

from __future__ import annotations

import asyncio
import logging
import signal
import socket
import sys
import threading
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import ExitStack, asynccontextmanager, contextmanager
from functools import partial, reduce
from pathlib import Path
from typing import Any

import uvicorn
from fastapi import FastAPI, Request, Security
from fastapi.exceptions import RequestValidationError
from fastapi.responses import Response
from filelock import FileLock, Timeout
from starlette.exceptions import HTTPException

import factloop
from factloop.checking.preparing import prepare
from factloop.core.errors import ConfigError, FactloopError
from factloop.core.extras import is_installed
from factloop.core.files.private import FILE_MODE, make_private_folder
from factloop.entrance.address import address_of
from factloop.entrance.callers import server_config
from factloop.entrance.documents import hiding_checker, open_corpus
from factloop.entrance.work_loop import WorkLoop
from factloop.reports.figures import plural
from factloop.service import routes, routes_jobs
from factloop.service.access import RateLimits, Tickets
from factloop.service.errors import RequestRefusal, failure_words
from factloop.service.guard import ServiceGuard
from factloop.service.jobs import Jobs, Readiness
from factloop.service.kept import Database
from factloop.service.metrics import Metrics
from factloop.service.pages import load_assets
from factloop.service.places import Places
from factloop.service.reading import FileReader, read_file
from factloop.service.results import ResultFolder
from factloop.service.routes import LoopServices, ServiceContext
from factloop.service.settings import ServiceSettings
from factloop.service.shapes import Info, LimitsInfo
from factloop.service.spending import DayLimits, day_limits
from factloop.service.store import JobStore
from factloop.service.work import Library, Work, open_library
from factloop.setup.chat_model import build_model
from factloop.setup.limits import Limits
from factloop.setup.settings import CheckSettings
from factloop.tools.models.chat import ChatModel
from factloop.trust.scorer import TrustScorer
from factloop.trust.settings import TrustSettings

DEADLINE_S = 3_600.0  # default time limit of a check, in seconds
SWITCH_S = 0.001  # maximum seconds for which a busy thread can delay requests (a fifth of Python's default)

log = logging.getLogger(__name__)


def build_app(settings: ServiceSettings, check: CheckSettings, trust: TrustSettings) -> FastAPI:
    """Builds the application, which opens its resources on startup. Raises ConfigError."""
    check = check.model_copy(update={"deadline_s": DEADLINE_S}) if check.deadline_s is None else check
    day = day_limits(settings, check, trust)
    context = ServiceContext(
        settings,
        Metrics(settings.keys.names),
        ResultFolder(settings.results),
        Tickets(settings.keys),
        RateLimits(settings.rate),
        load_assets(),
    )

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        async with _opened(context, check, trust, day):
            yield

    app = FastAPI(
        title="factloop",
        version=factloop.__version__,
        description="Check what a language model wrote against your documents or the web, claim by claim.",
        lifespan=lifespan,
        servers=None if settings.public_url is None else [{"url": settings.public_url}],
        docs_url=None,  # these pages would load scripts and styles from other servers
        redoc_url=None,
    )
    app.state.context = context
    app.include_router(routes.open_to_all)
    key, ticket = ([Security(routes.KEY)], [Security(routes.TICKET)]) if settings.keys else ([], [])
    for part in (routes, routes_jobs):
        app.include_router(part.with_key, dependencies=key)
        app.include_router(part.with_ticket, dependencies=[*key, *ticket])
    for error, handler in _HANDLERS.items():
        app.add_exception_handler(error, handler)
    app.add_middleware(ServiceGuard, context=context)
    return app


@asynccontextmanager
async def _opened(
    context: ServiceContext, check: CheckSettings, trust: TrustSettings, day: DayLimits
) -> AsyncIterator[None]:
    settings = context.settings
    folder = settings.place
    try:
        make_private_folder(folder)
    except OSError as error:
        raise ConfigError(f"cannot use the folder {folder}: {error.strerror or error}") from error
    with ExitStack() as kept:
        most_bytes, most_kept = (int(mb * 1_000_000) for mb in (settings.max_body_mb, settings.max_kept_mb))
        store = JobStore(settings.database_url, most_bytes=most_bytes, most_kept=most_kept)
        kept.callback(store.close)
        if not store.is_shared:  # services that share a database should also share the folder
            kept.enter_context(_sole_use(folder))
        kept.enter_context(store.held())
        chat = build_chat(check)
        library = await open_library(settings.paths_of_documents, check)
        work = await _work(check, trust, chat, library, day)
        database = Database(store)
        jobs = Jobs(database, work, folder / "journals", context.metrics, settings, day)
        info = _info(settings, check, trust, chat, library)
        readiness = Readiness(jobs, folder, work.awarm_up)
        places = Places()
        files = FileReader(places, partial(read_file, most_bytes))
        context.opened = LoopServices(jobs, work, info, readiness, places, files)
        await jobs.start()
        watching = [asyncio.create_task(one()) for one in (context.metrics.watch_loop, library.watch)]
        context.rates.share(database)
        try:
            yield
        finally:
            context.rates.share(None)
            jobs.begin_stop()
            files.stop()
            places.stop()
            for task in (readiness.warming, *watching):
                task.cancel()
            try:
                await jobs.aclose()
            finally:
                await asyncio.gather(readiness.warming, *watching, return_exceptions=True)
                await work.aclose()
                context.opened = None


@contextmanager
def _sole_use(folder: Path) -> Iterator[None]:
    try:
        with FileLock(folder / "lock", timeout=0, mode=FILE_MODE):
            yield
    except Timeout as error:
        raise ConfigError(f"{folder} is in use by another service; choose a different --folder") from error


def build_chat(check: CheckSettings) -> ChatModel | None:
    """Builds the model that all checks share. Raises ConfigError if it cannot be used."""
    if check.model is None:
        return None
    return build_model(check, check.model, base_url=check.base_url, temperature=check.temperature)


async def _work(
    check: CheckSettings, trust: TrustSettings, chat: ChatModel | None, library: Library, day: DayLimits
) -> Work:
    checker = await asyncio.to_thread(hiding_checker, chat, settings=check)
    if checker.has_sources:
        await asyncio.to_thread(lambda: checker.tools)
    corpus = await asyncio.to_thread(open_corpus, trust)
    scorer = TrustScorer(settings=trust, corpus=() if corpus is None else corpus, pace=checker.pace)
    loop = WorkLoop()
    try:
        if trust.subject_model or trust.corpus:
            await loop.do(scorer.aopen)
    except BaseException:
        await loop.aclose()
        raise
    return Work(checker, scorer, library, chat, loop, day.share)


def _info(
    settings: ServiceSettings, check: CheckSettings, trust: TrustSettings, chat: ChatModel | None, library: Library
) -> Info:
    return Info(
        version=factloop.__version__,
        judge=prepare(check, (), model=chat).fingerprint.judge,
        documents=library.info,
        can_search=bool(check.search or check.docs),
        limits=LimitsInfo(
            max_body_bytes=int(settings.max_body_mb * 1_000_000),
            max_kept_bytes=int(settings.max_kept_mb * 1_000_000),
            max_running=settings.max_jobs,
            max_running_together=settings.max_jobs_together,
            max_queued=settings.max_queued,
            budget_usd_per_day=settings.budget_usd_per_day,
            max_calls_per_day=settings.max_calls_per_day,
            rate=settings.rate,
            each_check=Limits.of_lone_check(check),
        ),
        has_results=settings.results is not None,
        needs_key=bool(settings.keys),
        trust=is_installed("trust"),
        has_subject=trust.subject_model is not None,
    )


def in_words(app: FastAPI) -> str:
    """Summarizes the setup in one line: keys, documents, model, and the model's limits for a check."""
    context: ServiceContext = app.state.context
    assert context.opened is not None
    keys, work = context.settings.keys, context.opened.work
    files = (f"documents {one.name}: {plural(one.n_files, 'file')}" for one in context.opened.info.documents)
    said = [plural(len(keys), "key"), *files]
    if (model := work.checker.settings.model) is None:
        return ", ".join((*said, "no model, so checks cost nothing"))
    each = {work.most_for(owner) for owner in keys.grants}
    least = reduce(Limits.within, each)
    most = [] if least.max_calls is None else [plural(least.max_calls, "model call")]
    most += [] if least.budget_usd is None else [f"{least.budget_usd:.4f} USD"]
    said += [f"at most {' and '.join(most)} a check{' (some keys allow more)' * (len(each) > 1)}"] if most else []
    return ", ".join((*said, f"model {model}"))


async def _on_refused(request: Request, error: Any) -> Response:
    body, media_type = error.body(request.scope["request_id"])
    return Response(body, error.status, headers=error.headers, media_type=media_type)


async def _on_invalid(request: Request, error: Any) -> Response:
    """For a union, reports the most deeply nested error, which usually concerns the intended type."""
    wrong: Any = max(error.errors(), key=lambda one: (len(one["loc"]), not one["type"].endswith("_type")))
    if wrong["type"] == "json_invalid":
        return await _on_refused(request, RequestRefusal(422, "invalid_input", "the body must be JSON"))
    place = [str(part) for part in wrong["loc"][1:] if isinstance(part, int) or part.isidentifier()]
    return await _on_refused(request, RequestRefusal(422, "invalid_input", wrong["msg"], field=".".join(place) or None))


async def _on_http(request: Request, error: Any) -> Response:
    type = {404: "not_found", 405: "wrong_method"}.get(error.status_code, "bad_request")
    refused = RequestRefusal(error.status_code, type, str(error.detail), headers=error.headers)
    return await _on_refused(request, refused)


async def _on_failure(request: Request, error: Any) -> Response:
    log.warning("request %s failed: %s", request.scope["request_id"], error)
    words = failure_words(error)
    status = 422 if words.type == "invalid_input" else 503
    return await _on_refused(request, RequestRefusal(status, words.type, words.message))


_HANDLERS: dict[type[Exception], Any] = {
    RequestValidationError: _on_invalid,
    HTTPException: _on_http,
    RequestRefusal: _on_refused,
    FactloopError: _on_failure,
}


async def serve(app: FastAPI, *, ready: Callable[[str], None]) -> None:
    """Serves until SIGINT or SIGTERM. `ready` receives the URL. Raises ConfigError if the service cannot start."""
    context: ServiceContext = app.state.context
    settings = context.settings
    config = server_config(
        app,
        settings.header_timeout_s,
        lifespan="off",  # run below, so that its errors are reported unchanged
        proxy_headers=bool(settings.trusted_proxy),
        forwarded_allow_ips=list(settings.trusted_proxy),
        timeout_graceful_shutdown=round(settings.stop_timeout_s),
    )
    with settings.binding.listening() as listening:
        async with app.router.lifespan_context(app):
            server = _Server(config)
            server.context = context
            sys.setswitchinterval(SWITCH_S)
            ready(address_of(listening))
            if threading.current_thread() is threading.main_thread():
                for number in (signal.SIGINT, signal.SIGTERM):  # the server raises them again after it has stopped
                    signal.signal(number, lambda *_: None)
            await server.serve(sockets=[listening])


class _Server(uvicorn.Server):
    """Ends open streams and pending responses before it stops, so that connections can close."""

    context: ServiceContext

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        if (opened := self.context.opened) is not None:
            opened.jobs.begin_stop()
            opened.places.begin_stop()
            for stop in (opened.files.stop, opened.places.stop):
                asyncio.get_running_loop().call_later(self.context.settings.drain_s, stop)
        await super().shutdown(sockets)
