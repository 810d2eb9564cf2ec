from __future__ import annotations

from typing import Any

from langchain_core.callbacks import CallbackManagerForLLMRun
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from pydantic import PrivateAttr

from factloop.tools.models.chat import wrap_chat_model
from tests.tools.models.talk import Talk, talk_to


class ScriptedChat(BaseChatModel):
    """Says its replies one after the other, as plain text; remembers what it was asked."""

    replies: list[str | AIMessage]
    _asked: list[list[BaseMessage]] = PrivateAttr(default_factory=list)

    @property
    def _llm_type(self) -> str:
        return "scripted"

    @property
    def asked(self) -> list[list[BaseMessage]]:
        return self._asked

    def _generate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,  # noqa: ARG002 - the base class has it
        run_manager: CallbackManagerForLLMRun | None = None,  # noqa: ARG002 - the base class has it
        **kwargs: Any,  # noqa: ARG002 - the base class has it
    ) -> ChatResult:
        self._asked.append(messages)
        reply = self.replies.pop(0)
        message = reply if isinstance(reply, AIMessage) else AIMessage(reply)
        return ChatResult(generations=[ChatGeneration(message=message)])


def saying(*replies: str | AIMessage) -> tuple[ScriptedChat, Talk]:
    chat = ScriptedChat(replies=list(replies))
    return chat, talk_to(wrap_chat_model(chat))
