"""Chat models that do not speak OpenAI's protocol, through what LangChain offers for all."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import pytest
from langchain_core.callbacks import AsyncCallbackManagerForLLMRun, CallbackManagerForLLMRun
from langchain_core.language_models import BaseChatModel, LanguageModelInput
from langchain_core.messages import AIMessage, BaseMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from langchain_core.runnables import Runnable
from pydantic import PrivateAttr

from factloop.agents.safe.schemas import Assessment, Relevance
from factloop.core.errors import ConfigError, ToolError
from factloop.prompts.layout import PLACEHOLDER
from factloop.prompts.registry import PromptRegistry, packaged_prompts
from factloop.tools.models.prices import Price
from factloop.tools.models.schema import ToolChoice
from tests.tools.models.questions import CHOICE, OPEN, SUPPORTED, WISH, YES, YES_SAID, ask, assess, shown
from tests.tools.models.talk import Connect


class ScriptedModel(BaseChatModel):
    """Says its lines one after the other, raises those that are errors, and raises when they are at an end."""

    lines: list[Any]
    _heard: list[list[BaseMessage]] = PrivateAttr(default_factory=list)

    @property
    def _llm_type(self) -> str:
        return "scripted"

    @property
    def heard(self) -> list[list[BaseMessage]]:
        return self._heard

    def _generate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,  # noqa: ARG002 - LangChain's signature
        run_manager: CallbackManagerForLLMRun | None = None,  # noqa: ARG002
        **kwargs: Any,  # noqa: ARG002
    ) -> ChatResult:
        self._heard.append(messages)
        if not self.lines:
            raise AssertionError("the script has ended")
        line = self.lines.pop(0)
        if isinstance(line, Exception):
            raise line
        message = line if isinstance(line, AIMessage) else AIMessage(line)
        return ChatResult(generations=[ChatGeneration(message=message)])

    async def _agenerate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: AsyncCallbackManagerForLLMRun | None = None,  # noqa: ARG002
        **kwargs: Any,
    ) -> ChatResult:
        return self._generate(messages, stop, None, **kwargs)


class CallingModel(ScriptedModel):
    """The same with tool calling, and so with LangChain's structured output, which stands on it."""

    _offered: list[list[str]] = PrivateAttr(default_factory=list)

    @property
    def offered(self) -> list[list[str]]:
        return self._offered

    def bind_tools(
        self,
        tools: Sequence[dict[str, Any] | type | Callable[..., Any] | Any],
        *,
        tool_choice: str | None = None,
        **kwargs: Any,  # noqa: ARG002
    ) -> Runnable[LanguageModelInput, AIMessage]:
        assert tool_choice == "any"
        self._offered.append([_name(tool) for tool in tools])
        return self


def _name(tool: Any) -> str:
    return str(tool.get("title") or tool["function"]["name"])


def calling(name: str, args: dict[str, Any]) -> AIMessage:
    return AIMessage("", tool_calls=[{"name": name, "args": args, "id": "1"}])


async def test_a_model_without_tool_calling_is_asked_in_text(connect: Connect) -> None:
    model = ScriptedModel(lines=[shown({**OPEN, **WISH}), shown(SUPPORTED)])
    talk = await connect(model=model)
    assert await assess(talk, text="one") == ToolChoice("web", CHOICE)
    assert await assess(talk, text="two") == Assessment.model_validate(SUPPORTED)
    assert '"verdict"' in str(model.heard[0][-1].content)  # the schema, in the prompt


async def test_a_model_with_tool_calling_is_offered_them(connect: Connect) -> None:
    model = CallingModel(lines=[calling("web", WISH), calling("Assessment", SUPPORTED)])
    talk = await connect(model=model)
    assert await assess(talk, text="one") == ToolChoice("web", CHOICE)
    assert await assess(talk, text="two") == Assessment.model_validate(SUPPORTED)
    assert model.offered == [["web", "Assessment"]] * 2


async def test_what_it_says_wrongly_is_repaired(connect: Connect) -> None:
    model = CallingModel(lines=[calling("Relevance", {"reason": "x"}), calling("Relevance", YES_SAID)])
    assert await ask(await connect(model=model)) == YES
    assert "relevant: Field required" in str(model.heard[1][-1].content)


async def test_a_script_at_its_end_fails_the_call(connect: Connect) -> None:
    with pytest.raises((ToolError, ConfigError), match="the script has ended"):
        await ask(await connect(model=ScriptedModel(lines=[])))


class MarkedModel(ScriptedModel):
    """Stands for LangChain's class for Anthropic, whose provider caches what is marked."""


MarkedModel.__module__ = "langchain_anthropic.chat_models"
LONG = "Ada Lovelace wrote the first program."


async def test_anthropics_cache_is_given_what_requests_share_and_its_tokens_are_counted(connect: Connect) -> None:
    details = {"cache_read": 800, "cache_creation": 100}
    usage = {"input_tokens": 1000, "output_tokens": 10, "total_tokens": 1010, "input_token_details": details}
    lines = [AIMessage(shown(YES_SAID)), AIMessage(shown(YES_SAID), usage_metadata=usage)]
    model = MarkedModel(lines=lines)
    talk = await connect(model=model, price=Price(10.0, 20.0, 1.0))
    prompt = PromptRegistry.load()["safe/relevance"]
    for fact in ("She wrote.", "She wrote it."):
        rendered = prompt.render(question="Who?", response=LONG, fact=fact)
        await talk.gateway.ask_for(rendered, Relevance, stage="relevance", meter=talk.meter)
    mark = {"cache_control": {"type": "ephemeral"}}
    (first_system, first), (second_system, second) = model.heard
    assert first_system.content == second_system.content == [{"type": "text", "text": prompt.system, **mark}]
    assert isinstance(first.content, str)  # nothing says yet that another begins so
    begins = f"<question>Who?</question>\n<response>{LONG}</response>"
    assert second.content[:1] == [{"type": "text", "text": begins, **mark}]
    assert second.text.startswith(f"{begins}\n<fact>She wrote it.</fact>")
    stage = talk.meter.snapshot(0.0)
    # 1000 tokens at 10, of which 800 are 9 cheaper and 100 a quarter dearer; 10 at 20; the first call is estimated.
    assert stage.cached_tokens == 800
    first_usd = Price(10.0, 20.0).cost_usd(stage.prompt_tokens - 1000, stage.completion_tokens - 10)
    assert stage.cost_usd == pytest.approx(first_usd + (10_000 - 7_200 + 250 + 200) / 1e6)


def test_what_requests_share_stands_first() -> None:
    """For servers that cache by what requests begin with, OpenAI's among them."""
    shared = {"passage", "document", "question", "response"}
    for prompt in packaged_prompts().values():
        if prompt.name in ("safe/abstention", "trustscore/entailment"):  # their passages are found for one statement
            continue
        order = [name in shared for name in PLACEHOLDER.findall(prompt.user)]
        assert order == sorted(order, reverse=True), prompt.name
