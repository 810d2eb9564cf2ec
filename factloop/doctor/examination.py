"""Tests all configured parts concurrently."""

from __future__ import annotations

import asyncio
import platform
import time
from collections.abc import Iterator, Sequence
from functools import partial

import factloop
from factloop.core.errors import ConfigError, ToolError
from factloop.core.extras import PACKAGES, install_command, is_installed
from factloop.doctor.controls import ask_controls, ask_judge
from factloop.doctor.looking import Look, WorkingPart, in_thread
from factloop.doctor.parts import (
    ask_model,
    look_at_documents,
    looks_at_local_parts,
    looks_at_names,
    looks_at_searches,
    named_judge_of,
    offline_engine,
)
from factloop.doctor.records import Diagnosis, ExtraFound, Part, PartFound
from factloop.prompts.registry import PromptRegistry
from factloop.setup.chat_model import build_model
from factloop.setup.settings import CheckSettings, RunSettings
from factloop.tools.calls.meter import UsageMeter
from factloop.tools.models.chat import ChatModel
from factloop.tools.models.context_length import listed_names
from factloop.trust.settings import TrustSettings

QUESTIONS = 8  # time limit for a test, in calls: two calls, with repairs and changes of mode
CALLS = 30  # time limit for the controls, in calls
NO_SUCH_MODEL = 404
MOST_NAMED, LONGEST_NAME = 8, 100
"""How many of a server's models to list, and the maximum length of each name in characters."""
COULD_BE: dict[Part, str] = {
    "model": "To use a model, set --model; see docs/models.md.",
    "subject_model": "For TrustBC, set the model to test with --subject-model.",
    "search": "To search the web, set --search; see docs/search.md.",
    "documents": "To check against documents, set files or folders with --docs.",
}
"""Parts that many users want, with advice on how to configure them."""


async def diagnose(
    check: CheckSettings, trust: TrustSettings, others: Sequence[Look] = (), *, controls: bool = False
) -> Diagnosis:
    """Tests everything in these settings and in `others`, and lists parts that are not configured.

    Sends one or two requests to each model, search and server, each of which costs at most a fraction of a cent. With
    `controls`, the judge also checks known sentences, which takes at least 3 calls. Does not read the cache, and saves
    nothing. Reports failures as findings instead of raising FactloopError.
    """
    meter, started = UsageMeter(), time.perf_counter()
    looks = [*_looks(check, trust, meter), *others]
    taken = await asyncio.gather(*(look.taken(QUESTIONS * check.timeout_s) for look in looks))
    if controls:
        name = check.model or check.judge or "offline engine"
        ask = ask_judge if check.judge is not None and check.model is None else ask_controls
        taken.append(await Look("controls", name, partial(ask, check, meter)).taken(CALLS * check.timeout_s))
    there = {found.part for found in taken}
    absent = [
        PartFound(part=part, name="", state="not_configured", advice=advice)
        for part, advice in COULD_BE.items()
        if part not in there
    ]
    return Diagnosis(
        factloop_version=factloop.__version__,
        python_version=platform.python_version(),
        works=all(found.state == "works" for found in taken),
        parts=(*taken, *absent),
        extras=tuple(
            ExtraFound(extra=extra, installed=is_installed(extra), install=install_command(extra)) for extra in PACKAGES
        ),
        usage=meter.snapshot(time.perf_counter() - started),
    )


def _looks(check: CheckSettings, trust: TrustSettings, meter: UsageMeter) -> Iterator[Look]:
    yield from _looks_at_models(check, trust, meter)
    yield from looks_at_searches(check, meter)
    if check.docs:
        yield look_at_documents("documents", check.docs)
    if trust.corpus:
        yield look_at_documents("corpus", trust.corpus)
    yield from looks_at_names(trust)
    yield from looks_at_local_parts(check, trust)


def _looks_at_models(check: CheckSettings, trust: TrustSettings, meter: UsageMeter) -> Iterator[Look]:
    if check.model is not None:
        yield _look_at_model("model", check, check.model, check.base_url, check.temperature, meter)
    elif check.judge is not None:
        yield Look("model", check.judge, in_thread(partial(named_judge_of, check)))
    elif check.base_url is not None and trust.subject_model is None and trust.judge_model is None:
        yield Look("model", "", _nameless)
    elif is_installed("offline"):
        yield Look("model", "offline engine", in_thread(offline_engine))
    if trust.subject_model is not None:
        yield _look_at_model("subject_model", trust, trust.subject_model, trust.base_url, trust.temperature, meter)
    if trust.judge_model is not None:
        base_url = trust.judge_base_url or trust.base_url
        yield _look_at_model("judge_model", trust, trust.judge_model, base_url, trust.temperature, meter)


def _look_at_model(
    part: Part, settings: RunSettings, name: str, base_url: str | None, temperature: float | None, meter: UsageMeter
) -> Look:
    async def ask() -> WorkingPart:
        asked = settings.model_copy(update={"recording": None})  # so that the model itself is tested
        chat = build_model(asked, name, base_url=base_url, temperature=temperature)
        may_search = isinstance(settings, CheckSettings) and settings.tool_calling
        try:
            return await ask_model(asked, chat, PromptRegistry.load(settings.prompts), meter, may_search=may_search)
        except ConfigError as error:
            if isinstance(error.__cause__, ToolError) and error.__cause__.status == NO_SUCH_MODEL:
                raise await _naming_models(error.__cause__, chat) from None
            raise
        finally:
            await chat.aclose()

    return Look(part, name, ask)


async def _naming_models(error: ToolError, chat: ChatModel) -> ToolError:
    names = [name[:LONGEST_NAME] for name in await listed_names(chat)]
    if not names:
        return error
    more = f" and {len(names) - MOST_NAMED:,} more" if len(names) > MOST_NAMED else ""
    said = f"{error}; the server offers {', '.join(names[:MOST_NAMED])}{more}"
    return ToolError(said, tool=error.tool, status=error.status)


async def _nameless() -> WorkingPart:
    raise ConfigError("--base-url needs a model: set --model, for example to openai:NAME")
