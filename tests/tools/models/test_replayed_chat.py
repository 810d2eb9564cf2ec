"""The stand-in for a model whose answers are all recorded."""

from __future__ import annotations

import pytest

from factloop.core.errors import ConfigError
from factloop.tools.models.chat import build_chat_model, replayed_chat_model


@pytest.fixture(autouse=True)
def _a_key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "simulated")
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)


@pytest.mark.parametrize("name", ["openai:gpt-4o-mini", "gpt-4o", "openai:o3", "openai:some-model"])
@pytest.mark.parametrize("base_url", [None, "http://localhost:8000/v1"])
@pytest.mark.parametrize(("temperature", "max_tokens"), [(0.0, 99), (None, None)])
async def test_it_is_named_as_the_model_itself(
    name: str, base_url: str | None, temperature: float | None, max_tokens: int | None
) -> None:
    real = build_chat_model(name, base_url=base_url, temperature=temperature, max_tokens=max_tokens)
    stand_in = replayed_chat_model(name, base_url=base_url, temperature=temperature, max_tokens=max_tokens)
    assert (stand_in.name, stand_in.identity) == (real.name, real.identity)
    assert (stand_in.price, stand_in.max_tokens) == (real.price, real.max_tokens)
    await real.aclose()
    await stand_in.aclose()


def test_a_name_that_names_nothing_is_refused_in_a_replay_too() -> None:
    with pytest.raises(ConfigError, match="names no model"):
        replayed_chat_model("openai:")


def test_nobody_can_ask_it() -> None:
    with pytest.raises(AssertionError, match="a replay asks no model"):
        replayed_chat_model("openai:gpt-4o").model.invoke("Hello?")
