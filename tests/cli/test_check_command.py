from __future__ import annotations

import io
import json
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

from factloop import FactChecker, FactualityReport, GivenFacts
from factloop.cli.console import BELOW_THRESHOLD, DONE, UNSCORED
from factloop.cli.demands import below_threshold, exit_code, first_failure
from factloop.core.records import UnscoredReason
from factloop.setup.sources import Sources
from tests.cli.command import Command
from tests.correction.reports import report_of
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
    assert "picture.png (files of this kind are not supported)" in warning
    refused = factloop("check", answer, "--docs", docs, "--fail-if-unreadable")
    assert (refused.code, "picture.png: files of this kind are not supported" in refused.complaint) == (2, True)


def test_the_text_may_come_by_standard_input(factloop: Command, docs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"Ada Lovelace was born in London.")))
    report = FactualityReport.model_validate_json(factloop("check", "-", "--docs", docs, "--json", "-").out)
    assert report.response == "Ada Lovelace was born in London."
    assert report.counts.supported == 1


def test_exit_codes(factloop: Command, answer: Path, docs: Path) -> None:
    reached, missed = (factloop("check", answer, "--docs", docs, "-q", "--fail-under", least) for least in (0.5, 0.6))
    assert (reached.code, reached.err) == (0, "")
    assert (missed.code, missed.err) == (1, "factloop: precision 0.500 is below 0.6 (--fail-under)\n")


def test_nothing_to_check_against_is_said_first_and_nothing_scored_fails(factloop: Command, answer: Path) -> None:
    result = factloop("check", answer)
    before, after = result.err.splitlines()
    assert before.startswith("factloop: there is nothing to check against, so every claim will be unscored: use ")
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
    made_none = "factloop: no claim could be scored: the response makes no claims that can be checked"
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


@dataclass(frozen=True)
class Demands:
    fail_if_unscored: bool
    fail_under: float | None


NOTHING = "factloop: no claim could be scored: {} × no source to check against\n"


def unscored(*facts: str) -> FactualityReport:
    text = " ".join(facts)
    given = [GivenFacts(sentence=fact, facts=(fact,)) for fact in facts]
    return FactChecker(cache=False).check(text, facts=given, sources=Sources(()))


@pytest.mark.parametrize(
    ("facts", "strict", "fail_under", "code", "said"),
    [
        (["Ada was born."], True, None, UNSCORED, NOTHING.format(1)),
        (["Ada was born.", "Bo died."], True, 0.5, UNSCORED, NOTHING.format(2)),
        (["Bo died."], False, None, UNSCORED, NOTHING.format(1)),
        ([], False, 0.0, BELOW_THRESHOLD, "factloop: precision undefined is below 0 (--fail-under)\n"),
        ([], True, None, DONE, ""),
    ],
)
def test_the_code_and_what_is_said(
    facts: list[str], strict: bool, fail_under: float | None, code: int, said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert exit_code(unscored(*facts), Demands(strict, fail_under), may_be_empty=True) == code
    assert capsys.readouterr().err == said


@pytest.mark.parametrize(
    ("report", "said"),
    [
        (unscored(), "the response makes no claims that can be checked"),
        (report_of(("The Eiffel Tower is tall.", "i")), "none of the claims is relevant to the question"),
    ],
)
def test_a_check_that_scored_nothing_is_no_success(
    report: FactualityReport, said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert exit_code(report, Demands(False, None)) == UNSCORED
    assert capsys.readouterr().err == f"factloop: no claim could be scored: {said}\n"


@pytest.mark.parametrize(
    ("value", "threshold", "said"),
    [
        (0.5, 0.6, "precision 0.500 is below 0.6"),
        (2 / 3, 0.667, "precision 0.6667 is below 0.667"),
        (2 / 3, 0.66666667, "precision 0.666666667 is below 0.66666667"),
        (0.0, 1e-9, "precision 0.000 is below 1e-09"),
        (1999 / 2000, 1.0, "precision 0.9995 is below 1"),
        (None, 0.0, "precision undefined is below 0"),
    ],
)
def test_a_figure_and_its_threshold_are_told_apart(value: float | None, threshold: float, said: str) -> None:
    assert below_threshold("precision", value, threshold) == f"{said} (--fail-under)"


DOWN = (UnscoredReason.TOOL_FAILURE, "serper:\n has accepted \x1b nothing")


@pytest.mark.parametrize(
    ("results", "said"),
    [
        ([(None, "fine"), DOWN], "serper: has accepted ␛ nothing"),
        ([(UnscoredReason.AMBIGUOUS, "who?"), (UnscoredReason.TIMEOUT, "late"), DOWN], "late"),
        ([(UnscoredReason.REFUSAL, "I can't")], "I can't"),
        ([(UnscoredReason.BUDGET, "1 dollar"), (UnscoredReason.NO_SOURCE, "none")], None),
        ([], None),
    ],
)
def test_what_went_wrong_first(results: list[tuple[UnscoredReason | None, str]], said: str | None) -> None:
    assert first_failure(results) == said
