from __future__ import annotations

import subprocess
import sys

import pytest

from factloop.tools.text.abstentions import is_abstention
from factloop.tools.text.markup import plain_text
from factloop.tools.text.pipeline import load_pipeline
from factloop.tools.text.statements import states_something
from tests.tools.text.cases import rows, wrong

NLP = load_pipeline()
CASES = rows("statements")


def test_what_states_something_is_kept() -> None:
    """Not one may be lost: what states nothing is never checked."""
    kept = [row for row in CASES if row["states"]]
    assert not wrong(kept, lambda row: states_something(row["text"], NLP), lambda _: True)
    assert not wrong(kept, lambda row: is_abstention(row["text"]), lambda _: False)


def test_what_states_nothing_is_mostly_told() -> None:
    silent = [row for row in CASES if not row["states"]]
    found = wrong(silent, lambda row: states_something(row["text"], NLP), lambda _: False)
    assert len(found) <= 0.1 * len(silent), "\n".join(found)


def test_abstentions_are_told_from_other_silence() -> None:
    silent = [row for row in CASES if not row["states"]]
    assert not wrong(silent, lambda row: is_abstention(row["text"]), lambda row: row["kind"] == "abstentions")


@pytest.mark.parametrize("row", rows("markup"), ids=lambda row: row["text"])
def test_citations_go_and_content_stays(row: dict[str, str]) -> None:
    assert plain_text(row["text"]) == row["plain"]
    assert plain_text(row["plain"]) == row["plain"]


@pytest.mark.large
@pytest.mark.parametrize(
    "unit", ["(Smith ", "[doc_", "(see ", "the documents ", "&amp", " https://", "(A, B & ", "1, p. "]
)
def test_hostile_marks_are_no_trouble(unit: str) -> None:
    """The square of a megabyte would outlast the time limit of a test."""
    text = (unit * 1_000_000)[:1_000_000]
    assert isinstance(plain_text(text), str)
    assert is_abstention(text[:100_000]) is False


@pytest.mark.process
def test_abstentions_and_markup_need_no_spacy() -> None:
    code = (
        "import factloop.tools.text.markup, factloop.tools.text.referents, sys; "
        "sys.exit(bool({'spacy', 'torch'} & set(sys.modules)))"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
