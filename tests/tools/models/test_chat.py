from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from typing import Any

import pytest
from langchain_core.language_models import LanguageModelInput
from langchain_core.messages import AIMessage, HumanMessage
from langchain_core.runnables import Runnable
from langchain_openai import ChatOpenAI
from pydantic import PrivateAttr

from factloop.agents.safe.schemas import Assessment, Relevance
from factloop.core.errors import ConfigError, FactloopError, ModelOutputError, ModelRefusal, ToolError, UnreadableAnswer
from factloop.prompts.layout import PLACEHOLDER
from factloop.prompts.registry import PromptRegistry, packaged_prompts
from factloop.tools.models.chat import build_chat_model
from factloop.tools.models.failures import translate
from factloop.tools.models.prices import Price
from factloop.tools.models.schema import ToolChoice
from tests.tools.models.chat_server import KEY, ChatServer, Reply, completion, failure
from tests.tools.models.questions import CHOICE, OPEN, SUPPORTED, WISH, YES, YES_SAID, ask, assess, shown
from tests.tools.models.scripted_chat import ScriptedChat
from tests.tools.models.talk import Connect

# Outward sockets are blocked in these tests: building a model must open none.
SERVER = "http://models.example:8000/v1"


@pytest.mark.usefixtures("_a_key")
def test_a_model_of_openai() -> None:
    chat = build_chat_model("openai:gpt-4o-mini", temperature=0.0, max_tokens=99)
    model = chat.model
    assert isinstance(model, ChatOpenAI)
    assert (model.model_name, model.temperature, model.max_tokens) == ("gpt-4o-mini", 0.0, 99)
    assert (model.max_retries, model.use_responses_api, model.streaming) == (0, False, False)
    assert chat.name == "openai:gpt-4o-mini"
    assert chat.identity == {"model": "openai:gpt-4o-mini", "base_url": None, "temperature": 0.0, "max_tokens": 99}
    assert chat.price == Price(0.15, 0.6, 0.075)
    assert chat.max_tokens == 99


def test_with_an_address_a_bare_name_is_one_of_openai_s_protocol() -> None:
    assert build_chat_model("qwen3", base_url=SERVER).name == "openai:qwen3"


def test_a_wrong_address_in_the_environment_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_BASE_URL", "http://[::1")
    with pytest.raises(ConfigError, match="OPENAI_BASE_URL"):
        build_chat_model("openai:gpt-4o")


@pytest.mark.parametrize(
    ("name", "base_url", "said"),
    [
        ("openai:gpt-4o", None, "needs a key; set OPENAI_API_KEY"),
        ("gpt-4o", None, "needs a key; set OPENAI_API_KEY"),
        ("nobody:model", None, "cannot set up the model"),
        ("model-of-nobody", None, "cannot set up the model"),
        ("", None, "has no name"),
        ("openai:", SERVER, "has no name"),
        ("llama3:8b", SERVER, "use openai:llama3:8b"),
    ],
)
def test_a_wrong_set_up_is_said_in_one_line(name: str, base_url: str | None, said: str) -> None:
    with pytest.raises(ConfigError) as caught:
        build_chat_model(name, base_url=base_url)
    assert said in str(caught.value)
    assert repr(name) in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_missing_package_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "langchain_groq", None)  # as if it were not installed
    with pytest.raises(ConfigError, match="needs its provider's package, which is not installed"):
        build_chat_model("groq:llama-3.1-8b")


@pytest.fixture
def _a_key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)


@pytest.mark.usefixtures("_a_key")
@pytest.mark.parametrize("name", ["openai:gpt-4o-mini", "gpt-4o", "openai:some-model"])
@pytest.mark.parametrize("base_url", [None, "http://localhost:8000/v1"])
@pytest.mark.parametrize(("temperature", "max_tokens"), [(0.0, 99), (None, None)])
async def test_the_stand_in_for_a_replayed_model_is_named_as_the_model_itself(
    name: str, base_url: str | None, temperature: float | None, max_tokens: int | None
) -> None:
    real = build_chat_model(name, base_url=base_url, temperature=temperature, max_tokens=max_tokens)
    stand_in = build_chat_model(name, base_url=base_url, temperature=temperature, max_tokens=max_tokens, replayed=True)
    assert (stand_in.name, stand_in.identity) == (real.name, real.identity)
    assert (stand_in.price, stand_in.max_tokens) == (real.price, real.max_tokens)
    await real.aclose()
    await stand_in.aclose()


def test_nobody_can_ask_the_stand_in_for_a_replayed_model() -> None:
    with pytest.raises(AssertionError, match="a replay must not call a model"):
        build_chat_model("openai:gpt-4o", replayed=True).model.invoke("Hello?")


@pytest.mark.usefixtures("_a_key")
async def test_a_stream_goes_its_usual_way(server: ChatServer) -> None:
    """LangGraph streams if a caller watches the messages of a graph."""
    chunk = {"id": "1", "object": "chat.completion.chunk", "created": 0, "model": "scripted"}
    lines = [
        {**chunk, "choices": [{"index": 0, "delta": {"role": "assistant", "content": text}, "finish_reason": None}]}
        for text in ("King ", "Solomon")
    ]
    body = "".join(f"data: {json.dumps(line)}\n\n" for line in lines) + "data: [DONE]\n\n"
    server.will(Reply(body=body.encode(), content_type="text/event-stream"))
    chat = build_chat_model("openai:scripted", base_url=server.url)
    said_in_parts = [str(part.text) async for part in chat.model.astream([HumanMessage("who?")])]
    await chat.aclose()
    assert "".join(said_in_parts) == "King Solomon"
    assert server.bodies[0]["stream"] is True


