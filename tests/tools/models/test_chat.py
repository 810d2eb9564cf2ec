from __future__ import annotations

import json
import sys

import pytest
from langchain_core.language_models.fake_chat_models import FakeListChatModel
from langchain_openai import ChatOpenAI
from pydantic import SecretStr

from factloop.core.errors import ConfigError
from factloop.tools.models.chat import build_chat_model, wrap_chat_model
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


@pytest.mark.parametrize("name", ["gpt-4o-mini", "o3", "o4-mini", "chatgpt-4o-latest"])
def test_names_of_openai_need_no_provider(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    assert build_chat_model(name).name == f"openai:{name}"


def test_what_is_not_given_is_left_to_the_server(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    chat = build_chat_model("openai:gpt-4o", temperature=None, max_tokens=None)
    assert chat.identity == {"model": "openai:gpt-4o", "base_url": None}
    assert openai_model(chat.model).temperature is None


def test_a_server_of_one_s_own_needs_no_key_and_has_no_known_price() -> None:
    chat = build_chat_model("openai:gpt-4o-mini", base_url=SERVER)
    assert openai_model(chat.model).openai_api_base == SERVER
    assert chat.price is None
    assert chat.identity["base_url"] == SERVER


def test_a_price_given_is_kept() -> None:
    assert build_chat_model("openai:x", base_url=SERVER, price=Price(1.0, 2.0)).price == Price(1.0, 2.0)


def test_with_an_address_a_bare_name_is_one_of_openai_s_protocol() -> None:
    assert build_chat_model("qwen3", base_url=SERVER).name == "openai:qwen3"


@pytest.mark.parametrize("name", ["openai:llama3:8b", "openai:ft:gpt-4o:org::id"])
def test_a_model_s_own_name_may_hold_colons(name: str) -> None:
    chat = build_chat_model(name, base_url=SERVER)
    assert openai_model(chat.model).model_name == name.removeprefix("openai:")
    assert chat.name == name


@pytest.mark.parametrize("variable", ["OPENAI_BASE_URL", "OPENAI_API_BASE"])
def test_the_address_may_come_from_the_environment(monkeypatch: pytest.MonkeyPatch, variable: str) -> None:
    """A server of one's own needs no key."""
    for name in ("OPENAI_BASE_URL", "OPENAI_API_KEY"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv(variable, SERVER)
    chat = build_chat_model("openai:gpt-4o")
    assert chat.identity["base_url"] == SERVER
    assert chat.price is None


def test_a_wrong_address_in_the_environment_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_BASE_URL", "http://[::1")
    with pytest.raises(ConfigError, match="OPENAI_BASE_URL"):
        build_chat_model("openai:gpt-4o")


def test_identities_hold_no_key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    chat = build_chat_model("openai:gpt-4o")
    assert KEY not in json.dumps(dict(chat.identity))
    assert KEY not in json.dumps(dict(wrap_chat_model(chat.model).identity))
    assert KEY not in repr(chat)


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


async def test_closing_closes_the_connections_and_may_be_repeated() -> None:
    chat = build_chat_model("openai:x", base_url=SERVER)
    assert chat.http is not None
    await chat.aclose()
    await chat.aclose()
    assert chat.http.is_closed


def test_a_model_that_the_user_built_retries_nothing_by_itself() -> None:
    """The gateway's retries count each request; those within the library would be beyond every limit."""
    model = ChatOpenAI(model="x", base_url=SERVER, api_key=SecretStr(KEY), max_retries=5, temperature=0.3)
    wrapped = wrap_chat_model(model).model
    assert isinstance(wrapped, ChatOpenAI)
    assert wrapped.async_client._client.max_retries == wrapped.root_async_client.max_retries == 0
    assert wrapped.temperature == 0.3
    assert model.root_async_client.max_retries == 5  # the user's own is as it was


def test_a_model_that_the_user_built() -> None:
    model = FakeListChatModel(responses=["a"])
    chat = wrap_chat_model(model, price=Price(1.0, 1.0))
    assert chat.name == "FakeListChatModel"
    assert str(chat.identity["class"]).endswith(".FakeListChatModel")
    assert chat.price == Price(1.0, 1.0)
    assert chat.max_tokens is None
    assert not chat.persistent  # another with other replies would look the same
