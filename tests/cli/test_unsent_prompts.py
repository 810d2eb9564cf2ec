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
VERIFIABLE, OF_VERIFIABLE = "published/verifiable_claims", "safe plan with verifiable=yes"
YES, NO, OTHER = ("--set", "verifiable=yes"), "--set verifiable=no", "sends other prompts"
FALLBACK = "sends this prompt only if other replies are unusable"
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


@pytest.mark.parametrize(
    ("name", "flags", "belongs", "follows", "remedy"),
    [
        (
            "assessment",
            (),
            "fused plan",
            "grounded, which sends this prompt only if other replies are unusable",
            "fused",
        ),
        ("assessment", ("paper",), "fused plan", f"paper, which {OTHER}", "fused"),
        ("assessment", ("fused",), "", "", ""),
        (VERIFIABLE, ("safe",), OF_VERIFIABLE, f"safe, which {OTHER}", "safe --set verifiable=yes"),
        ("published/atomic_facts", ("safe", *YES), "safe plan", f"safe with {YES[1]}, which {OTHER}", f"safe {NO}"),
        (VERIFIABLE, ("safe", *YES), "", "", ""),
    ],
)
def test_a_prompt_of_another_plan_is_told_of(
    factloop: Command, sim: Simulator, name: str, flags: tuple[str, ...], belongs: str, follows: str, remedy: str
) -> None:
    assert factloop("prompts", "new", "own", "--from", f"safe/{name}", "--out", "variants").code == 0
    plan = ("--plan", *flags)[: 2 * len(flags)]
    done = factloop("check", "answer.md", *DOCS, "--model", MODEL, "--prompts", "variants/own", *plan)
    told = [line.partition("/own: ")[2] for line in done.err.splitlines() if "--prompts" in line]
    said = f"safe/{name} belongs to the {belongs}; this check follows {follows}; use `--plan {remedy}`"
    assert (told, bool(sim.bodies())) == ([said] * bool(remedy), True)


def test_every_command_that_takes_prompts_is_among_these() -> None:
    begun = {
        path
        for path in COMMANDS
        for words, _ in COMMANDS_AND_REMEDIES
        if words[: path.count(" ") + 1] == (*path.split(),)
    }
    takers = {path for path in COMMANDS if any(param.name == "prompts" for param in load_command(path).params)}
    ours = {path for path in takers if not path.startswith("prompts ")}
    assert ours == begun | {"research generate prompts"}
