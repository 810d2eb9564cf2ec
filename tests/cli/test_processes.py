from __future__ import annotations

import json
import os
import random
import signal
import socket
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.cli.command import Command
from tests.cli.processes import ROOT, WITHIN_S, Start, n_requests, wait_for_requests, wait_until
from tests.simulator import MODEL, Faults, Simulator
from tests.timeless import stable

JUST_NOW_S = 0.1  # an answer this fresh may not have reached the journal: it counts as in flight


@pytest.fixture
def flags(sim: Simulator, home: Path) -> list[str]:
    sim.set(llm_latency_s=0.03, search_latency_s=0.01)
    response = min(sim.world.responses, key=lambda response: len(response.facts))
    (home / "long.md").write_text(response.text, encoding="utf-8")
    return ["check", "long.md", "--question", response.prompt, "--model", MODEL, "--search", "serper", "--quiet"]


@pytest.fixture
def trust_flags(sim: Simulator, home: Path) -> list[str]:
    pairs = [pair for pair in sim.world.questions[:40] if sim.subject.knowledge(pair.topic) == "known"][:6]
    rows = [
        {"question": pair.question, "response": pair.answer if number % 3 else pair.wrong(random.Random(number))}
        for number, pair in enumerate(pairs)
    ]
    (home / "qa.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in rows), encoding="utf-8")
    return ["trust", "qa.jsonl", "--subject-model", MODEL, "--quiet"]


def report_in(path: Path) -> Any:
    return stable(json.loads(path.read_text(encoding="utf-8")))


@pytest.mark.process
@pytest.mark.parametrize("command", ["check", "trust"])
def test_a_killed_and_an_interrupted_run_go_on_to_the_same_report(
    factloop: Command, sim: Simulator, home: Path, flags: list[str], trust_flags: list[str], start: Start, command: str
) -> None:
    given = {"check": flags, "trust": trust_flags}[command]
    assert factloop(*given, "--run-dir", "undisturbed", "--set", "cache_dir=c1").code == 0
    n_undisturbed = n_requests(sim.stats())
    sim.reset()
    disturbed = (*given, "--run-dir", "disturbed", "--set", "cache_dir=c2")
    in_flight = 0
    for n_new, blow in ((5, signal.SIGKILL), (15, signal.SIGINT)):
        process = start(*disturbed, "--concurrency", 2)
        wait_for_requests(sim, process, n_requests(sim.stats()) + n_new)
        process.send_signal(signal.SIGSTOP)  # nothing more is sent while we count
        stats = sim.stats(with_log=True)
        fresh = [entry for entry in stats.log if entry.started_s + entry.took_s > stats.elapsed_s - JUST_NOW_S]
        in_flight += stats.in_flight + len(fresh)
        process.send_signal(blow)
        process.send_signal(signal.SIGCONT)
        _, said = process.communicate(timeout=WITHIN_S)
    assert (process.returncode, said) == (
        130, "factloop: stopped. Run the same command again to continue from disturbed.\n",
    )  # fmt: skip
    assert factloop(*disturbed).code == 0
    assert report_in(home / "disturbed" / "report.json") == report_in(home / "undisturbed" / "report.json")
    assert sim.stats().repeated <= in_flight + 4  # what an interrupted process sends before it hears of it
    assert n_requests(sim.stats()) <= n_undisturbed + in_flight + 4


@pytest.mark.process
def test_generated_responses_go_on_in_the_same_file(
    factloop: Command, sim: Simulator, home: Path, start: Start
) -> None:
    """Twenty responses, four at a time; the output file is the only cache."""
    sim.set(llm_latency_s=0.1)
    out, rows = home / "out.jsonl", [{"prompt": response.prompt} for response in sim.world.responses[:20]]
    (home / "asked.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in rows), encoding="utf-8")
    given = f"--model {MODEL} --data asked.jsonl --n 20 --out out.jsonl --concurrency 4 --no-cache"
    command = ("research", "generate", "longfact", *given.split())
    process = start(*command)
    wait_until(lambda: out.exists() and out.read_bytes().count(b"\n") >= 6, process)
    process.send_signal(signal.SIGSTOP)  # it holds the file, and asks for nothing more
    second = factloop(*command)
    assert (second.code, second.complaint) == (2, "factloop: another process is using out.jsonl; wait for it to finish")
    process.kill()
    process.wait()
    with out.open("ab") as file:
        file.write(b'{"id":"7/openai:sim","sys')  # as a full disk or a power cut leaves it
    n_whole = out.read_bytes().count(b"\n")
    sim.set(llm_latency_s=0.0)
    result = factloop(*command)
    assert (result.code, f"20 prompts from asked.jsonl, {n_whole} of them saved earlier" in result.out) == (0, True)
    written = [json.loads(line)["response"] for line in out.read_text(encoding="utf-8").splitlines()]
    assert sorted(written) == sorted(one.text for one in sim.world.responses[:20])
    assert sim.stats().model.requests <= 20 + 4  # those in flight are asked twice


def interrupt(process: subprocess.Popen[str]) -> None:
    process.send_signal(signal.SIGINT)
    _, said = process.communicate(timeout=WITHIN_S)
    assert (process.returncode, said.startswith("factloop: stopped."), said.count("\n")) == (130, True, 1)


INTERRUPTED_WHILE_IMPORTING = """
import os, signal, sys

class Interrupt:
    def find_spec(self, name, path=None, target=None):
        if name == WHAT:
            os.kill(os.getpid(), signal.SIGINT)

WHAT = sys.argv.pop(1)
sys.meta_path.insert(0, Interrupt())
from factloop.cli import main
main()
"""
INTERRUPTED_BEFORE_A_TASK_BEGAN = """
import asyncio, os, signal
from factloop.cli.console import run_until_stopped

async def inner():
    pass

async def outer(inner):
    await inner

async def work():
    os.kill(os.getpid(), signal.SIGINT)
    try:
        await asyncio.sleep(60)
    finally:
        task = asyncio.create_task(outer(inner()))  # as LangGraph's are at times: cancelled before it first runs
        task.cancel()
        await asyncio.wait([task])

run_until_stopped(work(), run_dir=None, kept=True)
"""


@pytest.mark.parametrize(
    "program",
    [
        *((INTERRUPTED_WHILE_IMPORTING, name, "check", "a.md") for name in ("factloop.cli.app", "factloop.cli.check")),
        (INTERRUPTED_BEFORE_A_TASK_BEGAN,),
    ],
)
def test_an_interrupt_is_said_in_one_line(home: Path, program: tuple[str, ...]) -> None:
    (home / "a.md").write_text("Rome is in Italy.", encoding="utf-8")
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-c", *program]
    ended = subprocess.run(command, cwd=home, env=environment, capture_output=True, text=True, check=False)
    (said,) = ended.stderr.splitlines()
    assert (ended.returncode, ended.stdout, said.startswith("factloop: stopped.")) == (130, "", True)


@pytest.mark.process
def test_a_check_at_its_deadline_does_not_wait_for_a_search_that_hangs(
    sim: Simulator, home: Path, flags: list[str], start: Start
) -> None:
    sim.set(stage_faults={"search": Faults(hang=1.0)})
    given = ("--timeout", 10 * WITHIN_S, "--deadline", 6.0, "--json", "report.json", "--fail-if-unscored")
    process = start(*flags, *given)
    _, said = process.communicate(timeout=WITHIN_S)
    assert process.returncode == 3
    assert "no claim could be scored: the check reached its deadline of 6 s" in said
    assert json.loads((home / "report.json").read_text())["counts"]["unscored"] > 0
    assert sim.stats().search.requests > 0


@pytest.mark.process
@pytest.mark.parametrize("answers", [True, False])
def test_an_interrupted_run_does_not_wait_for_a_search(
    sim: Simulator, flags: list[str], start: Start, monkeypatch: pytest.MonkeyPatch, answers: bool
) -> None:
    sim.set(stage_faults={"search": Faults(hang=1.0)})
    with socket.create_server(("127.0.0.1", 0)) as silent:
        if not answers:
            monkeypatch.setenv("FACTLOOP_SERPER_URL", f"http://127.0.0.1:{silent.getsockname()[1]}")
        process = start(*flags, "--timeout", 10 * WITHIN_S)
        if answers:
            wait_until(lambda: sim.stats().search.requests > 0, process)
            interrupt(process)
            return
        silent.settimeout(WITHIN_S)
        connection, _ = silent.accept()
        with connection:
            interrupt(process)
    assert sim.stats().model.requests == 0


def test_a_reader_that_leaves_early_is_no_failure(answer: Path, docs: Path, start: Start) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    with os.fdopen(writing, "w") as unread:
        processes = [start("check", answer, "--docs", docs, *flags, stdout=unread) for flags in ((), ("--json", "-"))]
    for process in processes:
        assert (process.communicate(timeout=WITHIN_S)[1], process.returncode) == ("", 0)


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
def test_a_full_disk_is_named_in_one_line(answer: Path, docs: Path, start: Start) -> None:
    with Path("/dev/full").open("w") as full:
        process = start("check", answer, "--docs", docs, "--json", "-", stdout=full)
    said = process.communicate(timeout=WITHIN_S)[1]
    assert (process.returncode, said) == (
        2, "factloop: cannot write to standard output: No space left on device\n",
    )  # fmt: skip


HEAVY = {"faker", "langchain_core", "langgraph", "numpy", "openai", "spacy", "tantivy", "torch", "transformers"}
PROGRAM = """
import json, sys
from factloop.cli import main
sys.argv = ["factloop", *sys.argv[1:]]
try:
    main()
except SystemExit as ended:
    print(json.dumps([ended.code, sorted({name.partition(".")[0] for name in sys.modules})]))
"""
NOWHERE = "nowhere/a.md"
DOCUMENTS = f"factloop: {NOWHERE}: there is no such file or folder"
ROWS = f"factloop: {NOWHERE}: no such file"
ASKED = "--question Who? --response Solomon. --n 1"
CASES = {
    f"check {NOWHERE}": (2, HEAVY, f"factloop: {NOWHERE}: no such file"),
    f"check answer.md --docs {NOWHERE}": (2, HEAVY, DOCUMENTS),
    f"correct {NOWHERE} --docs answer.md": (2, HEAVY, f"factloop: {NOWHERE}: no such file"),
    f"trust {NOWHERE} --subject-model openai:m": (2, HEAVY, ROWS),
    f"trust answer.md --corpus {NOWHERE}": (2, HEAVY, DOCUMENTS),
    f"eval {NOWHERE} --docs answer.md": (2, HEAVY, ROWS),
    f"eval factscore --data {NOWHERE}": (2, HEAVY, ROWS),
    f"research experiment {NOWHERE}": (2, HEAVY, ROWS),
    f"research verify {NOWHERE} --verifier baseline --out o.jsonl": (2, HEAVY, ROWS),
    "check answer.md --docs source.md --embeddings ./nowhere --no-cache": (
        2, {"torch", "transformers", "sentence_transformers"}, "factloop: cannot load a model from './nowhere'",
    ),
    "check answer.md --docs source.md --no-cache": (
        0, {"openai", "langchain_openai", "sentence_transformers", "matplotlib"}, "",
    ),
    f"research distractors {ASKED}": (
        0, {"nltk", "scipy", "sklearn", "textblob", "pandas", "langgraph", "langchain_core", "openai"}, "",
    ),
    "--help": (0, HEAVY, ""),
    "trust --help": (0, HEAVY, ""),
    "eval mixedqa --help": (0, HEAVY, ""),
    "research kb --help": (0, HEAVY, ""),
}  # fmt: skip


@pytest.mark.process
@pytest.mark.parametrize("arguments", CASES)
def test_what_a_command_does_not_import(tmp_path: Path, arguments: str) -> None:
    code, unwanted, said = CASES[arguments]
    (tmp_path / "answer.md").write_text("Rome is in Italy.\n", encoding="utf-8")
    (tmp_path / "source.md").write_text("Rome is in Italy, on the Tiber.\n", encoding="utf-8")
    command = [sys.executable, "-c", PROGRAM, *arguments.split()]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=100, check=True)
    ended, packages = json.loads(done.stdout.splitlines()[-1])
    assert (ended, done.stderr[: len(said)], done.stderr.count("\n")) == (code, said, bool(said))
    assert unwanted.isdisjoint(packages)
