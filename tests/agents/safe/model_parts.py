"""The stages that a chat model fills, over a scripted chat, and cases for them."""

from __future__ import annotations

import json
import random
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from langchain_core.callbacks import CallbackManagerForLLMRun
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from pydantic import PrivateAttr

from factloop.agents.safe.stages import Case, SentenceTask
from factloop.core.records import Evidence
from factloop.prompts.registry import PromptRegistry
from factloop.tools.calls.answers import RunAnswers
from factloop.tools.calls.budget import Budget
from factloop.tools.calls.cache import CallCache
from factloop.tools.calls.limiter import Limiter
from factloop.tools.models.chat import wrap_chat_model
from factloop.tools.models.gateway import ModelGateway
from factloop.tools.models.transport import Transport
from tests.agents.safe.scripted import ONE_ATTEMPT, ScriptedSearch, context_of

Fields = Mapping[str, Any]


class ScriptedChat(BaseChatModel):
    """Says what it was told to, as plain text, and remembers what it was asked."""

    replies: list[str]
    _asked: list[str] = PrivateAttr(default_factory=list)

    @property
    def _llm_type(self) -> str:
        return "scripted"

    @property
    def asked(self) -> list[str]:
        return self._asked

    def _generate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,  # noqa: ARG002 - the base class has it
        run_manager: CallbackManagerForLLMRun | None = None,  # noqa: ARG002 - the base class has it
        **kwargs: Any,  # noqa: ARG002 - the base class has it
    ) -> ChatResult:
        self._asked.append(str(messages[-1].text))
        return ChatResult(generations=[ChatGeneration(message=AIMessage(self.replies.pop(0)))])


Parts = tuple[ModelGateway, PromptRegistry]
_PROMPTS = PromptRegistry.load()


def parts(*replies: Fields) -> tuple[ScriptedChat, Parts]:
    """A chat with these replies, and what stages are built of."""
    chat, prompts, budget = ScriptedChat(replies=[json.dumps(reply) for reply in replies]), _PROMPTS, Budget()
    named = wrap_chat_model(chat)
    transport = Transport(
        named,
        json_reply=prompts["gateway/json_reply"],
        limiter=Limiter(),
        budget=budget,
        retry=ONE_ATTEMPT,
        timeout_s=5.0,
        rng=random.Random(0),
    )
    gateway = ModelGateway(named, transport, repair=prompts["gateway/repair"], answers=RunAnswers(CallCache(None)))
    return chat, (gateway, prompts)


def evidence(number: int, **fields: Any) -> Evidence:
    return Evidence.model_validate(
        {
            "id": f"e{number}",
            "source": "s",
            "passage": f"Passage {number}.",
            "query": "q",
            "rank": number,
            "retrieved_at": datetime(2024, 1, 1, tzinfo=UTC),
            **fields,
        }
    )


TASK = SentenceTask("Who was Ada?", "She was born in London.", "She was born in London.", 0, 23)
CONTEXT = context_of(ScriptedSearch())


def case(*items: Evidence, left: int = 3) -> Case:
    return Case("Ada Lovelace was born in London.", TASK, ("q",), items, left)


def assessment(verdict: str, cited: list[int], **more: Any) -> Fields:
    wish = {"missing": "", "queries": []}
    return {"rationale": "Because.", "cited": cited, "wrong": "", "verdict": verdict, **wish, **more}
