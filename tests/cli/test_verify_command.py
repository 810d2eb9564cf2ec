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
