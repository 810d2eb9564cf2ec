"""`factloop research verify`: pairs in, the audit's input out."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from factloop.evaluation.audit.rows import load_predictions
from tests.cli.command import Command
from tests.evaluation.verification.world_pairs import read_rows, write_rows
from tests.simulator import MODEL

ROOT = Path(__file__).resolve().parents[2]
LLM = f"llm:{MODEL}"


@pytest.fixture
def pairs(home: Path) -> Path:
    rows = [
        {"claim": "Ada Lovelace was born in London.", "document": "Ada Lovelace was born in London.", "label": 1},
        {"claim": "Ada Lovelace died in London in 1872.", "document": "Ada Lovelace was born in London.", "label": 0},
    ]
    return write_rows(home / "pairs.jsonl", [{"system": "s", **row} for row in rows])


def test_pairs_become_predictions(factloop: Command, pairs: Path, home: Path) -> None:
    result = factloop("research", "verify", pairs, "--verifier", "baseline", "--chunk-words", 3, "--out", "out.jsonl")
    assert (result.code, result.err) == (0, "")
    assert "baseline@3" in result.out
    assert "2 pairs (all with a label) in out.jsonl" in result.out
    table = load_predictions(home / "out.jsonl")
    assert sorted(table.scores) == ["baseline", "baseline@3"]
    assert table.scores["baseline"][0] > 0.5 > table.scores["baseline"][1]
    assert table.dataset.names == ("pairs",)


def test_a_data_set_and_a_pipe(factloop: Command, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    row = {"id": "w", "claim": "Ada paints.", "evidence": ["Ada paints."], "label": "supported"}
    wice = write_rows(home / "wice_dev.jsonl", [{**row, "supporting_sentences": []}])
    flags = ("--verifier", "baseline", "--quiet", "--out")
    result = factloop("research", "verify", "--dataset", "wice:dev", "--data", wice, *flags, "wice.jsonl")
    assert (result.code, result.out, result.err) == (0, "", "")
    (found,) = read_rows(home / "wice.jsonl")
    assert (found["dataset"], found["task"], found["label"]) == ("wice", "Wikipedia verification", 1)
    row = {"text": "Ada paints.", "source": "Ada paints.", "gold": "yes", "set": "d"}
    plain = write_rows(home / "plain.jsonl", [row])
    named = ("claim=text", "document=source", "label=gold", "dataset=set")
    columns = (*(word for one in named for word in ("--column", one)), "--label", "yes=1")
    with plain.open() as stream:
        monkeypatch.setattr(sys, "stdin", stream)
        assert factloop("research", "verify", "-", *columns, *flags, "piped.jsonl").code == 0
    (found,) = read_rows(home / "piped.jsonl")
    assert (found["claim"], found["document"], found["label"], found["dataset"]) == ("Ada paints.",) * 2 + (1, "d")


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (("pairs.jsonl", "--dataset", "wice:dev"), "give a file of pairs, or a data set with --dataset NAME:PART"),
        ((), "give a file of pairs, or a data set with --dataset NAME:PART"),
        (("pairs.jsonl", "--data", "x"), "--data and --documents go with --dataset; a file of pairs has its own"),
        (("--dataset", "wice:dev", "--column", "a=b"), "--column and --label go with a file of pairs"),
        (("pairs.jsonl", "--column", "claim"), "--column claim: it is FIELD=COLUMN"),
        (("pairs.jsonl", "--column", "system=a", "--column", "system=b"), "--column system=b: system has one already"),
        (("pairs.jsonl", "--label", "good=2"), "--label good=2: a label is 0 or 1"),
        (("pairs.jsonl", "--column", "claims=x"), "PairRow has no field 'claims'"),
        (("pairs.jsonl", "--column", "claim=text"), "pairs.jsonl:1: field 'text': it is missing"),
        (("absent.jsonl",), "absent.jsonl: cannot be read"),
        (("--dataset", "wise:dev"), "there is no data set 'wise'"),
        (("--dataset", "wice"), "wice has no part ''"),
        (("pairs.jsonl", "--out", "pairs.jsonl"), "pairs.jsonl: would overwrite pairs.jsonl, which is to be read"),
        (("pairs.jsonl", "--out", "-"), "--out names a file: a run goes on from it"),
        (("pairs.jsonl", "--out", "no/out.jsonl"), "no/out.jsonl: cannot be written"),
        (("pairs.jsonl", "--verifier", "gpt"), "there is no judge 'gpt'"),
        (("pairs.jsonl", "--verifier", "llm:openai:gpt-4o"), "model 'openai:gpt-4o' needs a key"),
        (("pairs.jsonl", "--temperature", "9"), "command line: temperature = 9.0"),
    ],
)
@pytest.mark.usefixtures("pairs")
def test_what_is_wrong_is_said_in_one_line(
    factloop: Command, home: Path, arguments: tuple[str, ...], complaint: str
) -> None:
    out = () if "--out" in arguments else ("--out", "out.jsonl")
    verifier = () if "--verifier" in arguments else ("--verifier", "baseline")
    result = factloop("research", "verify", *arguments, *verifier, *out)
    assert result.code == 2
    assert result.complaint.startswith(f"factloop: {complaint}")
    assert sorted(path.name for path in home.iterdir()) == ["pairs.jsonl"]
