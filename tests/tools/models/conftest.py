from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from typing import Any

import pytest
from aiohttp import web
from aiohttp.test_utils import TestServer
from langchain_core.language_models import BaseChatModel

from factloop.tools.models.chat import build_chat_model, wrap_chat_model
from factloop.tools.models.prices import Price
from tests.tools.models.chat_server import KEY, ChatServer
from tests.tools.models.talk import Connect, Talk, talking


@pytest.fixture
async def server() -> AsyncIterator[ChatServer]:
    chat = ChatServer()
    application = web.Application(client_max_size=2**26, handler_args={"handler_cancellation": True})
    application.router.add_post("/{path:.*}", chat.handle)
    loopback = TestServer(application)
    await loopback.start_server()
    chat.url = str(loopback.make_url("/v1"))
    yield chat
    await loopback.close()
    assert chat.overrun == 0, "more requests came than the script foresaw"
    assert not chat.script, "the script was not played to its end"


@pytest.fixture
async def connect(server: ChatServer, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Connect]:
    """Creates gateways to the scripted server, another address or a given model, and closes them."""
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    async with AsyncExitStack() as stack:

        async def open_one(
            *,
            base_url: str | None = None,
            model: BaseChatModel | None = None,
            price: Price | None = None,
            temperature: float | None = 0.1,
            name: str = "scripted",
            **options: Any,
        ) -> Talk:
            if model is not None:
                chat = wrap_chat_model(model, price=price)
            else:
                address = base_url or server.url
                chat = build_chat_model(f"openai:{name}", base_url=address, price=price, temperature=temperature)
            return await stack.enter_async_context(talking(chat, options))

        yield open_one


@pytest.fixture(autouse=True)
def _no_keys_of_this_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    names = [
        f"{owner}_{name}" for owner in ("OPENAI", "ANTHROPIC") for name in ["API_KEY", "BASE_URL", "ORG_ID", "PROXY"]
    ]
    for variable in (*names, "OPENAI_API_BASE", "HTTP_PROXY", "http_proxy"):
        monkeypatch.delenv(variable, raising=False)
