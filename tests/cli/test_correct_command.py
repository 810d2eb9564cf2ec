from __future__ import annotations

import io
import json
import sys
from pathlib import Path

import pytest

from tests.cli.command import Command
from tests.simulator import MODEL, Simulator

RIGHT = "Ada Lovelace was born in London. Ada Lovelace died in London in 1852.\n"


def test_the_text_to_use_and_what_was_changed(factloop: Command, answer: Path, docs: Path, home: Path) -> None:
    given = answer.read_bytes()
    result = factloop("correct", answer, "--docs", docs, "--out", home / "right.md", "--html", home / "page.html")
    assert (result.code, result.err) == (0, "")
    assert (home / "right.md").read_text(encoding="utf-8") == RIGHT
    assert "[-1872-]" in result.out
    assert "“" in result.out.partition("Changes")[2].partition("evidence:")[0]
    assert "Corrected: precision 0.50 (1 of 2) before, 1.00 (2 of 2) after." in result.out
    assert (home / "page.html").read_text(encoding="utf-8").startswith("<!doctype html>")
    assert answer.read_bytes() == given


def test_a_pipe_from_text_to_text(factloop: Command, docs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = b"Ada Lovelace was born in London.\r\n\r\nAda Lovelace died in London in 1872.\r\n"
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(text)))
    assert factloop("correct", "-", "--docs", docs, "--out", "-").out == text.decode().replace("1872", "1852")


def test_thresholds_are_those_of_the_text_to_use(factloop: Command, answer: Path, docs: Path) -> None:
    assert factloop("check", answer, "--docs", docs, "--fail-under", 0.9, "--quiet").code == 1
    assert factloop("correct", answer, "--docs", docs, "--fail-under", 0.9, "--quiet").code == 0


@pytest.mark.parametrize("text", ["How are you?\n", ""])
def test_a_text_without_claims_stays_and_ends_as_its_check(
    factloop: Command, home: Path, docs: Path, text: str
) -> None:
    (home / "talk.md").write_text(text)
    result = factloop("correct", "talk.md", "--docs", docs, "--out", "out.md", "--quiet")
    said = "factloop: no claim could be scored: the response makes no claims that can be checked"
    assert (result.code, result.complaint) == (3, said)
    assert (home / "out.md").read_text() == text
    below = factloop("correct", "talk.md", "--docs", docs, "--fail-under", 0.9, "--quiet")
    assert (below.code, below.complaint) == (1, "factloop: precision undefined is below 0.9 (--fail-under)")


def test_a_model_corrects_and_a_run_directory_is_gone_on_from(factloop: Command, sim: Simulator, home: Path) -> None:
    response = min(sim.world.responses, key=lambda response: len(response.facts))
    (home / "world.md").write_text(response.text, encoding="utf-8")
    flags = ("--model", MODEL, "--search", "serper", "--question", response.prompt, "--run-dir", "run", "--json", "-")
    first = json.loads(factloop("correct", "world.md", *flags).out)
    assert first["accepted"]
    assert first["after"]["counts"]["not_supported"] == 0
    sim.reset()
    again = json.loads(factloop("correct", "world.md", *flags).out)
    assert again["text"] == first["text"]
    assert sum(stage.requests for stage in sim.stats().stages.values()) == 0


def test_what_is_kept_back_is_said_in_one_line(factloop: Command, answer: Path, docs: Path, home: Path) -> None:
    """Nobody can tell which of two equal years is wrong: that sentence is marked, the other one corrected."""
    twice = "Ada Lovelace, who died in 1872, was buried after she died in 1872."
    (home / "two.md").write_text(f"{twice} {answer.read_text()}")
    command = ("correct", "two.md", "--docs", docs)
    quiet = factloop(*command, "--out", "out.md", "--quiet")
    assert (quiet.code, quiet.out) == (0, "")
    assert quiet.complaint.startswith("factloop: 1 faulty sentence was left unchanged: ")
    assert (home / "out.md").read_text() == f"{twice} [contradicted] {RIGHT}"
    assert factloop(*command, "--out", "-").complaint == quiet.complaint
    noted = factloop(*command, "--out", "-", "--marks", "footnotes").out
    assert noted.startswith(f"{twice}[^1] {RIGHT}\n[^1]: contradicted: ")
    (home / "one.md").write_text("Ada Lovelace famously died in London in 1872.")
    alone = factloop("correct", "one.md", "--docs", docs, "--quiet", "--out", "-")
    undone = "the change failed the second check and was undone (the new wording has no verdict: "
    assert f"left unchanged: {undone}The nearest sentence does not mention “famously”." in alone.complaint
    assert alone.out == "Ada Lovelace famously died in London in 1872. [contradicted]"
