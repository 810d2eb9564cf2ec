"""`factloop correct`: what it writes where, and its exit codes."""

from __future__ import annotations

import io
import json
import sys
from pathlib import Path

import pytest

from factloop.correction.records import Correction
from tests.cli.command import Command
from tests.reports.html_page import text_of
from tests.simulator import MODEL, Simulator

RIGHT = "Ada Lovelace was born in London.\n"
MARKED = "Ada Lovelace was born in London. Ada Lovelace was taught in Paris. [unverified]\n"
REMOVING = ("--unproven", "remove")


def test_the_text_to_use_and_what_was_changed(factloop: Command, answer: Path, docs: Path, home: Path) -> None:
    given = answer.read_bytes()
    result = factloop(
        "correct", answer, "--docs", docs, *REMOVING, "--out", home / "right.md", "--html", home / "page.html"
    )
    assert (result.code, result.err) == (0, "")
    assert (home / "right.md").read_text(encoding="utf-8") == RIGHT
    assert "[-Ada Lovelace was taught in Paris.-]#1" in result.out
    assert "Corrected: precision 0.50 (1 of 2) before, 1.00 (1 of 1) after." in result.out
    assert (home / "page.html").read_text(encoding="utf-8").startswith("<!doctype html>")
    assert answer.read_bytes() == given


def test_json_on_standard_output_is_alone_there(factloop: Command, answer: Path, docs: Path) -> None:
    result = factloop("correct", answer, "--docs", docs, *REMOVING, "--json", "-")
    correction = Correction.model_validate_json(result.out)
    assert (correction.text, correction.accepted) == (RIGHT, True)
    assert result.err == ""


def test_a_pipe_from_text_to_text(factloop: Command, docs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = b"Ada Lovelace was born in London.\r\n\r\nAda Lovelace was taught in Paris.\r\n"
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(text)))
    assert (
        factloop("correct", "-", "--docs", docs, *REMOVING, "--out", "-").out == "Ada Lovelace was born in London.\r\n"
    )


@pytest.mark.parametrize(
    ("flags", "code", "complaint"),
    [
        (("--fail-under", 0.9), 0, None),
        (("--fail-under", 2), 2, "--fail-under 2: precision is a share between 0 and 1"),
        (("--out", "answer.md"), 2, "answer.md: would overwrite answer.md, which is to be read; name another file"),
        (("--out", "-", "--json", "-"), 2, "two outputs go to standard output; give each a place of its own"),
        (("--out", "nowhere/x.md"), 2, None),
        (("--max-rounds", 0), 2, None),
    ],
)
def test_exit_codes(
    factloop: Command, answer: Path, docs: Path, flags: tuple[object, ...], code: int, complaint: str | None
) -> None:
    result = factloop("correct", answer.name, "--docs", docs, *REMOVING, "--quiet", *flags)
    assert result.code == code
    if complaint is not None:
        assert complaint in result.err


def test_thresholds_are_those_of_the_text_to_use(factloop: Command, home: Path, docs: Path) -> None:
    """All of it is wrong: nothing would be left, so the original stands, and is below."""
    (home / "wrong.md").write_text("Ada Lovelace was taught in Paris.")
    result = factloop("correct", "wrong.md", "--docs", docs, *REMOVING, "--fail-under", 0.5, "--out", "same.md")
    assert (result.code, result.complaint) == (1, "factloop: precision 0.000 is below 0.5 (--fail-under)")
    assert "The original stands: nothing that can be checked would be left." in result.out
    assert (home / "same.md").read_text() == "Ada Lovelace was taught in Paris. [unverified]"


