from __future__ import annotations

import sys

import pytest
from langchain_openai import ChatOpenAI

from factloop.core.errors import ConfigError
from factloop.tools.models.chat import build_chat_model
from factloop.tools.models.prices import Price
from tests.tools.models.chat_server import KEY

# Outward sockets are blocked in these tests: building a model must open none.
SERVER = "http://models.example:8000/v1"


def openai_model(model: object) -> ChatOpenAI:
    assert isinstance(model, ChatOpenAI)
    return model


def test_a_model_of_openai(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    chat = build_chat_model("openai:gpt-4o-mini", temperature=0.0, max_tokens=99)
    model = openai_model(chat.model)
    assert (model.model_name, model.temperature, model.max_tokens) == ("gpt-4o-mini", 0.0, 99)
    assert (model.max_retries, model.use_responses_api, model.streaming) == (0, False, False)
    assert chat.name == "openai:gpt-4o-mini"
    assert chat.identity == {
        "model": "openai:gpt-4o-mini",
        "base_url": None,
        "temperature": 0.0,
        "max_tokens": 99,
    }
    assert chat.price == Price(0.15, 0.6)
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
        ("", None, "names no model"),
        ("openai:", SERVER, "names no model"),
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
