from __future__ import annotations

import json
import sys

import pytest
from langchain_core.messages import HumanMessage
from langchain_openai import ChatOpenAI

from factloop.core.errors import ConfigError
from factloop.tools.models.chat import build_chat_model
from factloop.tools.models.prices import Price
from tests.tools.models.chat_server import KEY, ChatServer, Reply

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
    assert chat.identity == {
        "model": "openai:gpt-4o-mini",
        "base_url": None,
        "temperature": 0.0,
        "max_tokens": 99,
    }
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
        ("openai:gpt-4o", None, "needs a key: set OPENAI_API_KEY"),
        ("gpt-4o", None, "needs a key: set OPENAI_API_KEY"),
        ("nobody:model", None, "cannot be set up"),
        ("model-of-nobody", None, "cannot be set up"),
        ("", None, "has no name"),
        ("openai:", SERVER, "has no name"),
        ("llama3:8b", SERVER, "write openai:llama3:8b"),
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
    with pytest.raises(ConfigError, match="its provider's package is not installed"):
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
    with pytest.raises(AssertionError, match="a replay asks no model"):
        build_chat_model("openai:gpt-4o", replayed=True).model.invoke("Hello?")


@pytest.mark.usefixtures("_a_key")
async def test_a_stream_goes_its_usual_way(server: ChatServer) -> None:
    """LangGraph asks for one where a caller watches the messages of a graph."""
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


def test_a_price_is_dollars_for_a_million_tokens() -> None:
    # 2,000 x 0.15 + 500 x 0.60 = 600 dollars for a million such calls.
    assert Price(0.15, 0.60).cost_usd(2_000, 500) == pytest.approx(600 / 1e6)
