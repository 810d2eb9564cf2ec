"""A chat-completions server that forwards to a model and keeps its replies, or answers from those that were kept.

Replies are found by the whole request, so a checker whose requests change has to be asked anew. Kept replies take as
long as a model would: 300 ms, and 10 ms for each token of the reply.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
from aiohttp import web

LATENCY_S, TOKEN_S = 0.3, 0.01
ASKED = ("messages", "response_format", "tools")
"""What a reply depends on."""


@dataclass
class Use:
    """What a checker asked for. A token is four characters, of messages, schemas and tools alike."""

    calls: int = 0
    prompt_tokens: int = 0
    reply_tokens: int = 0


class Desk:
    """Answers requests, and counts them."""

    def __init__(self, kept: Path, upstream: str | None) -> None:
        self._kept, self._upstream = kept, upstream
        self._replies: dict[str, Any] = json.loads(kept.read_text(encoding="utf-8")) if kept.exists() else {}
        self.use = Use()

    async def chat(self, request: web.Request) -> web.Response:
        body = await request.json()
        asked = json.dumps({name: body.get(name) for name in ASKED}, ensure_ascii=False, sort_keys=True)
        key = hashlib.sha256(asked.encode()).hexdigest()[:16]
        if key not in self._replies:
            if self._upstream is None:
                return web.json_response({"error": {"message": "no reply is kept for this request"}}, status=400)
            await self._forward(key, body)
        else:
            await asyncio.sleep(LATENCY_S + TOKEN_S * tokens(self._replies[key]))
        message = self._replies[key]
        self.use.calls += 1
        self.use.prompt_tokens += tokens({name: body[name] for name in ASKED if body.get(name)})
        self.use.reply_tokens += tokens(message)
        finish = "tool_calls" if message.get("tool_calls") else "stop"
        usage = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}
        return web.json_response(
            {
                "id": key,
                "object": "chat.completion",
                "created": 0,
                "model": body["model"],
                "choices": [{"index": 0, "message": message, "finish_reason": finish}],
                "usage": usage,
            }
        )

    async def _forward(self, key: str, body: Any) -> None:
        async with httpx.AsyncClient(timeout=None) as client:
            found = await client.post(f"{self._upstream}/chat/completions", json=body)
            found.raise_for_status()
        self._replies[key] = found.json()["choices"][0]["message"]
        text = json.dumps(self._replies, ensure_ascii=False, indent=0, sort_keys=True)
        self._kept.parent.mkdir(exist_ok=True)
        self._kept.write_text(text + "\n", encoding="utf-8")


def tokens(found: Any) -> int:
    """The strings in it, and the marks that JSON puts around them where it is no message."""
    if isinstance(found, dict) and found.get("role") == "assistant":
        calls = found.get("tool_calls") or ()
        texts = [found.get("content") or "", *(call["function"]["arguments"] for call in calls)]
        return -(-sum(len(_compact(text)) for text in texts) // 4)
    return -(-len(json.dumps(found, ensure_ascii=False, separators=(",", ":"))) // 4)


def _compact(text: str) -> str:
    try:
        return json.dumps(json.loads(text), ensure_ascii=False, separators=(",", ":"))
    except ValueError:
        return text


@contextmanager
def serving(desk: Desk) -> Iterator[str]:
    """The address of the server, which runs in a thread while the block does."""
    loop, started = asyncio.new_event_loop(), threading.Event()
    address = ""

    async def start() -> None:
        nonlocal address
        app = web.Application(client_max_size=2**24)
        app.add_routes([web.post("/v1/chat/completions", desk.chat)])
        runner = web.AppRunner(app)
        await runner.setup()
        site = web.TCPSite(runner, "127.0.0.1", 0)
        await site.start()
        address = f"http://127.0.0.1:{runner.addresses[0][1]}/v1"
        started.set()

    def run() -> None:
        loop.create_task(start())
        loop.run_forever()

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    started.wait()
    yield address
    loop.call_soon_threadsafe(loop.stop)
    thread.join()
