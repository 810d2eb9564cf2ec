"""How long a reply of a chat model may take."""

from __future__ import annotations

from typing import Any

import pytest
from langchain_openai.chat_models.base import BaseChatOpenAI

from factloop.setup.chat_model import NEARBY_S, build_model, reply_timeout_s
from factloop.setup.settings import CheckSettings
from factloop.tools.models.chat import MARGIN_S

NEARBY, FAR = "http://127.0.0.1:8080/v1", "https://api.example.com/v1"


@pytest.mark.parametrize(
    ("address", "given", "seconds"),
    [
        (NEARBY, {}, NEARBY_S),
        (FAR, {}, 60.0),
        (None, {}, 60.0),
        (NEARBY, {"timeout_s": 5.0}, 5.0),
        (FAR, {"timeout_s": 900.0}, 900.0),
    ],
)
def test_a_model_nearby_may_be_slow_unless_told(address: str | None, given: dict[str, Any], seconds: float) -> None:
    assert reply_timeout_s(CheckSettings.of(**given), address) == seconds


@pytest.mark.parametrize(
    ("model", "variable", "seconds"),
    [
        ("openai:x", "OPENAI_BASE_URL", NEARBY_S),
        ("openai:x", "OPENAI_API_BASE", NEARBY_S),
        ("azure_openai:x", "OPENAI_BASE_URL", 60.0),
    ],
)
async def test_an_address_in_the_environment_is_that_of_its_provider_alone(
    model: str, variable: str, seconds: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Azure is asked elsewhere, whatever server of one's own stands beside it."""
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)
    for name in ("OPENAI_API_KEY", "AZURE_OPENAI_API_KEY", "OPENAI_API_VERSION"):
        monkeypatch.setenv(name, "2026-01-01")
    monkeypatch.setenv("AZURE_OPENAI_ENDPOINT", FAR)
    monkeypatch.setenv(variable, NEARBY)
    chat = build_model(CheckSettings(), model, base_url=None, temperature=None)
    await chat.aclose()
    assert isinstance(chat.model, BaseChatOpenAI)
    assert chat.model.request_timeout == seconds + MARGIN_S
