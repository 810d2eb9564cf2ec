"""The words of --fail-if-unscored and --fail-under, and their exit codes. Commands are tried elsewhere."""

from __future__ import annotations

from dataclasses import dataclass

import pytest

from factloop import FactChecker, FactualityReport, GivenFacts
from factloop.cli.console import BELOW_THRESHOLD, DONE, UNSCORED
from factloop.cli.demands import below_threshold, exit_code, first_failure
from factloop.core.records import UnscoredReason
from factloop.setup.sources import Sources
from tests.correction.reports import report_of


@dataclass(frozen=True)
class Demands:
    fail_if_unscored: bool
    fail_under: float | None


NOTHING = "factloop: no claim could be scored: {} × no source to check against\n"


def unscored(*facts: str) -> FactualityReport:
    """An unscored result: with nothing to search no claim can be judged."""
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
    facts: list[str],
    strict: bool,
    fail_under: float | None,
    code: int,
    said: str,
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert exit_code(unscored(*facts), Demands(strict, fail_under), may_be_empty=True) == code
    assert capsys.readouterr().err == said


@pytest.mark.parametrize(
    ("report", "said"),
    [
        (unscored(), "the response makes no claim that can be checked"),
        (report_of(("The Eiffel Tower is tall.", "i")), "none of them has to do with the question"),
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
