from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import pytest

from factloop.evaluation.datasets.longfact import POSTAMBLE, load_prompts
from factloop.evaluation.datasets.responses import load_responses
from tests.cli.command import Command
from tests.evaluation.verification.world_pairs import read_rows, write_rows
from tests.simulator import MODEL, Faults, Simulator

LONGFACT = ("research", "generate", "longfact", "--model", MODEL, "--price-in", 1, "--price-out", 2)
PROMPTS = ("research", "generate", "prompts", "--model", MODEL, "--price-in", 1, "--price-out", 2)


@pytest.fixture
def data(sim: Simulator, home: Path) -> Path:
    return write_rows(home / "asked.jsonl", [{"prompt": response.prompt} for response in sim.world.responses[:5]])


def test_responses_are_what_eval_reads(factloop: Command, sim: Simulator, data: Path, home: Path) -> None:
    result = factloop(*LONGFACT, "--data", data, "--n", 4, "--seed", 3, "--out", "out.jsonl", "--system", "mini")
    assert (result.code, result.err) == (0, "")
    first, second = result.out.splitlines()
    assert first == "out.jsonl: 4 responses by mini to 4 prompts from asked.jsonl"
    assert second.startswith("  4 model calls; $0.0")
    responses = {response.prompt: response.text for response in sim.world.responses}
    rows = list(load_responses(home / "out.jsonl"))
    assert len(rows) == 4
    for row in rows:
        assert row.prompt is not None
        assert row.response == responses[row.prompt.removesuffix(f" {POSTAMBLE}")]
        assert (row.system, row.id) == ("mini", f"{row.prompt_id}/mini")
    more = factloop(*LONGFACT, "--data", data, "--n", 5, "--seed", 3, "--out", "out.jsonl", "--system", "mini")
    assert more.out.startswith(
        "out.jsonl: 5 responses by mini to 5 prompts from asked.jsonl, 4 of them saved earlier\n"
    )
    assert sim.stats().model.requests == 5


@pytest.mark.parametrize(
    ("part", "columns", "topic", "sent", "documents"),
    [
        ("factbench:tier-2", {"user_prompts": "Q", "topic_description": "T", "prompt_score": 4.5}, "T", "Q", []),
        (
            "facts-grounding:public",
            {"system_instruction": "Keep to it.", "user_request": "Q", "context_document": "D", "domain": "Legal"}
            | {"full_prompt": "Keep to it.\nQ\nD", "type": "Explain", "high_level_type": "Q&A"},
            "Legal",
            "Keep to it.\nQ\nD",
            ["D"],
        ),
        (
            "simpleqa-verified:eval",
            {"original_index": 7, "problem": "Q", "answer": "A", "topic": "Art", "answer_type": "Person"}
            | {"multi_step": False, "requires_reasoning": False, "urls": "https://a.test,https://b.test"},
            "Art",
            "Q",
            ["Q\nA"],
        ),
    ],
)
def test_published_prompts_are_asked_and_judged(
    factloop: Command, sim: Simulator, home: Path, part: str, columns: Any, topic: str, sent: str, documents: list[str]
) -> None:
    """Q, D and A stand for a prompt, its document and its answer in the simulated world."""
    response = sim.world.responses[0]
    told = {"Q": response.prompt, "D": response.text, "A": response.text}

    def full(text: str) -> str:
        return "\n".join(told.get(line, line) for line in text.split("\n"))

    with (home / "published.csv").open("w", encoding="utf-8", newline="") as file:
        rows = csv.writer(file)
        rows.writerows([columns.keys(), [full(str(value)) for value in columns.values()]])
    asked = factloop(*LONGFACT, "--part", part, "--data", "published.csv", "--n", 1, "--out", "out.jsonl")
    assert (asked.code, asked.err) == (0, "")
    assert sim.bodies()[-1]["messages"] == [{"role": "user", "content": full(sent)}]
    (row,) = read_rows(home / "out.jsonl")
    assert (row["prompt"], row["topic"]) == (response.prompt, topic)
    assert [one["text"] for one in row["documents"] or ()] == [full(one) for one in documents]
    judged = factloop("eval", "out.jsonl", "--model", MODEL, "--search", "serper", "--k", 1, "--json", "run.json")
    warnings = json.loads((home / "run.json").read_text())["warnings"]
    assert judged.code == 0
    assert any("each response was judged only against its own documents" in one for one in warnings) is bool(documents)


