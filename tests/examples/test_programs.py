from __future__ import annotations

import json
import os
import re
import runpy
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from factloop.guarding.policy import REPLACED
from tests.simulator import MODEL, Simulator
from tests.simulator.world import Response

EXAMPLES = Path(__file__).parents[2] / "examples"
ANSWERS = EXAMPLES / "evaluation" / "responses.jsonl"
Run = Callable[..., list[str]]


@pytest.fixture(scope="module")
def sim() -> Iterator[Simulator]:
    with Simulator() as simulator:
        yield simulator


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    """Runs a program in its own folder, in this process, and returns its output."""

    def run(program: str, *arguments: object, sim: Simulator | None = None, model: str = MODEL) -> list[str]:
        with monkeypatch.context() as patch:
            patch.chdir(tmp_path)
            patch.setenv("FACTLOOP_CACHE_DIR", str(tmp_path / "cache"))
            if sim is not None:
                for name, value in {**sim.environment, "OPENAI_BASE_URL": sim.base_url, "MODEL": model}.items():
                    patch.setenv(name, value)
            patch.setattr(sys, "argv", [program, *map(str, arguments)])
            patch.setattr(sys, "path", [str((EXAMPLES / program).parent), *sys.path])
            runpy.run_path(str(EXAMPLES / program), run_name="__main__")
        return capsys.readouterr().out.splitlines()

    return run


def test_the_graph_writes_anew_what_did_not_hold(run: Run) -> None:
    lines = run("langgraph/rewriting.py")
    assert [line.split(": ")[:2] for line in lines[:4]] == [
        ["draft 1", "supported"],
        ["draft 1", "not_supported"],
        ["draft 2", "supported"],
        ["draft 2", "supported"],
    ]
    assert lines[-1].endswith("until 1877.")


def test_a_batch_reports_each_answer_and_goes_on_where_it_was(run: Run, tmp_path: Path) -> None:
    lines = run("batch/batch.py", ANSWERS, "reports")
    assert "shy-towers: 1 of 1 supported, 0 unscored" in lines
    assert [line.split(":")[0] for line in lines[-3:]] == ["careful", "hasty", "shy"]
    assert len((tmp_path / "reports" / "reports.jsonl").read_text(encoding="utf-8").splitlines()) == 9
    assert run("batch/batch.py", ANSWERS, "reports") == lines[-3:], "nothing is judged twice"


def test_a_batch_runs_with_a_model(run: Run, tmp_path: Path, sim: Simulator) -> None:
    lines = run("batch/batch.py", ANSWERS, "reports", sim=sim)
    assert len(lines) == 9 + 3
    summary = json.loads((tmp_path / "reports" / "summary.json").read_text(encoding="utf-8"))
    assert summary["fingerprint"]["model"] == MODEL


@pytest.mark.parametrize("program", ["batch/batch.py", "ray/spread.py"])
def test_a_program_without_its_files_says_how_it_is_started(run: Run, program: str) -> None:
    with pytest.raises(SystemExit, match=f"python examples/{program} "):
        run(program)


@pytest.mark.ray
@pytest.mark.timeout(300)
def test_two_workers_on_ray_find_the_same(run: Run, tmp_path: Path) -> None:
    """Uses a process of its own, since the workers end with it."""
    pytest.importorskip("ray")
    command = [sys.executable, "-W", "error", str(EXAMPLES / "ray" / "spread.py"), str(ANSWERS), "reports"]
    environment = {**os.environ, "FACTLOOP_CACHE_DIR": str(tmp_path / "cache")}
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=280)
    assert (done.returncode, done.stdout.splitlines()) == (0, run("batch/batch.py", ANSWERS, "alone")[-3:]), done.stderr


def test_the_guard_finds_the_wrong_year(run: Run) -> None:
    first, second = run("rag/guarded.py")
    assert first.startswith("supported: Smeaton's Tower was lit on 16 October 1759. [")
    assert second.startswith("not_supported: ")
    assert "1887" in second
    announced, _, streamed = run("rag/streamed.py")
    assert (announced, streamed.endswith(f" {REPLACED}")) == ("Let me look that up.", True)
    assert first.startswith(f"supported: {streamed.removesuffix(f' {REPLACED}')} [")


@pytest.fixture
def told(sim: Simulator, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Response:
    response = sim.world.one_response(6)
    documents = tmp_path / "documents"
    documents.mkdir()
    for number, passage in enumerate(response.passages):
        (documents / f"{number}.md").write_text(f"# {passage.title}\n\n{passage.text}\n", encoding="utf-8")
    monkeypatch.setenv("DOCS", str(documents))
    return response


def test_the_graph_tells_the_model_what_did_not_hold(
    run: Run, sim: Simulator, told: Response, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("QUESTION", told.prompt)
    sim.reset()
    lines = run("langgraph/rewriting.py", sim=sim)
    failing = [line.split(": ", 2)[2] for line in lines if line.startswith("draft 1: not_supported")]
    assert failing
    assert any(line.startswith("draft 2: supported") for line in lines)
    first, second = sim.bodies("chat")
    assert all(claim in second["messages"][-1]["content"] for claim in failing)
    assert len(first["messages"]) == len(second["messages"]) - 1


def test_the_openai_sdk_alone_streams_what_was_checked(run: Run, sim: Simulator, told: Response) -> None:
    sim.reset()
    *answer, counted = run("openai/ask.py", told.prompt, sim=sim, model=MODEL.removeprefix("openai:"))
    assert re.sub(r"\[[a-z ]+\]", "", " ".join(answer)).split() == told.text.split()
    assert "[contradicted by the sources]" in " ".join(answer)
    assert re.fullmatch(r"\(\d+ of [1-9]\d* claims supported, 0 unscored\)", counted)
    assert sim.stats().stages["chat"].requests == 1


@pytest.fixture
def client(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[], TestClient]:
    monkeypatch.setenv("FACTLOOP_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.syspath_prepend(EXAMPLES / "support")
    return lambda: TestClient(runpy.run_path(str(EXAMPLES / "support" / "app.py"))["app"])


def test_the_agent_behind_fastapi_streams_what_was_checked(
    sim: Simulator, told: Response, client: Callable[[], TestClient], monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in {**sim.environment, "OPENAI_BASE_URL": sim.base_url, "MODEL": MODEL}.items():
        monkeypatch.setenv(name, value)
    answer = client().get("/streamed", params={"question": told.prompt})
    assert answer.headers["content-type"] == "text/plain; charset=utf-8"
    assert REPLACED in answer.text
    kept = [part.strip() for part in answer.text.split(REPLACED) if part.strip()]
    assert kept
    assert all(part in told.text for part in kept)


def test_in_production_the_planted_sentence_is_left_out_or_corrected(client: Callable[[], TestClient]) -> None:
    bot = client()
    assert "<form>" in bot.get("/").text
    given = {"question": "How long are snapshots kept?"}
    true = "Larder keeps encrypted snapshots of servers. "
    assert bot.get("/streamed", params=given).text == f"{true}{REPLACED}"
    assert bot.get("/corrected", params=given).text == f"{true}Snapshots are kept for 30 days."
