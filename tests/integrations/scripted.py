from __future__ import annotations

from typing import Any

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from pydantic import Field


class ScriptedModel(BaseChatModel):
    """Says what it is told to, in order, and keeps what it was asked; raises at the end of its script."""

    script: list[AIMessage]
    asked: list[list[BaseMessage]] = Field(default_factory=list)

    @property
    def _llm_type(self) -> str:
        return "scripted"

    def bind_tools(self, tools: Any, **more: Any) -> Any:  # noqa: ARG002 - the base class has them
        return self

    def _generate(self, messages: list[BaseMessage], *more: Any, **named: Any) -> ChatResult:  # noqa: ARG002 - the base class has them
        self.asked.append(list(messages))
        said = self.script[len(self.asked) - 1].model_copy(update={"id": None})
        return ChatResult(generations=[ChatGeneration(message=said)])
