"""The chat-completions endpoint spoken plainly: what is sent, and what odd answers become."""

from __future__ import annotations

import json

import pytest
from langchain_core.messages import HumanMessage

from factloop.tools.models.chat import build_chat_model
from tests.tools.models.chat_server import ChatServer, Reply


async def test_a_stream_goes_its_usual_way(server: ChatServer, monkeypatch: pytest.MonkeyPatch) -> None:
    """A stream, as LangGraph asks for it where a caller watches the messages of a graph."""
    chunk = {"id": "1", "object": "chat.completion.chunk", "created": 0, "model": "scripted"}
    lines = [
        {**chunk, "choices": [{"index": 0, "delta": {"role": "assistant", "content": text}, "finish_reason": None}]}
        for text in ("King ", "Solomon")
    ]
    body = "".join(f"data: {json.dumps(line)}\n\n" for line in lines) + "data: [DONE]\n\n"
    server.will(Reply(body=body.encode(), content_type="text/event-stream"))
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    chat = build_chat_model("openai:scripted", base_url=server.url)
    said_in_parts = [str(part.text) async for part in chat.model.astream([HumanMessage("who?")])]
    await chat.aclose()
    assert "".join(said_in_parts) == "King Solomon"
    assert server.bodies[0]["stream"] is True
