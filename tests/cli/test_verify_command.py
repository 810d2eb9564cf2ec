"""`factloop verify`: pairs in, the audit's input out."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from factloop.evaluation.audit.rows import load_predictions
from tests.cli.command import Command
from tests.evaluation.verification.world_pairs import read_rows, world_rows, write_rows
from tests.simulator import MODEL, Simulator

ROOT = Path(__file__).resolve().parents[2]
LLM = f"llm:{MODEL}"


@pytest.fixture
def pairs(home: Path) -> Path:
    rows = [
        {"claim": "Ada Lovelace was born in London.", "document": "Ada Lovelace was born in London.", "label": 1},
        {"claim": "Ada Lovelace was taught in Paris.", "document": "Ada Lovelace was born in London.", "label": 0},
    ]
    return write_rows(home / "pairs.jsonl", [{"system": "s", **row} for row in rows])


def test_pairs_become_predictions(factloop: Command, pairs: Path, home: Path) -> None:
    result = factloop("verify", pairs, "--verifier", "lexical", "--chunk-words", 3, "--out", "out.jsonl")
    assert (result.code, result.err) == (0, "")
    assert "lexical@3" in result.out
    assert "2 pairs (all with a label) in out.jsonl" in result.out
    table = load_predictions(home / "out.jsonl")
    assert sorted(table.scores) == ["lexical", "lexical@3"]
    assert table.scores["lexical"][0] > 0.5 > table.scores["lexical"][1]
    assert table.dataset.names == ("pairs",)


def test_the_summary_as_json(factloop: Command, pairs: Path) -> None:
    result = factloop("verify", pairs, "--verifier", "lexical", "--out", "out.jsonl", "--json", "-")
    found = json.loads(result.out)
    assert (found["n_pairs"], found["n_labelled"], found["schema_version"]) == (2, 2, "1.0")
    assert found["evaluators"] == [{"name": "lexical", "n_scored": 2, "unscored": {}, "share_supported": 0.5}]


def test_a_data_set_and_a_pipe(factloop: Command, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    row = {"id": "w", "claim": "Ada paints.", "evidence": ["Ada paints."], "label": "supported"}
    wice = write_rows(home / "wice_dev.jsonl", [{**row, "supporting_sentences": []}])
    flags = ("--verifier", "lexical", "--quiet", "--out")
    result = factloop("verify", "--dataset", "wice:dev", "--data", wice, *flags, "wice.jsonl")
    assert (result.code, result.out, result.err) == (0, "", "")
    (found,) = read_rows(home / "wice.jsonl")
    assert (found["dataset"], found["task"], found["label"]) == ("wice", "Wikipedia verification", 1)
    plain = write_rows(home / "plain.jsonl", [{"text": "Ada paints.", "source": "Ada paints.", "gold": "yes"}])
    columns = ("--column", "claim=text", "--column", "document=source", "--column", "label=gold", "--label", "yes=1")
    with plain.open() as stream:
        monkeypatch.setattr(sys, "stdin", stream)
        assert factloop("verify", "-", *columns, "--constant", "dataset=d", *flags, "piped.jsonl").code == 0
    (found,) = read_rows(home / "piped.jsonl")
    assert (found["claim"], found["document"], found["label"], found["dataset"]) == ("Ada paints.",) * 2 + (1, "d")


def test_a_model_is_accounted_for(factloop: Command, sim: Simulator, home: Path) -> None:
    rows = world_rows(sim.world, 20)
    rows[3]["document"] = ""
    pairs = write_rows(home / "pairs.jsonl", rows)
    flags = ("verify", pairs, "--verifier", LLM, "--verifier", "bespoke:sim", "--out", "out.jsonl", "--strict")
    result = factloop(*flags)
    assert result.code == 3
    assert re.search(r"Verifier +Scored +Supported +Unscored *\n", result.out)
    assert re.search(rf"{LLM} +19 +\d+\.\d% +1 *\n +1 no source *\n", result.out)
    assert "calls" in result.out
    found = read_rows(home / "out.jsonl")
    assert found[3]["unscored"] == {LLM: "no_source", "bespoke:sim": "no_source"}
    assert {row["unscored"]["bespoke:sim"] for row in found[:3]} == {"parse_failure"}  # it chats: neither yes nor no
    scores = [(row["label"], row["evaluators"][LLM]) for row in found if row["evaluators"][LLM] is not None]
    assert len(scores) == 19
    assert sum(label == round(score) for label, score in scores) > 17


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (("pairs.jsonl", "--dataset", "wice:dev"), "give a file of pairs, or a data set with --dataset NAME:PART"),
        ((), "give a file of pairs, or a data set with --dataset NAME:PART"),
        (("pairs.jsonl", "--data", "x"), "--data goes with --dataset; the file of pairs comes first"),
        (("--dataset", "wice:dev", "--column", "a=b"), "--column, --constant and --label go with a file of pairs"),
        (("pairs.jsonl", "--column", "claim"), "--column 'claim': write FIELD=VALUE"),
        (("pairs.jsonl", "--constant", "system=a", "--constant", "system=b"), "--constant names 'system' twice"),
        (("pairs.jsonl", "--label", "good=2"), "--label good=2: a label is 0 or 1"),
        (("pairs.jsonl", "--column", "claims=x"), "PairRow has no field 'claims'"),
        (("pairs.jsonl", "--column", "claim=text"), "pairs.jsonl:1: field 'text': it is missing"),
        (("absent.jsonl",), "absent.jsonl: cannot be read"),
        (("--dataset", "wise:dev"), "there is no data set 'wise'"),
        (("--dataset", "wice"), "wice has no part ''"),
        (("pairs.jsonl", "--out", "pairs.jsonl"), "pairs.jsonl: would overwrite pairs.jsonl, which is to be read"),
        (("pairs.jsonl", "--out", "-"), "--out names a file: a run goes on from it"),
        (("pairs.jsonl", "--out", "no/out.jsonl"), "no/out.jsonl: cannot be written"),
        (("pairs.jsonl", "--verifier", "gpt"), "there is no verifier 'gpt'"),
        (("pairs.jsonl", "--verifier", "llm:openai:gpt-4o"), "model 'openai:gpt-4o' needs a key"),
        (("pairs.jsonl", "--temperature", "9"), "command line: temperature = 9.0"),
    ],
)
@pytest.mark.usefixtures("pairs")
def test_what_is_wrong_is_said_in_one_line(
    factloop: Command, home: Path, arguments: tuple[str, ...], complaint: str
) -> None:
    out = () if "--out" in arguments else ("--out", "out.jsonl")
    verifier = () if "--verifier" in arguments else ("--verifier", "lexical")
    result = factloop("verify", *arguments, *verifier, *out)
    assert result.code == 2
    assert result.complaint.startswith(f"factloop: {complaint}")
    assert sorted(path.name for path in home.iterdir()) == ["pairs.jsonl"]


@pytest.mark.process
def test_a_killed_process_loses_nothing(factloop: Command, sim: Simulator, home: Path) -> None:
    pairs = write_rows(home / "pairs.jsonl", world_rows(sim.world, 400))
    sim.set(llm_latency_s=0.05)
    flags = ["verify", str(pairs), "--verifier", LLM, "--concurrency", "16", "--quiet", "--out", "out.jsonl"]
    process = subprocess.Popen(
        [sys.executable, "-m", "factloop", *flags],
        cwd=home,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )
    while sim.stats().model.requests < 150:
        assert process.poll() is None, "it ended too early"
        time.sleep(0.01)
    process.send_signal(signal.SIGKILL)
    process.wait()
    time.sleep(0.1)  # what was under way arrives at the simulator
    asked = sim.stats().model.requests
    sim.set(llm_latency_s=0.0)
    assert factloop(*flags).code == 0
    n_different = len({(row["claim"], row["document"]) for row in read_rows(pairs)})
    assert asked < n_different
    assert sim.stats().model.requests <= n_different + 16
    assert [row["claim_id"] for row in read_rows(home / "out.jsonl")] == [row["claim_id"] for row in read_rows(pairs)]
