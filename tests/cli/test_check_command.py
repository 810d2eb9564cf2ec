"""`factloop check`: what it writes where, and its exit codes."""

from __future__ import annotations

import io
import json
import sys
from pathlib import Path

import pytest

from factloop import FactualityReport
from tests.cli.command import Command
from tests.simulator import MODEL, Simulator


def test_json_on_standard_output_is_alone_there(factloop: Command, answer: Path, docs: Path, home: Path) -> None:
    result = factloop("check", answer, "--docs", docs, "--json", "-", "--html", home / "report.html")
    report = FactualityReport.model_validate_json(result.out)
    assert (report.counts.supported, report.counts.not_supported) == (1, 1)
    assert result.err == ""
    assert (home / "report.html").read_text(encoding="utf-8").startswith("<!doctype html>")


def test_lines_in_a_pipe_have_no_blanks_at_their_ends(
    factloop: Command, answer: Path, docs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lines = factloop("check", answer, "--docs", docs).out.splitlines()
    assert any(line.startswith(" Precision") for line in lines)
    assert [line for line in lines if line != line.rstrip()] == []
    monkeypatch.setenv("FORCE_COLOR", "1")  # a terminal, to all intents
    assert any(line.endswith(" ") for line in factloop("check", answer, "--docs", docs).out.splitlines())


def test_documents_that_cannot_be_read_are_named(factloop: Command, answer: Path, docs: Path) -> None:
    (docs / "broken.pdf").write_bytes(b"%PDF-1.7 and then nothing of the kind")
    (docs / "picture.png").write_bytes(b"")
    (docs / "table.csv").write_text("Name,Town\nHopper,New York\n")
    result = factloop("check", answer, "--docs", docs, "--json", "-")
    report = FactualityReport.model_validate_json(result.out)
    (warning,) = (one for one in report.warnings if one.startswith("Documents that were not read (2): "))
    assert (result.code, result.err, report.counts.supported) == (0, "", 1)
    assert "broken.pdf (the PDF cannot be read" in warning
    assert "picture.png (a file of this kind is not read)" in warning
    refused = factloop("check", answer, "--docs", docs, "--fail-if-unreadable")
    assert (refused.code, "picture.png: a file of this kind is not read" in refused.complaint) == (2, True)


def test_the_text_may_come_by_standard_input(factloop: Command, docs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"Ada Lovelace was born in London.")))
    report = FactualityReport.model_validate_json(factloop("check", "-", "--docs", docs, "--json", "-").out)
    assert report.response == "Ada Lovelace was born in London."
    assert report.counts.supported == 1


@pytest.mark.parametrize(
    ("flags", "code", "complaint"),
    [
        ((), 0, None),
        (("--fail-under", 0.5), 0, None),
        (("--fail-under", 0.6), 1, "precision 0.500 is below 0.6 (--fail-under)"),
        (("--fail-if-unscored",), 0, None),
    ],
)
def test_exit_codes(
    factloop: Command, answer: Path, docs: Path, flags: tuple[object, ...], code: int, complaint: str | None
) -> None:
    result = factloop("check", answer, "--docs", docs, "--quiet", *flags)
    assert result.code == code
    assert result.err == ("" if complaint is None else f"factloop: {complaint}\n")


def test_nothing_to_check_against_is_said_before_and_nothing_scored_is_a_failure(
    factloop: Command, answer: Path
) -> None:
    result = factloop("check", answer)
    before, after = result.err.splitlines()
    assert before.startswith("factloop: there is nothing to check against, so every claim will be unscored: give ")
    assert (result.code, after) == (3, "factloop: no claim could be scored: 2 × no source to check against")
    assert "Ada Lovelace was born in London." in result.out, "the claims are listed all the same"


@pytest.mark.parametrize("text", ["I hope this helps!", "", " \n", "# Heading\n"])
@pytest.mark.parametrize("engine", ["offline", "model"])
def test_a_text_without_claims_has_no_precision_and_is_no_success(
    factloop: Command, sim: Simulator, home: Path, docs: Path, text: str, engine: str
) -> None:
    (home / "empty.md").write_text(text)
    flags = ("--docs", docs) if engine == "offline" else ("--model", MODEL, "--search", "serper")
    nothing = factloop("check", "empty.md", *flags, "--quiet", "--fail-if-unscored")
    made_none = "factloop: no claim could be scored: the response makes no claim that can be checked"
    assert (nothing.code, nothing.complaint) == (3, made_none)
    result = factloop("check", "empty.md", *flags, "--json", "-", "--fail-under", 0)
    report = json.loads(result.out)
    assert (result.code, result.complaint) == (1, "factloop: precision undefined is below 0 (--fail-under)")
    assert (report["claims"], report["precision"], report["at_k"]) == ([], None, [])
    assert sim.stats().search.requests == 0


@pytest.mark.parametrize("plan", ["fused", "paper"])
def test_a_dry_run_spends_nothing_and_needs_no_key(
    factloop: Command, sim: Simulator, answer: Path, plan: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("OPENAI_API_KEY", "SERPER_API_KEY"):
        monkeypatch.delenv(name)
    flags = ("--model", MODEL, "--search", "serper", "--plan", plan, "--dry-run")
    result = factloop("check", answer, *flags)
    assert result.code == 0
    assert "Nothing was spent" in result.out
    assert "price unknown" in result.out
    estimate = json.loads(factloop("check", answer, *flags, "--json", "-").out)
    assert (estimate["n_sentences"], estimate["cost_usd"]) == (2, None)
    assert sim.stats().stages == {}


def test_the_version(factloop: Command) -> None:
    result = factloop("--version")
    assert (result.code, result.out) == (0, "factloop 0.1.0\n")