def test_prompts_are_what_longfact_reads(factloop: Command, sim: Simulator, home: Path) -> None:
    made = factloop(*PROMPTS, "--topic", "mycology", "--topic", "20th century", "--n", 3, "--out", "p.jsonl")
    assert (made.code, made.err) == (0, "")
    assert made.out.splitlines()[:2] == [
        f"p.jsonl: 6 prompts about objects by {MODEL}",
        "  mycology: 3 in 1 round; dropped 0 repeated, 1 alike, 0 unusable",
    ]
    assert [one.id for one in load_prompts(home / "p.jsonl")][2:4] == [
        "generated-objects/mycology/002",
        "generated-objects/20th-century/000",
    ]
    asked = factloop(*LONGFACT, "--data", "p.jsonl", "--out", "out.jsonl", "--no-postamble")
    assert (asked.code, asked.err) == (0, "factloop: p.jsonl has only 6 prompts, not 250\n")
    assert {row["topic"] for row in read_rows(home / "out.jsonl")} == {"mycology", "20th century"}
    assert sim.stats().stages["LongFactPrompts"].requests == 2


def test_what_has_no_answer_is_counted(factloop: Command, sim: Simulator, data: Path, home: Path) -> None:
    sim.set(faults=Faults(refusal=1.0))
    command = (*LONGFACT, "--data", data, "--n", 5, "--out", "out.jsonl")
    result = factloop(*command)
    assert (result.code, result.complaint) == (
        3,
        "factloop: no responses were received; repeat the command to try again",
    )
    assert "  5 without a response (5 × refusal); repeat the command to try again" in result.out
    assert (home / "out.jsonl").read_bytes() == b""
    none = factloop(*PROMPTS, "--topic", "t", "--out", "p.jsonl")
    assert (none.code, none.complaint) == (
        3,
        "factloop: nothing was written: no prompts were received; repeat the command",
    )
    assert "t: 0 of 30 in 3 rounds; dropped 0 repeated, 0 alike, 0 unusable; 3 failed rounds" in none.out
    assert not (home / "p.jsonl").exists()


def test_an_estimate_spends_nothing(factloop: Command, sim: Simulator, data: Path, home: Path) -> None:
    wanted = (*LONGFACT, "--data", data, "--n", 5, "--max-tokens", 1000, "--no-postamble")
    factloop(*wanted, "--n", 2, "--out", "out.jsonl")
    sim.reset()
    estimate = json.loads(factloop(*wanted, "--out", "out.jsonl", "--dry-run", "--json", "-").out)
    assert (estimate["most_calls"], estimate["most_completion_tokens"]) == (3, 3000)  # two are there
    # Each prompt is "Who was First Last?" or longer: a token for four characters, rounded up, at 1 USD a million.
    there = {row["prompt"] for row in read_rows(home / "out.jsonl")}
    tokens = sum(-(-len(row["prompt"]) // 4) for row in read_rows(data) if row["prompt"] not in there)
    assert estimate["most_prompt_tokens"] == tokens
    assert estimate["most_usd"] == pytest.approx((tokens * 1.0 + 3000 * 2.0) / 1e6)
    shown = factloop(*PROMPTS, "--topic", "t", "--n", 30, "--out", "p.jsonl", "--dry-run").out
    assert "Nothing was spent" in shown
    assert "at most 12 model calls" in shown  # 3 * 30 / 10 + 3
    unknown = factloop(
        "research", "generate", "longfact", "--model", MODEL, "--data", data, "--out", "o.jsonl", "--dry-run"
    ).out
    assert "  price unknown: set --price-in and --price-out\n" in unknown
    assert sim.stats().stages == {}
    assert not (home / "p.jsonl").exists()
    assert not (home / "o.jsonl").exists()
