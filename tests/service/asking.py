from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from typing import Any

import httpx

ADDRESS = "http://localhost"
FINISHED_WITHIN_S = 90.0

Service = Callable[..., AbstractAsyncContextManager[httpx.AsyncClient]]

ANSWER = "Ada Lovelace was born in London. Ada Lovelace was born on 12 December 1815."
DOCUMENT = {
    "text": "Ada Lovelace was born in London on 10 December 1815.",
    "title": "Ada",
    "source": "https://a.example",
}
ASK: dict[str, Any] = {"response": ANSWER, "question": "Who was she?", "documents": [DOCUMENT]}


async def finished(client: httpx.AsyncClient, job_id: str) -> Any:
    async with asyncio.timeout(FINISHED_WITHIN_S):
        while True:
            job = (await client.get(f"/v1/jobs/{job_id}")).json()
            if job["status"] in ("done", "failed", "cancelled"):
                return job
            await asyncio.sleep(0.01)


async def answered(client: httpx.AsyncClient, path: str, status: int) -> httpx.Response:
    async with asyncio.timeout(FINISHED_WITHIN_S):
        while True:
            answer = await client.get(path)
            if answer.status_code == status:
                return answer
            await asyncio.sleep(0.02)


def events_in(text: str) -> list[tuple[str, str, int]]:
    """Type, data and number of each server-sent event, without comments."""
    found = []
    for block in text.split("\n\n"):
        fields = dict(line.split(": ", 1) for line in block.splitlines() if not line.startswith(":"))
        if fields:
            found.append((fields["event"], fields["data"], int(fields["id"])))
    return found
