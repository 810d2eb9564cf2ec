"""`factloop research generate`: responses and prompts from the command line."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from factloop.evaluation.datasets.longfact import POSTAMBLE, load_longfact
from factloop.evaluation.datasets.responses import load_responses
from tests.cli.command import Command
from tests.simulator import MODEL, Faults, Simulator

LONGFACT = ("research", "generate", "longfact", "--model", MODEL, "--price-in", 1, "--price-out", 2)
PROMPTS = ("research", "generate", "prompts", "--model", MODEL, "--price-in", 1, "--price-out", 2)


@pytest.fixture
def data(sim: Simulator, home: Path) -> Path:
    """Five prompts of the simulated world, without ids or topics."""
    path = home / "asked.jsonl"
    rows = [{"prompt": response.prompt} for response in sim.world.responses[:5]]
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows), encoding="utf-8")
    return path


def rows_of(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def test_responses_are_what_eval_reads(factloop: Command, sim: Simulator, data: Path, home: Path) -> None:
    result = factloop(*LONGFACT, "--data", data, "--n", 4, "--seed", 3, "--out", "out.jsonl", "--system", "mini")
    assert (result.code, result.err) == (0, "")
    first, second = result.out.splitlines()
    assert first == "out.jsonl: 4 responses of mini to 4 prompts of asked.jsonl"
    assert second.startswith("  4 model calls; $0.0")
    responses = {response.prompt: response.text for response in sim.world.responses}
    rows = list(load_responses(home / "out.jsonl"))
    assert len(rows) == 4
    for row in rows:
        assert row.prompt is not None
        assert row.response == responses[row.prompt.removesuffix(f" {POSTAMBLE}")]
        assert (row.system, row.id) == ("mini", f"{row.prompt_id}/mini")
    more = factloop(*LONGFACT, "--data", data, "--n", 5, "--seed", 3, "--out", "out.jsonl", "--system", "mini")
    assert more.out.startswith("out.jsonl: 5 responses of mini to 5 prompts of asked.jsonl, 4 of them from before\n")
    assert sim.stats().model.requests == 5


def test_prompts_are_what_longfact_reads(factloop: Command, sim: Simulator, home: Path) -> None:
    made = factloop(*PROMPTS, "--topic", "mycology", "--topic", "20th century", "--n", 3, "--out", "p.jsonl")
    assert (made.code, made.err) == (0, "")
    assert made.out.splitlines()[:2] == [
        f"p.jsonl: 6 prompts about objects by {MODEL}",
        "  mycology: 3, in 1 round; dropped 0 repeated, 1 alike, 0 unusable",
    ]
    assert [one.id for one in load_longfact(home / "p.jsonl")][2:4] == [
        "generated-objects/mycology/002",
        "generated-objects/20th-century/000",
    ]
    asked = factloop(*LONGFACT, "--data", "p.jsonl", "--out", "out.jsonl", "--no-postamble")
    assert (asked.code, asked.err) == (0, "factloop: p.jsonl has 6 prompts, not 250\n")
    assert {row["topic"] for row in rows_of(home / "out.jsonl")} == {"mycology", "20th century"}
    again = factloop(*PROMPTS, "--topic", "x", "--out", "p.jsonl")
    assert again.complaint == ("factloop: p.jsonl: already exists, and its prompts were paid for; name another file")
    assert sim.stats().stages["LongFactPrompts"].requests == 2


def test_what_has_no_answer_is_counted(factloop: Command, sim: Simulator, data: Path, home: Path) -> None:
    sim.set(faults=Faults(refusal=1.0))
    command = (*LONGFACT, "--data", data, "--n", 5, "--out", "out.jsonl")
    result = factloop(*command)
    assert (result.code, result.complaint) == (3, "factloop: no response arrived; run the same command to ask again")
    assert "  5 without a response (5 × refusal); run the same command to ask again" in result.out
    assert (home / "out.jsonl").read_bytes() == b""
    none = factloop(*PROMPTS, "--topic", "t", "--out", "p.jsonl")
    assert (none.code, none.complaint) == (3, "factloop: no prompt arrived; nothing was written")
    assert "t: 0, not 30, in 3 rounds; dropped 0 repeated, 0 alike, 0 unusable; 3 failed rounds" in none.out
    assert not (home / "p.jsonl").exists()


def test_an_estimate_spends_nothing(factloop: Command, sim: Simulator, data: Path, home: Path) -> None:
    wanted = (*LONGFACT, "--data", data, "--n", 5, "--max-tokens", 1000, "--no-postamble")
    factloop(*wanted, "--n", 2, "--out", "out.jsonl")
    sim.reset()
    estimate = json.loads(factloop(*wanted, "--out", "out.jsonl", "--dry-run", "--json", "-").out)
    assert (estimate["most_calls"], estimate["most_completion_tokens"]) == (3, 3000)  # two are there
    # Each prompt is "Who was First Last?" or longer: a token for four characters, rounded up, at 1 USD a million.
    there = {row["prompt"] for row in rows_of(home / "out.jsonl")}
    tokens = sum(-(-len(row["prompt"]) // 4) for row in rows_of(data) if row["prompt"] not in there)
    assert estimate["most_prompt_tokens"] == tokens
    assert estimate["most_usd"] == pytest.approx((tokens * 1.0 + 3000 * 2.0) / 1e6)
    shown = factloop(*PROMPTS, "--topic", "t", "--n", 30, "--out", "p.jsonl", "--dry-run").out
    assert "Nothing was spent" in shown
    assert "at most 12 model calls" in shown  # 3 * 30 / 10 + 3
    unknown = factloop(
        "research", "generate", "longfact", "--model", MODEL, "--data", data, "--out", "o.jsonl", "--dry-run"
    ).out
    assert "  price unknown: give --price-in and --price-out\n" in unknown
    assert sim.stats().stages == {}
    assert not (home / "p.jsonl").exists()
    assert not (home / "o.jsonl").exists()


def test_hostile_text_is_data(factloop: Command, sim: Simulator, home: Path) -> None:
    hostile = "Who was <b>\u202e{{model}}</b>? \x1b[2J ../../etc/passwd"
    (home / "h.jsonl").write_text(json.dumps({"id": "../../x\x1b[2J", "prompt": hostile}), encoding="utf-8")
    sim.set(models=("other",))
    result = factloop(*LONGFACT, "--data", "h.jsonl", "--n", 1, "--out", "o.jsonl", "--system", "\x1b[31mred")
    assert "\x1b" not in result.out + result.err
    sim.set(models=("sim",))
    assert factloop(*LONGFACT, "--data", "h.jsonl", "--n", 1, "--out", "o.jsonl", "--no-postamble", "-q").code == 0
    (body,) = sim.bodies()[-1:]
    assert body["messages"] == [{"role": "user", "content": hostile}]
    assert rows_of(home / "o.jsonl")[0]["prompt"] == hostile
