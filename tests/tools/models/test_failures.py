from __future__ import annotations

import pytest

from factloop.core.errors import ConfigError, FactloopError, ModelRefusal
from factloop.tools.models.chat import build_chat_model
from factloop.tools.models.failures import translate
from tests.tools.models.chat_server import KEY, ChatServer, Reply, completion, failure


async def raised_by(base_url: str, monkeypatch: pytest.MonkeyPatch) -> Exception:
    """The exception of the client library when it asks the server there."""
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
    ("reply", "told"),
    [
        (
            Reply(200, completion({"content": "hi"}).body, cut_at=40),
            "the connection was closed before the reply was complete",
        ),
        (Reply(200, b'{"choices": [{"message": "un'), "its answer is not JSON (Unterminated string starting at)"),
    ],
)
async def test_what_became_of_an_answer_is_told_in_words_for_people(
    server: ChatServer, monkeypatch: pytest.MonkeyPatch, reply: Reply, told: str
) -> None:
    server.will(reply)
    error = translate(await raised_by(server.url, monkeypatch), "m")
    assert str(error) == f"m: {told}"


@pytest.mark.parametrize("code", ["content_filter", "content_policy_violation"])
async def test_the_provider_s_filter_is_a_refusal(
    server: ChatServer, monkeypatch: pytest.MonkeyPatch, code: str
) -> None:
    server.will(failure(400, "filtered", code=code))
    error = translate(await raised_by(server.url, monkeypatch), "openai:scripted")
    assert isinstance(error, ModelRefusal)
    assert "filtered" in error.reply


def test_our_own_errors_pass_through() -> None:
    ours: FactloopError = ConfigError("no")
    assert translate(ours, "m") is ours
