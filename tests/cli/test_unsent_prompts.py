"""Commands that send no prompts say in one line that custom prompts change nothing."""

from __future__ import annotations

from pathlib import Path

import pytest

from factloop.cli.app import COMMANDS, load_command
from tests.cli.command import Command
from tests.evaluation.datasets.dataset_files import jsonl
from tests.simulator import MODEL, Simulator

VARIANT = "variants/strict"
TEXT = "Ada Lovelace was born in London."
DOCS, CORPUS = ("--docs", "docs"), ("--corpus", "docs")
ONE = ("--question", "Who?", "--response", TEXT)
PAIRS = ("pairs.jsonl", "--out", "scored.jsonl")
CHECK, TRUST = "--model", "--subject-model or --judge-model"
SERVER = "--model, --subject-model or --judge-model"
MIXEDQA = "--subject, --subject-model or --judge-model"
PROPOSING = "--distractors model and --judge-model"
COMMANDS_AND_REMEDIES: list[tuple[tuple[str, ...], str]] = [
    (("check", "answer.md", *DOCS), CHECK),
    (("correct", "answer.md", *DOCS), CHECK),
    (("trust", *ONE, *CORPUS), TRUST),
    (("research", "distractors", *ONE), PROPOSING),
    (("research", "distractors", *ONE, "--judge-model", MODEL), PROPOSING),
    (("research", "verify", *PAIRS, "--verifier", "baseline"), "--verifier llm:PROVIDER:NAME"),
    (("eval", "responses", "answers.jsonl", *DOCS), CHECK),
    (("eval", "factscore", "--data", "facts.jsonl", *DOCS), CHECK),
    (("eval", "mixedqa", "--data", "mixedqa.jsonl", *CORPUS), MIXEDQA),
    (("doctor",), SERVER),
    (("mcp", "--transport", "http", "--port", "70000"), SERVER),  # refused: a server that runs would not end
    (("serve", "--port", "0", "--set", "rate=0/minute"), SERVER),
]


@pytest.fixture(autouse=True)
def files(factloop: Command, home: Path, docs: Path) -> None:
    assert docs.is_dir()
    (home / "answer.md").write_text(TEXT, encoding="utf-8")
    jsonl(home / "answers.jsonl", {"prompt": "Who?", "response": TEXT})
    named = {"system": "s", "topic": "t", "prompt": "Who?", "response": TEXT}
    jsonl(home / "facts.jsonl", {**named, "sentences": [{"text": TEXT, "atomic_facts": None}]})
    jsonl(home / "pairs.jsonl", {"system": "s", "claim": TEXT, "document": TEXT, "label": 1})
    asked = {"question": "Who?", "reference_answers": ["x"], "source": "test"}
    said = [{"system": "s", "text": TEXT, "human_correct": 1}]
    jsonl(home / "mixedqa.jsonl", {**asked, "responses": said})
    assert factloop("prompts", "new", "strict", "--from", "safe/assessment", "--out", "variants").code == 0


@pytest.mark.parametrize(("command", "remedy"), COMMANDS_AND_REMEDIES)
def test_prompts_that_no_model_is_sent_are_told_of(factloop: Command, command: tuple[str, ...], remedy: str) -> None:
    done = factloop(*command, "--prompts", VARIANT)
    said = "has no effect, because prompts are sent only to models"
    assert done.err.splitlines()[0] == f"factloop: `--prompts {VARIANT}` {said}: also set {remedy}"


def test_a_prompt_of_another_plan_is_told_of(factloop: Command, sim: Simulator) -> None:
    done = factloop("check", "answer.md", *DOCS, "--model", MODEL, "--prompts", VARIANT)
    said = "safe/assessment belongs to the fused plan; this check follows grounded, which sends this prompt only if"
    assert done.err.splitlines()[0].startswith(f"factloop: --prompts {VARIANT}: {said}")
    told = factloop("check", "answer.md", *DOCS, "--model", MODEL, "--prompts", VARIANT, "--plan", "paper").err
    assert "this check follows paper, which sends other prompts; use `--plan fused`" in told
    assert (
        "--prompts"
        not in factloop("check", "answer.md", *DOCS, "--model", MODEL, "--prompts", VARIANT, "--plan", "fused").err
    )
    assert len(sim.bodies()) > 0


@pytest.mark.parametrize(
    ("name", "flags", "belongs", "remedy"),
    [
        ("verifiable_claims", ("fused",), "safe plan with verifiable=yes", "--plan safe --set verifiable=yes"),
        ("verifiable_claims", ("safe",), "safe plan with verifiable=yes", "--plan safe --set verifiable=yes"),
        ("atomic_facts", ("safe", "--set", "verifiable=yes"), "safe plan", "--plan safe --set verifiable=no"),
        ("verifiable_claims", ("safe", "--set", "verifiable=yes"), "", ""),
    ],
)
def test_prompts_of_verifiable_claims_are_told_of(
    factloop: Command, name: str, flags: tuple[str, ...], belongs: str, remedy: str
) -> None:
    assert factloop("prompts", "new", "own", "--from", f"safe/published/{name}", "--out", "variants").code == 0
    done = factloop("check", "answer.md", *DOCS, "--model", MODEL, "--prompts", "variants/own", "--plan", *flags)
    told = [line.partition("/own: ")[2] for line in done.err.splitlines() if "--prompts" in line]
    said = f"safe/published/{name} belongs to the {belongs}; this check follows {' with '.join(flags[::2])}"
    assert told == [f"{said}, which sends other prompts; use `{remedy}`"] * bool(remedy)


def test_every_command_that_takes_prompts_is_among_these() -> None:
    """`prompts` sends nothing; `generate prompts` does not start without a model."""
    begun = {
        path
        for path in COMMANDS
        for words, _ in COMMANDS_AND_REMEDIES
        if words[: path.count(" ") + 1] == (*path.split(),)
    }
    takers = {path for path in COMMANDS if any(param.name == "prompts" for param in load_command(path).params)}
    ours = {path for path in takers if not path.startswith("prompts ")}
    assert ours == begun | {"research generate prompts"}
