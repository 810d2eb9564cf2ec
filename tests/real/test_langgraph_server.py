"""LangGraph's own server with the graphs of `langgraph.json`, asked over HTTP.

`langgraph` (the package `langgraph-cli[inmem]`) wants older versions of what our tests use, so it is taken from an
environment of its own, that has factloop's requirements too: from the path, or by the variable below.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import socket
import subprocess
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
import requests

from tests.simulator import MODEL, Simulator

PROGRAM = os.environ.get("FACTLOOP_TEST_LANGGRAPH") or shutil.which("langgraph")
pytestmark = [
    pytest.mark.real,
    pytest.mark.skipif(PROGRAM is None, reason="langgraph-cli[inmem] is not installed"),
]

ROOT = Path(__file__).resolve().parents[2]
TEXT = "Ada Lovelace was born in London. Ada Lovelace was born in Paris."
WITHIN_S = 60.0


@contextmanager
def running_server(folder: Path, *flags: str, **environment: str) -> Iterator[str]:
    """The URL of a server that is started in the folder."""
    config = json.loads((ROOT / "langgraph.json").read_text(encoding="utf-8"))
    graphs = {name: str(ROOT / place) for name, place in config["graphs"].items() if name != "trustscore"}
    (folder / "langgraph.json").write_text(json.dumps({"dependencies": [str(ROOT)], "graphs": graphs}))
    with socket.create_server(("127.0.0.1", 0)) as held:
        port = held.getsockname()[1]
    assert PROGRAM is not None
    command = [PROGRAM, "dev", "--no-browser", "--no-reload", "--host", "127.0.0.1", "--port", str(port), *flags]
    server = subprocess.Popen(
        command,
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(ROOT), **environment},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    try:
        _wait_for(f"http://127.0.0.1:{port}/ok", server)
        yield f"http://127.0.0.1:{port}"
    finally:
        os.killpg(server.pid, signal.SIGKILL)
        server.wait()


def _wait_for(url: str, server: subprocess.Popen[bytes]) -> None:
    for _ in range(int(WITHIN_S / 0.1)):
        try:
            if requests.get(url, timeout=5).ok:
                return
        except requests.ConnectionError:
            assert server.poll() is None, "it ended at once"
        time.sleep(0.1)
    raise AssertionError(f"LangGraph's server does not answer at {url}")


def verdicts(url: str, graph: str) -> list[str]:
    asked: Mapping[str, Any] = {"assistant_id": graph, "input": {"prompt": "Where was she born?", "response": TEXT}}
    answer = requests.post(f"{url}/runs/wait", json=asked, timeout=WITHIN_S).json()
    return [claim["judgement"]["verdict"] for claim in answer["claims"]]


@pytest.fixture
def documents(tmp_path: Path) -> Path:
    path = tmp_path / "ada.txt"
    path.write_text("Ada Lovelace was born in London on 10 December 1815.\n", encoding="utf-8")
    return path


def test_the_offline_engine_blocks_nothing(tmp_path: Path, documents: Path) -> None:
    """The server refuses whatever blocks its event loop."""
    with running_server(tmp_path, FACTLOOP_DOCS=str(documents)) as url:
        assert verdicts(url, "safe-fused") == ["supported", "not_supported"]
        assert verdicts(url, "safe-paper") == ["supported", "not_supported"]


def test_a_model_is_asked(sim: Simulator, tmp_path: Path, documents: Path) -> None:
    sim.set(reads_by_words=True)
    environment = {
        "FACTLOOP_MODEL": MODEL,
        "FACTLOOP_BASE_URL": sim.base_url,
        "FACTLOOP_CACHE_DIR": str(tmp_path / "c"),
    }
    with running_server(tmp_path, "--allow-blocking", FACTLOOP_DOCS=str(documents), **environment) as url:
        found = [verdicts(url, graph) for graph in ("safe-fused", "safe-paper", "safe-grounded")]
    assert all(len(one) == 2 for one in found)
    assert sim.stats().model.requests > 0
