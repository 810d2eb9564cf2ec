from __future__ import annotations

from typing import Any

import pytest
from langchain_openai import AzureChatOpenAI, ChatOpenAI
from opentelemetry.semconv._incubating.attributes.gen_ai_attributes import GenAiProviderNameValues

from factloop.tools.models.chat import ChatModel, build_chat_model, wrap_chat_model
from factloop.tools.models.traced import PROVIDERS, request_values


@pytest.fixture(autouse=True)
def _key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-secret")
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)


def test_names_of_providers_are_the_conventions_own() -> None:
    known = {provider.value for provider in GenAiProviderNameValues}
    assert set(PROVIDERS.values()) <= known


OURS = {"gen_ai.provider.name": "openai", "gen_ai.request.model": "gpt-4o"}
WARM = {"gen_ai.request.temperature": 0.1, "gen_ai.request.max_tokens": 1024}


@pytest.mark.parametrize(
    ("chat", "values"),
    [
        (
            lambda: build_chat_model("openai:gpt-4o"),
            {**OURS, **WARM, "server.address": "api.openai.com", "server.port": 443},
        ),
        (
            lambda: build_chat_model("openai:gpt-4o", base_url="http://me:word@[::1]:8080/v1"),
            {**OURS, **WARM, "server.address": "::1", "server.port": 8080},
        ),
        (
            lambda: build_chat_model("gpt-4o", base_url="https://llm.example/v1", temperature=None, max_tokens=None),
            {**OURS, "server.address": "llm.example", "server.port": 443},
        ),
        (
            lambda: build_chat_model("mistralai:small", temperature=0.0, replayed=True),
            {
                "gen_ai.provider.name": "mistral_ai",
                "gen_ai.request.model": "small",
                "gen_ai.request.temperature": 0.0,
                "gen_ai.request.max_tokens": 1024,
            },
        ),
        (
            lambda: wrap_chat_model(ChatOpenAI(model="gpt-4o", seed=7, top_p=0.9)),
            {**OURS, "gen_ai.request.seed": 7, "gen_ai.request.top_p": 0.9},
        ),
    ],
)
async def test_what_spans_say_of_a_model(chat: Any, values: dict[str, Any]) -> None:
    built: ChatModel = chat()
    found = {name: value for name, value in request_values(built).items() if value is not None}
    await built.aclose()
    assert found == values


async def test_azure_is_told_from_openai() -> None:
    model = AzureChatOpenAI(
        azure_endpoint="https://us.example", azure_deployment="gpt-4o", api_version="2024-06-01", model="gpt-4o"
    )
    values = request_values(wrap_chat_model(model))
    assert (values["gen_ai.provider.name"], values["server.address"]) == ("azure.ai.openai", "us.example")
