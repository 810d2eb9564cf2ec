"""Long responses of a model to prompts, as the models under test are asked in the paper (Wei et al. 2024, section 6).

Departures from the released code: a response may be four times as long (4,096 tokens), the postamble is in our own
words, and a call that fails leaves its prompt unanswered instead of being repeated without end.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from contextlib import aclosing
from datetime import UTC, datetime
from pathlib import Path

from langchain_core.language_models import BaseChatModel

from factloop.agents.reasons import reason_of
from factloop.agents.trustscore.undressing import after_thinking
from factloop.core.errors import ConfigError, FactloopError, ModelOutputError
from factloop.core.records import Usage
from factloop.evaluation.datasets.longfact import AnyPrompt, with_postamble
from factloop.evaluation.generation.records import GeneratedBy, GeneratedResponse, ResponsesReport, Unanswered
from factloop.evaluation.generation.response_file import Asked, ResponseFile, check_same_run, read_earlier
from factloop.evaluation.generation.settings import ResponseSettings
from factloop.prompts.registry import PromptRegistry
from factloop.setup.chat_model import build_model
from factloop.setup.session import open_session
from factloop.tools.calls.meter import UsageMeter
from factloop.tools.calls.together import as_they_come
from factloop.tools.models.chat import ChatModel
from factloop.tools.models.gateway import ModelGateway

RESPOND = "respond"
"""Name of the stage in the account of a run."""

Outcome = GeneratedResponse | Unanswered


def as_asked(prompts: Iterable[AnyPrompt], *, postamble: bool) -> list[Asked]:
    """The prompts as they are put to the model: by themselves, or with the request for detail after each."""
    return [
        Asked(prompt.id, prompt.topic, with_postamble(prompt.prompt) if postamble else prompt.prompt)
        for prompt in prompts
    ]


async def generate_responses(
    asked: Sequence[Asked],
    settings: ResponseSettings,
    out: Path,
    *,
    data: str,
    system: str | None = None,
    model: BaseChatModel | None = None,
    note: Callable[[Usage], None] = lambda _: None,
) -> ResponsesReport:
    """Asks for the responses that `out` does not hold yet, and appends each as it comes, in no certain order.

    Costs money. `out` may be of an earlier start with the same arguments (more prompts are no harm): what it holds is
    not asked again. `note` is called for each prompt that is done with, and what that one cost. `model` is a chat model
    that the caller built; otherwise the settings name one. A prompt without an answer is in the report, with the
    reason, and in no row. Raises ConfigError and DataError for what is wrong before anything is spent, ConfigError for
    a disk that fails.
    """
    started = time.perf_counter()
    chat = build_model(
        settings,
        model if model is not None else settings.named_model,
        base_url=settings.base_url,
        temperature=settings.temperature,
    )
    try:
        generated_by, name = GeneratedBy.of(chat), system if system is not None else chat.name
        by_id = {prompt.id: prompt for prompt in asked}
        with ResponseFile(out) as file:
            earlier = read_earlier(out)
            check_same_run(out, earlier, by_id, system=name, generated_by=generated_by)
            file.go_on_after(earlier)
            for _ in earlier.rows:
                note(Usage())
            left = [prompt for prompt in asked if prompt.id not in earlier.rows]
            responses, unanswered, usage = await _ask_all(left, settings, chat, name, file, note)
    finally:
        await chat.aclose()
    rows = [*earlier.rows.values(), *responses]
    return ResponsesReport(
        out=str(out),
        data=data,
        system=name,
        generated_by=generated_by,
        n_prompts=len(by_id),
        n_answered=len(rows),
        n_earlier=len(earlier.rows),
        n_cut_off=sum(row.cut_off for row in rows),
        unanswered=tuple(sorted(unanswered, key=lambda one: one.prompt_id)),
        usage=usage.snapshot(time.perf_counter() - started),
        created_at=datetime.now(UTC),
    )


async def _ask_all(
    left: Sequence[Asked],
    settings: ResponseSettings,
    chat: ChatModel,
    system: str,
    file: ResponseFile,
    note: Callable[[Usage], None],
) -> tuple[list[GeneratedResponse], list[Unanswered], UsageMeter]:
    prompts = PromptRegistry.load(settings.prompts)
    session = open_session(settings, prompts, keeps=chat.persistent, seed=settings.seed)
    gateway = session.model(chat)
    total = UsageMeter()
    responses: list[GeneratedResponse] = []
    unanswered: list[Unanswered] = []

    async def respond(prompt: Asked) -> tuple[Outcome, Usage]:
        meter = UsageMeter()
        outcome = await _respond(prompt, gateway, system, meter)
        if isinstance(outcome, GeneratedResponse):
            file.append(outcome)  # here and not below, where it would wait for its turn
        return outcome, meter.snapshot(0.0)

    try:
        at_once = settings.concurrency or max(1, len(left))
        async with aclosing(as_they_come(left, respond, at_once=at_once)) as outcomes:
            async for outcome, usage in outcomes:
                total.add(usage)
                note(usage)
                if isinstance(outcome, GeneratedResponse):
                    responses.append(outcome)
                else:
                    unanswered.append(outcome)
    finally:
        await session.aclose()
    return responses, unanswered, total


async def _respond(prompt: Asked, gateway: ModelGateway, system: str, meter: UsageMeter) -> Outcome:
    try:
        said = await gateway.ask_freely(prompt.text, stage=RESPOND, meter=meter)
        response = after_thinking(said.text)
        if not response:
            end = ", which was cut off at the token limit" if said.cut_off else ""
            raise ModelOutputError(f"nothing but thinking{end}", schema="free answer", reply=said.text)
    except ConfigError:
        raise
    except FactloopError as error:
        return Unanswered(prompt_id=prompt.id, reason=reason_of(error), said=str(error))
    return GeneratedResponse(
        id=f"{prompt.id}/{system}",
        system=system,
        prompt_id=prompt.id,
        topic=prompt.topic,
        prompt=prompt.text,
        response=response,
        cut_off=said.cut_off,
        generated_by=GeneratedBy.of(gateway.chat),
    )
