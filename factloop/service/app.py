"""The service as an ASGI application."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Iterator
from contextlib import ExitStack, asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import Response
from filelock import FileLock, Timeout
from starlette.exceptions import HTTPException

import factloop
from factloop.checking.checker import FactChecker
from factloop.checking.preparing import prepare
from factloop.core.errors import ConfigError, FactloopError
from factloop.core.files.private import FILE_MODE, make_private_folder
from factloop.entrance.documents import hiding_checker, open_corpus
from factloop.service import routes, routes_asking, routes_jobs, routes_labels, routes_tickets
from factloop.service.attempts import KeyAttempts
from factloop.service.context import LoopServices, ServiceContext
from factloop.service.documents import Library, open_library
from factloop.service.errors import RequestRefusal, failure_words
from factloop.service.guard import ServiceGuard
from factloop.service.jobs import Jobs
from factloop.service.kept import Database
from factloop.service.metrics import Metrics
from factloop.service.openapi import describe_keys
from factloop.service.pages import load_assets
from factloop.service.rates import RateLimits
from factloop.service.readiness import Readiness
from factloop.service.results import ResultFolder
from factloop.service.settings import ServiceSettings
from factloop.service.shapes import Info, LimitsInfo
from factloop.service.spending import day_limits
from factloop.service.store import JobStore
from factloop.service.tickets import Tickets
from factloop.service.windows import Windows
from factloop.service.work import Work
from factloop.setup.chat_model import build_model
from factloop.setup.limits import Limits
from factloop.setup.pace import Pace
from factloop.setup.settings import CheckSettings
from factloop.tools.models.chat import ChatModel
from factloop.trust.scorer import TrustScorer
from factloop.trust.settings import TrustSettings

TITLE = "factloop"

log = logging.getLogger(__name__)


def build_app(settings: ServiceSettings, check: CheckSettings, trust: TrustSettings) -> FastAPI:
    """The application; what it opens, it opens when it is started and closes when it is stopped. Raises ConfigError."""
    day_limits(settings, check, trust)
    metrics, windows, tickets = Metrics(), Windows(), Tickets(settings.keys)
    rates, attempts = RateLimits(settings.rate, windows), KeyAttempts(windows)
    context = ServiceContext(settings, metrics, ResultFolder(settings.results), tickets, windows, load_assets())

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        async with _opened(context, check, trust):
            yield

    app = FastAPI(
        title=TITLE,
        version=factloop.__version__,
        description="Which claims of a long answer hold, on what evidence, and how far to trust the number.",
        lifespan=lifespan,
        servers=None if settings.public_url is None else [{"url": settings.public_url}],
        docs_url=None,  # their scripts and styles would come from elsewhere
        redoc_url=None,
    )
    app.state.context = context
    for part in (routes, routes_asking, routes_jobs, routes_labels, routes_tickets):
        app.include_router(part.router)
    app.add_exception_handler(RequestValidationError, _on_invalid)
    app.add_exception_handler(HTTPException, _on_http)
    app.add_exception_handler(RequestRefusal, _on_refused)
    app.add_exception_handler(FactloopError, _on_failure)
    describe_keys(app, needs_key=bool(settings.keys))
    app.add_middleware(
        ServiceGuard, settings=settings, metrics=metrics, rates=rates, attempts=attempts, tickets=tickets
    )
    return app


@asynccontextmanager
async def _opened(context: ServiceContext, check: CheckSettings, trust: TrustSettings) -> AsyncIterator[None]:
    settings = context.settings
    folder = settings.folder or default_folder()
    try:
        make_private_folder(folder)
    except OSError as error:
        raise ConfigError(f"{folder}: cannot be used ({error.strerror or error})") from error
    with ExitStack() as kept:
        store = JobStore(settings.database or f"sqlite:///{folder / 'jobs.sqlite'}")
        kept.callback(store.close)
        if not store.is_shared:  # services that share a database should share the folder, too
            kept.enter_context(_sole_use(folder))
        kept.enter_context(store.held())
        chat = build_chat(check)
        library = await open_library(settings.documents, check)
        checker = await asyncio.to_thread(_checker, check, chat)
        work = Work(checker, await _scorer(trust, checker.pace), library, chat)
        database = Database(store)
        jobs = Jobs(
            database,
            work,
            folder / "journals",
            context.metrics,
            max_running=settings.max_jobs,
            max_running_together=settings.max_jobs_together,
            max_queued=settings.max_queued,
            lease_s=settings.lease_s,
            keep_days=settings.keep_days,
            day=day_limits(settings, check, trust),
        )
        info = _info(settings, check, trust, chat, library)
        context.opened = LoopServices(jobs, work, info, Readiness(jobs, folder))
        await jobs.start()
        context.windows.share(database)
        try:
            yield
        finally:
            context.windows.share(None)
            await jobs.aclose()
            await work.aclose()
            context.opened = None


@contextmanager
def _sole_use(folder: Path) -> Iterator[None]:
    """Holds a folder for this service alone. Raises ConfigError if another service holds it."""
    try:
        with FileLock(folder / "lock", timeout=0, mode=FILE_MODE):
            yield
    except Timeout as error:
        raise ConfigError(f"{folder}: another service is at work there; name another folder (--folder)") from error


def default_folder() -> Path:
    """The service's folder in the user's data."""
    import platformdirs

    return Path(platformdirs.user_data_dir("factloop", appauthor=False)) / "service"


def build_chat(check: CheckSettings) -> ChatModel | None:
    """The model that all checks share, with its connections. Raises ConfigError for one that cannot be asked."""
    if check.model is None:
        return None
    return build_model(check, check.model, base_url=check.base_url, temperature=check.temperature)


def _checker(check: CheckSettings, chat: ChatModel | None) -> FactChecker:
    """The checker of all jobs. It reads and indexes its own documents, which blocks; a name hides where they lie."""
    checker = hiding_checker(chat, settings=check)
    if checker.has_sources:
        _ = checker.tools  # what is wrong with them is said now
    return checker


async def _scorer(trust: TrustSettings, pace: Pace) -> TrustScorer:
    """The scorer of all jobs, at the pace of checks; opened now, so that a wrong set-up shows at the start.

    A name hides where its corpus lies.
    """
    corpus = await asyncio.to_thread(open_corpus, trust)
    scorer = TrustScorer(settings=trust, corpus=() if corpus is None else corpus, pace=pace)
    if trust.subject_model or trust.corpus:
        await scorer.aopen()
    return scorer


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
            max_running=settings.max_jobs,
            max_running_together=settings.max_jobs_together,
            max_queued=settings.max_queued,
            budget_usd_per_day=settings.budget_usd_per_day,
            max_calls_per_day=settings.max_calls_per_day,
            rate=settings.rate,
            each_check=Limits.of_lone_check(check),
        ),
        needs_key=bool(settings.keys),
        trust=bool(trust.subject_model or trust.corpus),
    )


async def _on_refused(request: Request, error: Exception) -> Response:
    assert isinstance(error, RequestRefusal)
    body, media_type = error.body(request.scope["request_id"])
    return Response(body, error.status, headers=error.headers, media_type=media_type)


async def _on_invalid(request: Request, error: Exception) -> Response:
    """Refuses invalid input with one error in one line; what was sent is not sent back.

    Where one of several shapes would do, the error that lies deepest is that of the shape that was meant, and among
    equals one that is not of the type.
    """
    assert isinstance(error, RequestValidationError)
    wrong: Any = max(error.errors(), key=lambda one: (len(one["loc"]), not one["type"].endswith("_type")))
    if wrong["type"] == "json_invalid":
        return await _on_refused(request, RequestRefusal(422, "invalid_input", "the body is not JSON"))
    place = [str(part) for part in wrong["loc"][1:] if isinstance(part, int) or part.isidentifier()]
    return await _on_refused(request, RequestRefusal(422, "invalid_input", wrong["msg"], field=".".join(place) or None))


async def _on_http(request: Request, error: Exception) -> Response:
    """Answers a request that no route was found for, and a body that cannot be parsed at all."""
    assert isinstance(error, HTTPException)
    types = {404: "not_found", 405: "wrong_method"}
    refused = RequestRefusal(
        error.status_code, types.get(error.status_code, "bad_request"), str(error.detail), headers=error.headers
    )
    return await _on_refused(request, refused)


async def _on_failure(request: Request, error: Exception) -> Response:
    assert isinstance(error, FactloopError)
    log.warning("request %s failed: %s", request.scope["request_id"], error)
    words = failure_words(error)
    return await _on_refused(
        request, RequestRefusal(422 if words.type == "invalid_input" else 503, words.type, words.message)
    )
