from __future__ import annotations

import importlib.util
import json
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer
from langgraph.graph.state import CompiledStateGraph

from factloop.agents.safe import state as safe_state
from factloop.agents.trustscore import state as trust_state
from tests.simulator import MODEL, Simulator

ROOT = Path(__file__).resolve().parents[2]
GRAPHS: dict[str, str] = json.loads((ROOT / "langgraph.json").read_text(encoding="utf-8"))["graphs"]
QUESTION = "Where was Ada Lovelace born?"
TRUE, WRONG = "Ada Lovelace was born in London.", "Ada Lovelace was born on 10 December 1825."
TEXT = f"{TRUE} {WRONG}"

Graph = CompiledStateGraph[Any, Any, Any, Any]


@pytest.fixture(autouse=True)
def settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "ada.txt").write_text("Ada Lovelace was born in London on 10 December 1815.\n", encoding="utf-8")
    monkeypatch.setenv("FACTLOOP_DOCS", str(tmp_path / "ada.txt"))
    monkeypatch.setenv("FACTLOOP_CORPUS", str(tmp_path / "ada.txt"))
    monkeypatch.setenv("FACTLOOP_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.chdir(tmp_path)


@pytest.fixture(params=["safe-fused", "safe-paper"])
async def graph(request: pytest.FixtureRequest) -> Graph:
    return await load(request.param)


async def load(named: str) -> Graph:
    path, _, name = GRAPHS[named].partition(":")
    spec = importlib.util.spec_from_file_location("studio_graphs", ROOT / path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    build: Callable[[], Awaitable[Graph]] = getattr(module, name)
    return await build()


def verdicts(output: dict[str, Any]) -> list[str]:
    return [claim["judgement"]["verdict"] for claim in output["claims"]]


@pytest.mark.parametrize("question", [{"prompt": "Who was Ada Lovelace?"}, {"prompt": None}, {}], ids=str)
async def test_it_checks_a_text_with_and_without_a_question(graph: Graph, question: dict[str, str | None]) -> None:
    output = await graph.ainvoke({**question, "response": TEXT})
    assert verdicts(output) == ["supported", "not_supported"]


async def test_a_second_run_on_one_thread_starts_afresh(graph: Graph) -> None:
    graph.checkpointer = InMemorySaver()
    thread: Any = {"configurable": {"thread_id": "one"}}
    first = await graph.ainvoke({"prompt": None, "response": TEXT}, thread)
    second = await graph.ainvoke({"prompt": None, "response": TRUE}, thread)
    third = await graph.ainvoke({"prompt": None, "response": TEXT}, thread)
    assert verdicts(first) == ["supported", "not_supported"]
    assert verdicts(second) == ["supported"]
    assert verdicts(third) == verdicts(first)


async def test_trustscore_judges_by_the_documents_and_starts_afresh(caplog: pytest.LogCaptureFixture) -> None:
    graph = await load("trustscore")
    graph.checkpointer = InMemorySaver(serde=JsonPlusSerializer(allowed_msgpack_modules=trust_state.CHECKPOINT_TYPES))
    thread: Any = {"configurable": {"thread_id": "one"}}
    right = await graph.ainvoke({"question": QUESTION, "response": TRUE}, thread)
    wrong = await graph.ainvoke({"question": QUESTION, "response": WRONG}, thread)
    assert [output["trust_fc"].relation for output in (right, wrong)] == ["support", "contradict"]
    assert right["trust_bc"].unscored_reason == wrong["trust_bc"].unscored_reason == "no_source"
    assert wrong["trust_ov"].missing
    assert caplog.messages == []


def test_studio_may_read_the_records_in_checkpoints() -> None:
    allowed = json.loads((ROOT / "langgraph.json").read_text(encoding="utf-8"))["checkpointer"]["serde"]
    types = {*safe_state.CHECKPOINT_TYPES, *trust_state.CHECKPOINT_TYPES}
    listed = {tuple(each) for each in allowed["allowed_msgpack_modules"]}
    assert listed == {(kind.__module__, kind.__name__) for kind in types}


async def test_limits_of_a_check_hold(monkeypatch: pytest.MonkeyPatch, sim: Simulator) -> None:
    for name, value in sim.environment.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("FACTLOOP_MODEL", MODEL)
    monkeypatch.setenv("FACTLOOP_BASE_URL", sim.base_url)
    monkeypatch.setenv("FACTLOOP_CACHE", "false")
    monkeypatch.setenv("FACTLOOP_MAX_CALLS_PER_CHECK", "1")
    output = await (await load("safe-fused")).ainvoke({"response": TEXT})
    assert len(sim.bodies()) == 1
    assert "budget" in {claim["judgement"]["unscored_reason"] for claim in output["claims"]}