async def raised_by(base_url: str, monkeypatch: pytest.MonkeyPatch) -> Exception:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    chat = build_chat_model("openai:scripted", base_url=base_url)
    try:
        await chat.model.ainvoke("hello")
    except Exception as error:  # noqa: BLE001 - whatever it is, is what we look at
        return error
    finally:
        await chat.aclose()
    raise AssertionError("it was answered")


@pytest.mark.parametrize(
    ("reply", "kind", "retryable", "told"),
    [
        (
            Reply(200, completion({"content": "hi"}).body, cut_at=40),
            *(ToolError, True, "the connection was closed before the reply was complete"),
        ),
        (Reply(200, b'{"choices": "un'), UnreadableAnswer, True, "the answer is not JSON (Unterminated string start"),
        (Reply(200, b'{"choices": [{}]}'), UnreadableAnswer, True, "cannot read the answer (KeyError: 'message')"),
        (Reply(200, b" " * 5_024_001), ModelOutputError, False, "the reply is larger than 5,024,000 bytes"),
        (Reply(307, headers=(("Location", "http://127.0.0.2:9/v1"),)), ToolError, False, "redirects to another server"),
    ],
)
async def test_what_became_of_an_answer_is_told_in_words_for_people(
    server: ChatServer, monkeypatch: pytest.MonkeyPatch, reply: Reply, kind: type, retryable: bool, told: str
) -> None:
    server.will(reply)
    error = translate(await raised_by(server.url, monkeypatch), "openai:scripted")
    assert str(error).startswith(f"openai:scripted: {told}")
    assert (type(error), error.retryable) == (kind, retryable)


@pytest.mark.parametrize("code", ["content_filter", "content_policy_violation"])
async def test_a_provider_s_filter_is_refusal(server: ChatServer, monkeypatch: pytest.MonkeyPatch, code: str) -> None:
    server.will(failure(400, "filtered", code=code))
    error = translate(await raised_by(server.url, monkeypatch), "openai:scripted")
    assert isinstance(error, ModelRefusal)
    assert "filtered" in error.reply


def test_our_own_errors_pass_through() -> None:
    ours: FactloopError = ConfigError("no")
    assert translate(ours, "m") is ours


class CallingModel(ScriptedChat):
    """A scripted chat with tool calling, and so with LangChain's structured output, which stands on it."""

    _offered: list[list[str]] = PrivateAttr(default_factory=list)

    @property
    def offered(self) -> list[list[str]]:
        return self._offered

    def bind_tools(
        self,
        tools: Sequence[Any],
        *,
        tool_choice: str | None = None,
        **kwargs: Any,  # noqa: ARG002
    ) -> Runnable[LanguageModelInput, AIMessage]:
        assert tool_choice == "any"
        self._offered.append([str(tool.get("title") or tool["function"]["name"]) for tool in tools])
        return self


def calling(name: str, args: dict[str, Any]) -> AIMessage:
    return AIMessage("", tool_calls=[{"name": name, "args": args, "id": "1"}])


async def test_a_model_is_offered_tools_or_without_tool_calling_asked_in_text(connect: Connect) -> None:
    asked = ScriptedChat(replies=[shown({**OPEN, **WISH}), shown(SUPPORTED)])
    offered = CallingModel(replies=[calling("web", WISH), calling("Assessment", SUPPORTED)])
    for model in (asked, offered):
        talk = await connect(model=model)
        assert await assess(talk, text="one") == ToolChoice("web", CHOICE)
        assert await assess(talk, text="two") == Assessment.model_validate(SUPPORTED)
    assert '"verdict"' in str(asked.asked[0][-1].content)  # the schema, in the prompt
    assert offered.offered == [["web", "Assessment"]] * 2


async def test_what_it_says_wrongly_is_repaired(connect: Connect) -> None:
    model = CallingModel(replies=[calling("Relevance", {"reason": "x"}), calling("Relevance", YES_SAID)])
    assert await ask(await connect(model=model)) == YES
    assert "relevant: Field required" in str(model.asked[1][-1].content)


class MarkedModel(ScriptedChat):
    """Stands for LangChain's class for Anthropic, whose provider caches what is marked."""


MarkedModel.__module__ = "langchain_anthropic.chat_models"
LONG = "Ada Lovelace wrote the first program."


async def test_anthropics_cache_is_given_what_requests_share_and_its_tokens_are_counted(connect: Connect) -> None:
    details = {"cache_read": 800, "cache_creation": 100}
    usage = {"input_tokens": 1000, "output_tokens": 10, "total_tokens": 1010, "input_token_details": details}
    model = MarkedModel(replies=[shown(YES_SAID), AIMessage(shown(YES_SAID), usage_metadata=usage)])
    talk = await connect(model=model, price=Price(10.0, 20.0, 1.0))
    prompt = PromptRegistry.load()["safe/relevance"]
    for fact in ("She wrote.", "She wrote it."):
        rendered = prompt.render(question="Who?", response=LONG, fact=fact)
        await talk.gateway.ask_for(rendered, Relevance, stage="relevance", meter=talk.meter)
    mark = {"cache_control": {"type": "ephemeral"}}
    (first_system, first), (second_system, second) = model.asked
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
    """For servers that cache common prefixes, such as OpenAI's."""
    shared = {"passage", "document", "question", "request", "response"}
    for prompt in packaged_prompts().values():
        if prompt.name in ("safe/abstention", "trustscore/entailment"):  # their passages are found for one statement
            continue
        order = [name in shared for name in PLACEHOLDER.findall(prompt.user)]
        assert order == sorted(order, reverse=True), prompt.name