def test_what_nothing_proves_is_marked_unless_told_otherwise(
    factloop: Command, answer: Path, docs: Path, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    command = ("correct", answer, "--docs", docs, "--out", "-")
    assert factloop(*command).out == MARKED
    assert factloop(*command, "--unproven", "keep").out == answer.read_text(encoding="utf-8")
    (home / "factloop.toml").write_text('unproven = "remove"\n', encoding="utf-8")
    assert factloop(*command).out == RIGHT
    assert factloop("check", answer, "--docs", docs).code == 0  # the file serves all commands
    monkeypatch.setenv("FACTLOOP_UNPROVEN", "keep")
    assert factloop(*command).out == answer.read_text(encoding="utf-8")
    assert factloop(*command, "--unproven", "mark").out == MARKED
    result = factloop(*command, "--unproven", "drop")
    assert result.code == 2
    assert "command line: unproven = 'drop': input should be 'mark', 'remove' or 'keep'" in result.err


def test_what_was_not_checked_is_marked_unless_told_otherwise(factloop: Command, answer: Path) -> None:
    """There is nothing to check against."""
    command = ("correct", answer, "--out", "-")
    assert factloop(*command).out.count("[unchecked]") == 2
    assert factloop(*command, "--unchecked", "keep").out == answer.read_text(encoding="utf-8")


def test_what_is_in_doubt_is_shown(factloop: Command, answer: Path, docs: Path, home: Path) -> None:
    for policy, shown in (("mark", "marked [unverified]"), ("keep", "not marked")):
        result = factloop("correct", answer, "--docs", docs, "--unproven", policy, "--html", "page.html")
        assert "Nothing to correct: no claim is contradicted by the evidence." in result.out
        for text in (result.out, text_of((home / "page.html").read_text(encoding="utf-8"))):
            assert "Ada Lovelace was taught in Paris." in text
            assert shown in text


def test_nothing_scored_is_a_failure(factloop: Command, answer: Path) -> None:
    result = factloop("correct", answer, "--quiet")
    assert (result.code, "no claim could be scored" in result.complaint) == (3, True)


@pytest.mark.parametrize("text", ["How are you?\n", ""])
def test_a_text_without_claims_stays_and_ends_as_its_check(
    factloop: Command, home: Path, docs: Path, text: str
) -> None:
    """There is nothing to mend, so that the text can be used; that nothing was looked at is no success."""
    (home / "talk.md").write_text(text)
    result = factloop("correct", "talk.md", "--docs", docs, "--out", "out.md", "--quiet")
    said = "factloop: no claim could be scored: the response makes no claim that can be checked"
    assert (result.code, result.complaint) == (3, said)
    assert (home / "out.md").read_text() == text
    below = factloop("correct", "talk.md", "--docs", docs, "--fail-under", 0.9, "--quiet")
    assert (below.code, below.complaint) == (1, "factloop: precision undefined is below 0.9 (--fail-under)")


def test_a_model_corrects_and_a_run_directory_is_gone_on_from(factloop: Command, sim: Simulator, home: Path) -> None:
    response = min(sim.world.responses, key=lambda response: len(response.facts))
    (home / "world.md").write_text(response.text, encoding="utf-8")
    flags = ("--model", MODEL, "--search", "serper", "--prompt", response.prompt, "--run-dir", "run", "--json", "-")
    first = json.loads(factloop("correct", "world.md", *flags).out)
    assert first["accepted"]
    assert first["after"]["counts"]["not_supported"] == 0
    sim.reset()
    again = json.loads(factloop("correct", "world.md", *flags).out)
    assert again["text"] == first["text"]
    assert sum(stage.requests for stage in sim.stats().stages.values()) == 0


def test_an_estimate_spends_nothing(factloop: Command, sim: Simulator, answer: Path) -> None:
    result = factloop("correct", answer, "--model", MODEL, "--search", "serper", "--dry-run")
    assert result.code == 0
    assert "Nothing was spent." in result.out
    assert "and checks these again, 2 times at most." in result.out
    assert sim.stats().stages == {}


def test_what_is_kept_back_is_said_in_one_line(factloop: Command, home: Path) -> None:
    """Without the sentence on Ada nobody knows who *she* is: that removal is undone, the other one stays."""
    (home / "docs").mkdir()
    (home / "docs" / "ada.txt").write_text(
        "Ada Lovelace was born in London in 1815. Charles Babbage designed the Analytical Engine.\n"
    )
    ada, babbage = "Ada Lovelace kept a parrot.", "Charles Babbage kept a goose."
    (home / "two.md").write_text(f"{ada} She was born in London. {babbage}\n")
    command = ("correct", "two.md", "--docs", home / "docs", *REMOVING, "--out", "out.md")
    quiet = factloop(*command, "--quiet")
    assert (quiet.code, quiet.out) == (0, "")
    assert quiet.complaint == (
        "factloop: 1 faulty sentence stays as it was: its change did not stand the second check, and was undone "
        "(a later sentence would have no verdict without it)"
    )
    assert (home / "out.md").read_text() == f"{ada} [unverified] She was born in London.\n"
    assert factloop("correct", "two.md", "--docs", home / "docs", *REMOVING, "--out", "-").complaint == quiet.complaint
    (home / "one.md").write_text(f"{ada} She was born in London.\n")
    alone = factloop("correct", "one.md", "--docs", home / "docs", *REMOVING, "--quiet")
    said = "factloop: the original stands: 1 claim has no verdict in the second check, none before"
    assert (alone.code, alone.complaint) == (0, said)
