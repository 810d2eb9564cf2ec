"""Generates long responses to prompts with a model, as in the paper (Wei et al. 2024, section 6).

Departures from the released code: a response may be four times as long (4,096 tokens), we worded the postamble
ourselves, and a prompt whose call fails is left unanswered instead of being retried forever.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from contextlib import AsyncExitStack, aclosing
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from langchain_core.language_models import BaseChatModel

from factloop.agents.reasons import reason_of
from factloop.agents.trustscore.choices import after_thinking
from factloop.core.errors import ConfigError, FactloopError, ModelOutputError
from factloop.evaluation.datasets.longfact import AnyPrompt
from factloop.evaluation.generation.records import GeneratedBy, GeneratedResponse, ResponsesReport, UnansweredPrompt
from factloop.evaluation.generation.response_file import Outcome, open_responses
from factloop.evaluation.generation.settings import ResponseSettings
from factloop.evaluation.running.run import Events, Increments, Run, judged_here
from factloop.prompts.registry import PromptRegistry
from factloop.setup.session import open_session
from factloop.tools.calls.meter import UsageMeter
from factloop.tools.models.gateway import ModelGateway

RESPOND = "respond"
"""The name of this stage in the usage of a run."""


async def astream_responses(
    asked: Sequence[AnyPrompt],
    settings: ResponseSettings,
    out: Path,
    *,
    data: str,
    system: str | None = None,
    model: BaseChatModel | None = None,
) -> Events[Outcome, ResponsesReport]:
    """Requests the responses that are missing from `out`, and appends each as it arrives. Costs money.

    `out` may come from an earlier run with the same arguments or with fewer prompts. Its answers are kept. `model`
    replaces the model in the settings. A prompt without an answer has no row in `out`, but the report lists it with the
    reason. Raises ConfigError and DataError for errors found before any money is spent, and ConfigError if writing
    fails. A caller that stops early must close the stream (`contextlib.aclosing`).
    """
    started = time.perf_counter()
    async with AsyncExitStack() as stack:
        chat = settings.writer(model)
        stack.push_async_callback(chat.aclose)
        generated_by, name = GeneratedBy.of(chat), system if system is not None else chat.name
        by_id = {prompt.id: prompt for prompt in asked}
        log = stack.enter_context(open_responses(out, by_id, system=name, generated_by=generated_by))
        prompts = PromptRegistry.load(settings.prompts)
        session = open_session(settings, prompts, keeps=chat.persistent, seed=settings.seed)
        stack.push_async_callback(session.aclose)
        asking = _ResponseRequests(session.model(chat), name, started)
        known = {"out": str(out), "data": data, "n_prompts": len(by_id), "n_earlier": len(log.finished)}
        run = Run(
            items=tuple(by_id.values()),
            key=lambda prompt: prompt.id,
            log=log,
            engine=judged_here(asking.respond, at_once=settings.concurrency or max(1, len(by_id))),
            usage=Increments(lambda: asking.spent.snapshot(0.0)),
            summarise=lambda rows: asking.report(rows, **known),
        )
        async with aclosing(run.stream()) as events:
            async for event in events:
                yield event


@dataclass
class _ResponseRequests:
    gateway: ModelGateway
    system: str
    started: float
    spent: UsageMeter = field(default_factory=UsageMeter)
    unanswered: list[UnansweredPrompt] = field(default_factory=list)

    async def respond(self, prompt: AnyPrompt) -> Outcome:
        meter = UsageMeter()
        outcome = await _respond(prompt, self.gateway, self.system, meter)
        self.spent.add(meter.snapshot(0.0))
        if isinstance(outcome, UnansweredPrompt):
            self.unanswered.append(outcome)
        return outcome

    def report(self, rows: Iterator[Outcome], **known: Any) -> ResponsesReport:
        cut_off = [isinstance(row, GeneratedResponse) and row.cut_off for row in rows]
        return ResponsesReport(
            system=self.system,
            generated_by=GeneratedBy.of(self.gateway.chat),
            n_answered=len(cut_off),
            n_cut_off=sum(cut_off),
            unanswered=tuple(sorted(self.unanswered, key=lambda one: one.prompt_id)),
            usage=self.spent.snapshot(time.perf_counter() - self.started),
            created_at=datetime.now(UTC),
            **known,
        )


async def _respond(prompt: AnyPrompt, gateway: ModelGateway, system: str, meter: UsageMeter) -> Outcome:
    try:
        said = await gateway.ask_freely(prompt.sent or prompt.prompt, stage=RESPOND, meter=meter)
        response = after_thinking(said.text)
        if not response:
            end = ", which was cut off at the token limit" if said.cut_off else ""
            raise ModelOutputError(f"the reply contains only thinking{end}", schema="free answer", reply=said.text)
    except ConfigError:
        raise
    except FactloopError as error:
        reason = reason_of(error)
        return UnansweredPrompt(prompt_id=prompt.id, reason=reason, said=str(error))
    return GeneratedResponse(
        id=f"{prompt.id}/{system}",
        system=system,
        prompt_id=prompt.id,
        topic=prompt.topic,
        prompt=prompt.prompt,
        response=response,
        documents=prompt.documents,
        cut_off=said.cut_off,
        generated_by=GeneratedBy.of(gateway.chat),
    )
