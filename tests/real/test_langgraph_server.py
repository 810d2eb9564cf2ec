"""LangGraph's own server with the graphs of `langgraph.json`, asked over HTTP.

It rejects code that blocks its event loop. The package `langgraph-cli[inmem]` needs other versions than our tests, so
`make test-real` creates a separate environment.
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
import requests

from tests.real.servers import free_port, running
from tests.simulator import MODEL, Simulator

ROOT = Path(__file__).resolve().parents[2]
PROGRAM = shutil.which("langgraph", path=f"{ROOT / '.venv-langgraph' / 'bin'}{os.pathsep}{os.environ['PATH']}")
pytestmark = [
    pytest.mark.real,
    pytest.mark.skipif(PROGRAM is None, reason="LangGraph's server is not installed (make test-real does it)"),
]

TEXT = "Ada Lovelace was born in London. Ada Lovelace was born on 12 December 1815."
WITHIN_S = 60.0
GRAPHS = ("safe-fused", "safe-paper", "safe-grounded")


@contextmanager
def running_server(folder: Path, **environment: str) -> Iterator[str]:
    config = json.loads((ROOT / "langgraph.json").read_text(encoding="utf-8"))
    graphs = {name: str(ROOT / place) for name, place in config["graphs"].items() if name != "trustscore"}
    (folder / "langgraph.json").write_text(json.dumps({"dependencies": [str(ROOT)], "graphs": graphs}))
    port = free_port()
    assert PROGRAM is not None
    command = [PROGRAM, "dev", "--no-browser", "--no-reload", "--host", "127.0.0.1", "--port", str(port)]
    env = {**os.environ, "PYTHONPATH": str(ROOT), **environment}
    with running(command, port, "/ok", within_s=WITHIN_S, cwd=folder, env=env):
        yield f"http://127.0.0.1:{port}"


def claims(url: str, graph: str) -> list[Any]:
    asked: Mapping[str, Any] = {"assistant_id": graph, "input": {"prompt": "Where was she born?", "response": TEXT}}
    answer = requests.post(f"{url}/runs/wait", json=asked, timeout=WITHIN_S).json()
    assert "claims" in answer, answer
    return [claim["judgement"] for claim in answer["claims"]]


@pytest.fixture
def documents(tmp_path: Path) -> Path:
    path = tmp_path / "ada.txt"
    path.write_text("Ada Lovelace was born in London on 10 December 1815.\n", encoding="utf-8")
    return path


def test_the_offline_engine_judges(tmp_path: Path, documents: Path) -> None:
    with running_server(tmp_path, FACTLOOP_DOCS=str(documents)) as url:
        for graph in ("safe-fused", "safe-paper"):
            found = [judgement["verdict"] for judgement in claims(url, graph)]
            assert found == ["supported", "not_supported"]


@pytest.mark.parametrize("keeps", [True, False], ids=["cache", "no cache"])
def test_a_model_is_asked(sim: Simulator, tmp_path: Path, documents: Path, keeps: bool) -> None:
    sim.set(reads_by_words={"sim": 0.6})
    cache = tmp_path / "c"
    environment = {"FACTLOOP_CACHE_DIR": str(cache)} if keeps else {"FACTLOOP_CACHE": "false"}
    environment |= {"FACTLOOP_MODEL": MODEL, "FACTLOOP_BASE_URL": sim.base_url, "FACTLOOP_DOCS": str(documents)}
    with running_server(tmp_path, **environment) as url:
        found = [claims(url, graph) for graph in GRAPHS]
        n_asked = sim.stats().model.requests
        again = [claims(url, graph) for graph in GRAPHS]
    assert all(len(one) == 2 for one in found)
    assert [[one["verdict"] for one in each] for each in again] == [[one["verdict"] for one in each] for each in found]
    assert n_asked > 0
    assert (sim.stats().model.requests == n_asked) is keeps
    assert cache.exists() is keeps


def test_a_model_judges_by_documents_that_are_searched(sim: Simulator, tmp_path: Path, documents: Path) -> None:
    """Reading a dictionary would block the server's event loop, which it rejects."""
    sim.set(reads_by_words={"sim": 0.6})
    chapters = [f"Chapter {number} tells how {100 + number} looms came to the town of Orrin." for number in range(200)]
    documents.write_text("\n\n".join([documents.read_text(encoding="utf-8"), *chapters]), encoding="utf-8")
    environment = {"FACTLOOP_MODEL": MODEL, "FACTLOOP_BASE_URL": sim.base_url, "FACTLOOP_DOCS": str(documents)}
    with running_server(tmp_path, FACTLOOP_CACHE="false", **environment) as url:
        for graph in GRAPHS:
            assert [one["unscored_reason"] for one in claims(url, graph)] == [None, None]
