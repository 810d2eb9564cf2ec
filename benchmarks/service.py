"""`python -m benchmarks.service`: the service against the Python API, and against those who break its limits.

50 checks at once, of simulated responses, by `FactChecker.acheck` in one process and through `factloop serve` in
another; the model takes as long to answer as the simulator's defaults say. Then a caller's checks of one sentence,
alone and next to another caller's long checks, all without a model. Then 1,000 requests that each break a limit.
Ends with 1 where a target is missed.
"""

from __future__ import annotations

import asyncio
import os
import random
import signal
import socket
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter, deque
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import typer
from rich.console import Console

from benchmarks.rows import Row, compared, table
from factloop import FactChecker, FactualityReport
from tests.simulator import MODEL, RunningSimulator, spawn

N_CHECKS = 50
N_REFUSED = 1_000
N_SMALL, N_LONG = 30, 10
LONG, LONG_DOCUMENT = 156_000, 95_000
BESIDE_TARGET = 5.0
TARGET = 1.3
ROUNDS = 3
WITHIN_S = 600.0
KEY = "benchmark-key-0123456789"
BODY_MB = 0.1


def main(rounds: int = ROUNDS) -> None:
    """Measure the service and print targets beside measurements."""
    rows = [*_speed(rounds), *_neighbours(), *asyncio.run(_refusals())]
    Console().print(table("the service", rows))
    raise typer.Exit(1 if any(row.is_met is False for row in rows) else 0)


def _speed(rounds: int) -> list[Row]:
    """The two take turns, so that a busy machine slows both; a first check of each is thrown away."""
    with spawn() as simulator:
        os.environ.update(simulator.environment)
        responses = _responses(simulator)
        flags = ["--model", MODEL, "--base-url", simulator.base_url, "--search", "serper", "--no-cache"]
        limits = ["--concurrency", 0, "--set", f"max_jobs={len(responses)}", "--set", "rate=100000/minute"]
        with _serving(*flags, *limits) as address:
            asyncio.run(_by_api(simulator, responses[:1]))
            asyncio.run(_by_service(address, responses[:1]))
            pairs = [
                (asyncio.run(_by_api(simulator, responses)), asyncio.run(_by_service(address, responses)))
                for _ in range(rounds)
            ]
    api_s, service_s = (statistics.median(pair[side] for pair in pairs) for side in (0, 1))
    group = f"{len(responses)} checks at once"
    return [
        Row(group, "Python API", "", f"{api_s:.1f} s", None),
        Row(group, "service", "", f"{service_s:.1f} s", None),
        compared(
            group, "service / Python API", statistics.median(b / a for a, b in pairs), "at most", TARGET, "{:.2f}"
        ),
    ]


