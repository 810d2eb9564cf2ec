from __future__ import annotations

import json
from pathlib import Path

import pytest

from factloop.prompts.registry import PromptRegistry, packaged_prompts
from tests.cli.command import Command

OURS = packaged_prompts()["safe/rating"]
N_PROMPTS = len(packaged_prompts())
FIRST_LINE = OURS.system.splitlines()[0]


@pytest.fixture
def variant(factloop: Command, home: Path) -> Path:
    made = factloop("prompts", "new", "strict", "--from", "safe/rating", "--out", "variants")
    assert (made.code, made.err) == (0, "")
    copied = "variants/strict/safe/rating.md was copied from safe/rating"
    assert made.out == f"{copied}. Edit the file, then use --prompts variants/strict\n"
    return home / "variants/strict"


def edit(folder: Path, old: str, new: str) -> None:
    path = folder / "safe/rating.md"
    text = path.read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new), encoding="utf-8")


@pytest.mark.usefixtures("variant")
def test_all_prompts_are_listed(factloop: Command) -> None:
    shown = factloop("prompts", "list")
    lines = [" ".join(line.split()) for line in shown.out.splitlines()]
    place = lines.index(f"safe/rating {OURS.version} {OURS.sha256[:12]} Rating")
    assert lines[place + 1] == ", ".join(OURS.variables)
    place = lines.index("gateway/repair 1 283cc2727b1a")  # part of other prompts: it has no reply of its own
    assert lines[place + 1] == "error, schema"
    assert lines[-1] == f"{N_PROMPTS} prompts."
    replaced = factloop("prompts", "list", "--prompts", "variants").out.splitlines()
    assert replaced[-2:] == [
        f"{N_PROMPTS} prompts, 1 of them (*) from variants.",
        "  *safe/rating: variants/strict/safe/rating.md",
    ]
    assert any(line.startswith("safe/rating* ") for line in replaced)


def test_a_prompt_is_shown_as_it_stands_and_as_it_is_sent(factloop: Command, variant: Path) -> None:
    file, reply = factloop("prompts", "show", "safe/rating").out.split("\nReply: Rating, a JSON object\n")
    assert file == OURS.path.read_text(encoding="utf-8")
    assert "  cited (list of number): Numbers of the passages on which the rating is based, starting at 1.\n" in reply
    assert "  rating (supported, contradicted, disputed, not_supported): What the passages say about" in reply
    edit(variant, FIRST_LINE, "Rate\x1b[2J one fact.")
    shown = factloop("prompts", "show", "safe/rating", "--prompts", "variants").out
    assert "Rate\u241b[2J one fact" in shown
    sent = factloop("prompts", "show", "safe/rating", "--rendered").out
    blocks = [f"<{name}>{name}</{name}>" for name in ("question", "sentence", "fact", "evidence")]
    assert "\n".join(["# user", *blocks, "\nReply: Rating"]) in sent


@pytest.mark.usefixtures("variant")
def test_a_variant_is_started_once(factloop: Command) -> None:
    arguments = ("prompts", "new", "strict", "--out", "variants")
    again = factloop(*arguments, "--from", "safe/rating")
    assert (again.code, "already exists and will not be overwritten" in again.complaint) == (2, True)
    assert factloop(*arguments, "--from", "safe/relevance").code == 0
    own = PromptRegistry.load(Path("variants"))["safe/relevance"]
    assert own.version == packaged_prompts()["safe/relevance"].version + 1
    assert factloop("prompts", "new", "short", "--out", "variants", "--from", "safe/rating").code == 0
    assert factloop("prompts", "lint", "variants").out == "3 prompt files: nothing found.\n", "each has its own folder"


def test_findings_end_with_one(factloop: Command, variant: Path) -> None:
    fine = factloop("prompts", "lint", "variants")
    assert (fine.code, fine.out) == (0, "1 prompt file: nothing found.\n")
    edit(variant, FIRST_LINE, "Rate {fact}.\u202e")
    warned = factloop("prompts", "lint", "variants")
    assert warned.code == 1
    assert warned.out.splitlines()[-1] == "1 prompt file: 2 warnings; runs accept this file."
    edit(variant, f"version: {OURS.version + 1}", f"version: {OURS.version}")
    edit(variant, "output: Rating", "output: Ratings")
    found = factloop("prompts", "lint", "variants", "--json", "found.json")
    path = "variants/strict/safe/rating.md"
    assert (found.code, found.err) == (1, "")
    assert found.out.splitlines() == [
        f"{path}:3: warning version: the text differs from the packaged version {OURS.version}; use a higher version",
        f"{path}:5: error output: 'output' is 'Ratings', but must be 'Rating' for the prompt safe/rating",
        f"{path}:9: warning braces: '{{fact}}' is sent unchanged; write placeholders as {{{{name}}}}",
        f"{path}:9: warning hidden: contains the invisible character U+202E (right-to-left override)",
        "1 prompt file: 1 error (runs reject files with errors), 3 warnings.",
    ]
    report = json.loads(Path("found.json").read_text(encoding="utf-8"))
    assert (report["n_files"], report["n_errors"], report["n_warnings"]) == (1, 1, 3)
    assert report["findings"][1] == {
        "path": path,
        "line": 5,
        "severity": "error",
        "rule": "output",
        "message": "'output' is 'Ratings', but must be 'Rating' for the prompt safe/rating",
    }
