"""The words of --strict and --fail-under, and their exit codes. Commands are tried elsewhere."""

from __future__ import annotations

from io import StringIO
from pathlib import Path

import pytest
from rich.console import Console

from factloop import FactChecker, FactualityReport, GivenFacts
from factloop.cli.demands import below_threshold, exit_code, first_failure, scored_exit_code
from factloop.cli.exits import BELOW_THRESHOLD, DONE, UNSCORED
from factloop.core.records import UnscoredReason
from factloop.setup.sources import Sources

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
    facts: list[str], strict: bool, fail_under: float | None, code: int, said: str
) -> None:
    heard = StringIO()
    assert exit_code(unscored(*facts), Console(file=heard), strict=strict, fail_under=fail_under) == code
    assert heard.getvalue() == said


def test_a_check_that_scored_nothing_is_no_success(tmp_path: Path) -> None:
    heard = StringIO()
    code = scored_exit_code(unscored(), Console(file=heard, width=120), strict=False, fail_under=None)
    said = "factloop: no claim could be scored: the response makes no claim that can be checked\n"
    assert (code, heard.getvalue()) == (UNSCORED, said)
    heard = StringIO()
    text, aside = "Mira Halden was a chemist. Bananas are rich in potassium.", "Bananas are rich in potassium."
    (tmp_path / "source.txt").write_text(text)
    off_topic = FactChecker(docs=tmp_path, cache=False).check(
        text, "Who was Mira Halden?", facts=[GivenFacts(sentence=aside, facts=(aside,))]
    )
    assert [claim.relevant for claim in off_topic.claims] == [False]
    code = scored_exit_code(off_topic, Console(file=heard, width=120), strict=False, fail_under=None)
    said = "factloop: no claim could be scored: none of them has to do with the question\n"
    assert (code, heard.getvalue()) == (UNSCORED, said)


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
