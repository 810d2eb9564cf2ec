"""`factloop eval FILE`: SAFE over a data set of responses."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from tests.cli.command import Command
from tests.evaluation.running.short_responses import short_items, write_items
from tests.simulator import MODEL, Simulator

ROWS = [
    {"prompt": "Who was Ada Lovelace?", "response": "Ada Lovelace was born in London.", "system": "one"},
    {"prompt": "Who was Ada Lovelace?", "response": "", "system": "two"},
    {"prompt": "Where did Ada Lovelace die?", "response": "Ada Lovelace died in London in 1872.", "system": "two"},
]


def write(path: Path, rows: Sequence[Any]) -> Path:
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows), encoding="utf-8")
    return path


@pytest.fixture
def data(home: Path) -> Path:
    return write(home / "responses.jsonl", ROWS)


def test_systems_are_scored_and_every_number_says_what_it_rests_on(
    factloop: Command, data: Path, docs: Path, home: Path
) -> None:
    flags = ("--k", 1, "--k", "median", "--k", "maximum", "--docs", docs, "--resamples", 20)
    result = factloop("eval", data, *flags, "--html", "page.html")
    assert (result.code, result.err) == (0, "")
    for part in (
        "F1@1",
        "Precision",
        "95% interval",
        "zero: a response without claims",
        "Abstained: 1",
    ):
        assert part in " ".join(result.out.split())
    assert (home / "page.html").read_text(encoding="utf-8").startswith("<!doctype html>")
    found = json.loads(factloop("eval", "responses", data, *flags, "--json", "-", "--abstention", "exclude").out)
    assert (found["kind"], len(found["responses"])) == ("responses", 3)
    one, two = found["scores"]["systems"]
    assert (one["at_k"][0]["f1"]["value"], one["at_k"][0]["f1"]["n"]) == (1.0, 1)
    assert (two["at_k"][0]["f1"]["value"], two["at_k"][0]["f1"]["n"], two["n_abstained"]) == (0.0, 1, 1)
    assert found["data"].startswith("responses.jsonl (sha256 ")


def test_a_model_judges_and_a_finished_run_is_scored_anew_for_nothing(
    factloop: Command, sim: Simulator, home: Path
) -> None:
    data = write_items(home / "short.jsonl", short_items(sim.world, 6))
    flags = (data, "--model", MODEL, "--search", "serper", "--run-dir", "run", "--quiet", "--json", "-")
    first = json.loads(factloop("eval", *flags, "--limit", 4).out)
    assert first["usage"]["calls"] == sim.stats().model.answered > 0
    whole = json.loads(factloop("eval", *flags).out)
    assert (len(first["responses"]), len(whole["responses"]), sim.stats().repeated) == (4, 6, 0)
    sim.reset()
    again = json.loads(factloop("eval", *flags, "--k", 3, "--level", 0.5).out)
    assert (again["scores"]["ks"], again["scores"]["level"]) == ([{"k": 3, "rule": "given"}], 0.5)
    assert again["responses"] == whole["responses"]
    assert sim.stats().stages == {}


@pytest.mark.usefixtures("sim")
def test_a_dry_run_spends_nothing(factloop: Command, sim: Simulator, data: Path) -> None:
    priced = ("--price-in", 0.15, "--price-out", 0.6)  # the simulator is no server whose prices are known
    flags = ("--model", "openai:gpt-4o-mini", *priced, "--search", "serper", "--dry-run", "--run-dir", "run")
    result = factloop("eval", data, *flags)
    assert (result.code, result.err, sim.stats().stages) == (0, "", {})
    assert "Nothing was spent. Estimate for 3 responses" in result.out
    estimate = json.loads(factloop("eval", data, *flags, "--limit", 2, "--json", "-").out)
    assert (estimate["n_sentences"], estimate["cost_usd"] > 0) == (1, True)
    assert not Path("run").exists()


def test_exit_codes(factloop: Command, data: Path, docs: Path, home: Path) -> None:
    low = factloop("eval", data, "--docs", docs, "--fail-under", 0.9, "--quiet")
    assert (low.code, low.out) == (1, "")
    assert low.complaint == "factloop: precision 0.000 of two (1 response) is below 0.9 (--fail-under)"
    for flags in ((), ("--fail-if-unscored",), ("--fail-under", 0.5)):  # without documents no claim can be judged
        nothing = factloop("eval", data, "--quiet", *flags)
        assert (nothing.code, nothing.out) == (3, "")
        assert nothing.complaint == "factloop: no claim could be scored: 2 × no source to check against"
    write(home / "none.jsonl", [{"prompt": "Who?", "response": ""}])
    undefined = factloop("eval", "none.jsonl", "--docs", docs, "--fail-under", 0, "--quiet")
    assert (undefined.code, undefined.complaint) == (
        1,
        "factloop: precision undefined of none (0 responses) is below 0 (--fail-under)",
    )
    empty = factloop("eval", "none.jsonl", "--docs", docs, "--quiet")
    said = "factloop: no claim could be scored: no response makes a claim that can be checked"
    assert (empty.code, empty.complaint) == (3, said)


def test_each_response_is_judged_by_its_own_documents(factloop: Command, docs: Path, home: Path) -> None:
    said = "The bridge has five arches."
    rows: list[dict[str, Any]] = [
        {"prompt": "How many?", "response": said, "system": "a", "documents": [said]},
        {
            "prompt": "How many?",
            "response": said,
            "system": "b",
            "documents": [{"text": "It has six.", "source": "b.md"}],
        },
        {"prompt": "How many?", "response": said, "system": "c", "documents": []},
        {"prompt": "Who was Ada Lovelace?", "response": "Ada Lovelace was born in London.", "system": "d"},
    ]
    data = write(home / "own.jsonl", rows)
    result = factloop("eval", data, "--docs", docs, "--json", "run.json", "--run-dir", "run")
    assert result.code == 0
    run = json.loads((home / "run.json").read_text())
    counts = {one["system"]: one["counts"] for one in run["scores"]["systems"]}
    found = {name: (of["supported"], of["not_supported"], of["unscored"]) for name, of in counts.items()}
    assert found == {"a": (1, 0, 0), "b": (0, 1, 0), "c": (0, 0, 1), "d": (1, 0, 0)}
    assert "Faithfulness: 2 of 4 responses were judged by their own documents" in " ".join(result.out.split())
    assert not any("judged alike" in warning for warning in run["warnings"])
    assert "1 of 4 responses could not be checked: its `documents` hold no text" in run["warnings"]
    alone = factloop("eval", data, "--quiet", "--json", "-", "--limit", 1)
    warnings = json.loads(alone.out)["warnings"]
    assert any("each response was judged by its own documents" in warning for warning in warnings)
    assert not any("nothing to check against" in warning for warning in warnings)
    rows[0]["documents"] = ["The bridge has six arches."]
    write(data, rows)
    other = factloop("eval", data, "--docs", docs, "--run-dir", "run")
    assert (other.code, "another configuration (data differ)" in other.complaint) == (2, True)