def _responses(simulator: RunningSimulator) -> list[tuple[str, str]]:
    """Texts with their prompts: thirds of the world's responses."""
    thirds = []
    for response in simulator.world.responses:
        sentences = response.text.split(". ")
        size = -(-len(sentences) // 3)
        parts = (sentences[place : place + size] for place in range(0, len(sentences), size))
        thirds += [(". ".join(part).rstrip(".") + ".", response.prompt) for part in parts]
    return thirds[:N_CHECKS]


async def _by_api(simulator: RunningSimulator, responses: Sequence[tuple[str, str]]) -> float:
    started = time.perf_counter()
    checker = FactChecker(model=MODEL, base_url=simulator.base_url, search="serper", cache=False, concurrency=0)
    async with checker:
        reports = await asyncio.gather(*(checker.acheck(*one) for one in responses))
    assert not any(map(_has_failed, reports))
    return time.perf_counter() - started


async def _by_service(address: str, responses: Sequence[tuple[str, str]]) -> float:
    limits = httpx.Limits(max_connections=len(responses))
    async with httpx.AsyncClient(base_url=address, timeout=WITHIN_S, limits=limits) as client:
        started = time.perf_counter()
        asked = [{"response": text, "question": prompt, "mode": "factuality"} for text, prompt in responses]
        answers = await asyncio.gather(*(client.post("/v1/checks?wait=true", json=one) for one in asked))
        took_s = time.perf_counter() - started
    assert not any(_has_failed(FactualityReport.model_validate_json(answer.content)) for answer in answers)
    return took_s


def _has_failed(report: FactualityReport) -> bool:
    """Whether a call failed. A third of a response may leave open who is meant: that is an answer."""
    return any(claim.judgement.unscored_reason not in (None, "ambiguous") for claim in report.claims)


def _neighbours() -> list[Row]:
    """The longest wait counts from the moment when the long checks arrive, with their documents still to be indexed."""
    with spawn() as simulator:
        sentences = [one for response in simulator.world.responses for one in response.text.split(". ")]
    rng = random.Random(0)
    os.environ["FACTLOOP_SERVICE_KEYS"] = f"{KEY} name=small, {KEY[::-1]} name=large"
    small = {"response": "The bridge was opened in 1932.", "documents": [{"text": "The bridge was opened in 1931."}]}
    large = (
        {
            "response": _text_of(sentences, LONG, rng),
            "documents": [{"text": _text_of(sentences, LONG_DOCUMENT, rng)} for _ in range(20)],
        }
        for _ in range(N_LONG)
    )
    with _serving("--set", "rate=100000/minute") as address:
        client = httpx.Client(base_url=address, headers={"Authorization": f"Bearer {KEY}"}, timeout=WITHIN_S)
        other = httpx.Client(base_url=address, headers={"Authorization": f"Bearer {KEY[::-1]}"}, timeout=WITHIN_S)
        with client, other:
            while client.get("/ready").status_code != httpx.codes.OK:
                time.sleep(0.5)
            alone = _seconds_each(client, small)
            jobs = [other.post("/v1/checks", json=one).raise_for_status().json()["id"] for one in large]
            beside = _seconds_each(client, small)
            left = sum(other.get(f"/v1/jobs/{job}").json()["status"] in ("queued", "running") for job in jobs)
            for job in jobs:
                other.post(f"/v1/jobs/{job}/cancel")
    group = f"one sentence next to {N_LONG} checks of {LONG:,} characters"
    medians = [statistics.median(one) for one in (alone, beside)]
    return [
        Row(group, "alone: median", "", f"{medians[0]:.2f} s", None),
        Row(group, "next to them: median; longest", "", f"{medians[1]:.2f} s; {max(beside):.2f} s", None),
        compared(group, "next to them / alone", medians[1] / medians[0], "at most", BESIDE_TARGET, "{:.1f}"),
        compared(group, "long checks still running or queued", left, "at least", N_LONG),
    ]


def _text_of(sentences: Sequence[str], characters: int, rng: random.Random) -> str:
    return ". ".join(rng.choices(sentences, k=characters // 20))[:characters]


def _seconds_each(client: httpx.Client, asked: dict[str, Any]) -> list[float]:
    took_s = []
    for number in range(N_SMALL):
        started = time.perf_counter()
        client.post("/v1/checks?wait=true", json={**asked, "question": f"Number {number}?"}).raise_for_status()
        took_s.append(time.perf_counter() - started)
        time.sleep(0.5)
    return took_s


async def _refusals() -> list[Row]:
    os.environ["FACTLOOP_SERVICE_KEYS"] = KEY
    flags = [
        "--set",
        f"max_body_mb={BODY_MB}",
        "--set",
        "rate=200/minute",
        "--set",
        "max_jobs=1",
        "--set",
        "max_queued=0",
    ]
    with _serving(*flags) as address:
        headers = {"Authorization": f"Bearer {KEY}", "Content-Type": "application/json"}
        async with httpx.AsyncClient(base_url=address, headers=headers, timeout=60.0) as client:
            wrong, counts = 0, Counter[int]()
            for number in range(N_REFUSED):
                expected, request = _BREAKING[number % len(_BREAKING)]
                answer = await client.request(**request)
                counts[answer.status_code] += 1
                wrong += answer.status_code not in expected or "error" not in answer.json()
            alive = (await client.get("/health")).status_code
    group = f"{N_REFUSED} requests that break a limit"
    shown = ", ".join(f"{status}: {n}" for status, n in sorted(counts.items()))
    return [
        Row(group, "by status", "", shown, None),
        compared(group, "answered with another status", wrong, "at most", 0),
        compared(group, "/health afterwards", alive, "at most", 200),
    ]


def _breaking() -> Iterator[tuple[tuple[int, ...], dict[str, Any]]]:
    """Requests, with the statuses that refuse them. Those that ask for jobs come to more than the rate allows: 429."""
    big = b"[" + b" " * int(BODY_MB * 1_200_000) + b"]"

    post = {"method": "POST", "url": "/v1/checks"}
    yield (401, 429), {"method": "GET", "url": "/v1/jobs", "headers": {"Authorization": "Bearer wrong-key-0123456789"}}
    yield (401,), {**post, "content": big, "headers": {"Authorization": ""}}
    yield (413, 429), {**post, "content": big}
    yield (400, 422, 429), {**post, "content": b"[" * 90_000}
    yield (415, 429), {**post, "content": b"response=x", "headers": {"Content-Type": "text/plain"}}
    yield (403,), {**post, "content": b"{}", "headers": {"Origin": "https://elsewhere.example"}}
    yield (400,), {"method": "GET", "url": "/health", "headers": {"Host": "elsewhere.example"}}
    yield (405,), {"method": "PUT", "url": "/health", "content": b"{}"}
    yield (404,), {"method": "GET", "url": "/v1/jobs/../../etc/passwd"}
    yield (404,), {"method": "GET", "url": "/assets/..%2f..%2fetc%2fpasswd"}
    yield (422, 429), {**post, "json": {"response": "x" * 90_000, "k": [0]}}


_BREAKING = tuple(_breaking())


@contextmanager
def _serving(*flags: object) -> Iterator[str]:
    """A service in a process of its own, until the block ends."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-m", "factloop", "serve", "--port", port, "--folder", Path(folder, "s"), *flags]
        process = subprocess.Popen([str(word) for word in command], stderr=subprocess.PIPE, text=True)
        try:
            assert process.stderr is not None
            line = process.stderr.readline()
            assert "serving at" in line, line
            threading.Thread(target=deque, args=(process.stderr, 0), daemon=True).start()  # a full pipe would block it
            yield f"http://127.0.0.1:{port}"
        finally:
            process.send_signal(signal.SIGTERM)
            process.wait(30)


if __name__ == "__main__":
    typer.run(main)
