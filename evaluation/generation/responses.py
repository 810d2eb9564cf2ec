"""Long responses of a model to prompts, as the models under test are asked in the paper (Wei et al. 2024, section 6).

Departures from the released code: a response may be four times as long (4,096 tokens), the postamble is in our own
words, and a call that fails leaves its prompt unanswered instead of being repeated without end.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import AsyncExitStack, aclosing
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from langchain_core.language_models import BaseChatModel

from factloop.agents.reasons import reason_of
from factloop.agents.trustscore.choices import after_thinking
from factloop.core.errors import ConfigError, FactloopError, ModelOutputError
from factloop.evaluation.datasets.longfact import AnyPrompt, with_postamble
from factloop.evaluation.generation.records import GeneratedBy, GeneratedResponse, ResponsesReport, UnansweredPrompt
from factloop.evaluation.generation.response_file import ModelPrompt, Outcome, open_responses
from factloop.evaluation.generation.settings import ResponseSettings
from factloop.evaluation.running.run import Events, Increments, Run, judged_here
from factloop.prompts.registry import PromptRegistry
from factloop.setup.chat_model import build_model
from factloop.setup.session import open_session
from factloop.tools.calls.meter import UsageMeter
from factloop.tools.models.gateway import ModelGateway

RESPOND = "respond"
"""Name of the stage in the account of a run."""


def model_prompts(prompts: Iterable[AnyPrompt], *, postamble: bool) -> list[ModelPrompt]:
    """The prompts as the model gets them: by themselves, or with the request for detail after each."""
    return [
        ModelPrompt(prompt.id, prompt.topic, with_postamble(prompt.prompt) if postamble else prompt.prompt)
        for prompt in prompts
    ]


async def astream_responses(
    asked: Sequence[ModelPrompt],
    settings: ResponseSettings,
    out: Path,
    *,
    data: str,
    system: str | None = None,
    model: BaseChatModel | None = None,
) -> Events[Outcome, ResponsesReport]:
    """Asks for the responses that `out` does not hold yet, and appends each as it comes, in no certain order.

    Costs money. `out` may be of an earlier start with the same arguments (more prompts are no harm): what it holds is
    not asked again. `model` is a chat model that the caller built; otherwise the settings name one. A prompt without an
    answer is in the report, with the reason, and in no row. Raises ConfigError and DataError for what is wrong before
    anything is spent, ConfigError for a disk that fails. A caller that stops before the end
    closes it (`contextlib.aclosing`).
    """
    started = time.perf_counter()
    async with AsyncExitStack() as stack:
        chat = build_model(
            settings,
            model if model is not None else settings.named_model,
            base_url=settings.base_url,
            temperature=settings.temperature,
        )
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
    """Asks a model for responses, and adds up what they cost and which prompts got none."""

    gateway: ModelGateway
    system: str
    started: float
    """By the clock of `time.perf_counter`."""
    spent: UsageMeter = field(default_factory=UsageMeter)
    unanswered: list[UnansweredPrompt] = field(default_factory=list)

    async def respond(self, prompt: ModelPrompt) -> Outcome:
        meter = UsageMeter()
        outcome = await _respond(prompt, self.gateway, self.system, meter)
        self.spent.add(meter.snapshot(0.0))
        if isinstance(outcome, UnansweredPrompt):
            self.unanswered.append(outcome)
        return outcome

    def report(self, rows: Iterator[Outcome], **known: Any) -> ResponsesReport:
        """The report on a run that ends with these rows; `known` are the fields known before it."""
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


async def _respond(prompt: ModelPrompt, gateway: ModelGateway, system: str, meter: UsageMeter) -> Outcome:
    try:
        said = await gateway.ask_freely(prompt.text, stage=RESPOND, meter=meter)
        response = after_thinking(said.text)
        if not response:
            end = ", which was cut off at the token limit" if said.cut_off else ""
            raise ModelOutputError(f"the reply holds only thinking{end}", schema="free answer", reply=said.text)
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
        prompt=prompt.text,
        response=response,
        cut_off=said.cut_off,
        generated_by=GeneratedBy.of(gateway.chat),
    )
