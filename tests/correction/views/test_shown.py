"""A correction word by word, on the terminal and as a page."""

from __future__ import annotations

import io

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console

from factloop.correction.records import Correction, LeftReason, Rejection
from factloop.correction.views.differences import Piece, ResponsePart, parts, pieces
from factloop.correction.views.html import render_correction_html
from factloop.correction.views.terminal import print_correction
from factloop.correction.views.words import LEFT_WORDS, changes_words, decision
from tests.correction.views.correction_samples import (
    accepted,
    changed_and_in_doubt,
    hostile,
    in_doubt,
    not_taken,
    nothing_done,
)
from tests.reports.html_page import text_of, words
from tests.reports.sample import sample_report
from tests.work import LINEAR, growth


def printed(correction: Correction, width: int = 120, *, terminal: bool = False) -> str:
    file = io.StringIO()
    console = Console(file=file, width=width, force_terminal=terminal, _environ={"TERM": "xterm-256color"})
    print_correction(correction, console)
    return file.getvalue()


@pytest.mark.parametrize("width", [40, 60, 100, 160])
def test_the_terminal_shows_what_changed_and_why(width: int) -> None:
    text = printed(accepted(), width)
    assert max(map(len, text.splitlines())) <= width
    said = words(text)
    if width >= 100:
        assert "The Analytical Engine was {+never+} completed [-in 1845-]{+,+} and {+never+} ran her program.#1" in said
        assert "[-She kept a parrot that she had named after Babbage.-]#2 She died" in said
    for part in ("✗ contradicted: The Analytical Engine", "no answer within 60 s", "0.90", "Corrected: precision"):
        assert part in said


def test_a_text_that_was_not_taken_is_not_called_corrected() -> None:
    said = words(printed(not_taken()))
    assert "with changes that were not taken" in said
    assert "The original stands: 1 sentence would state what is not supported." in said
    page = text_of(render_correction_html(not_taken()))
    assert "with changes that were not taken" in page
    assert "After, not taken" in page
    assert "Response, corrected" not in page


def test_nothing_to_correct_is_said() -> None:
    assert "Nothing to correct" in printed(nothing_done())
    assert "Nothing to correct" in text_of(render_correction_html(nothing_done()))
    stands = nothing_done(sample_report(), Rejection.NOTHING_CHANGED)
    assert decision(stands).startswith("The original stands")
    assert changes_words(stands) == "none"


def test_hostile_text_does_not_steer_the_terminal() -> None:
    assert not set(printed(hostile(), terminal=False)) & set("\x1b\x00\x07\r\x9b\u202e\u2066")


def test_every_sentence_in_doubt_is_shown_with_what_became_of_it() -> None:
    """Marked or not, with its claims; the counts say how many the text itself does not tell of."""
    one = in_doubt()
    for text in (words(printed(one)), words(text_of(render_correction_html(one)))):
        assert "2 sentences not proven or not checked, 1 of them unmarked" in text
        assert "contradicted; marked [contradicted]" in text
        assert "no evidence found; not marked" in text
    assert nothing_done().doubts == ()
    assert "In doubt" not in printed(nothing_done())


def test_the_corrected_response_is_shown_with_its_marks() -> None:
    page = words(text_of(render_correction_html(changed_and_in_doubt())))
    assert "Ann ran. [unverified] Bad [removed: fell ] [put in: rose. ] [unverified]" in page
    assert "Dan sat. [unchecked]" in page
    assert "Ann ran. [unverified] Bad [-fell-]{+rose.+} [unverified]" in words(printed(changed_and_in_doubt(), 160))
    assert "Response, with marks Ann ran. [contradicted] Bad fell." in words(
        text_of(render_correction_html(in_doubt()))
    )


def test_every_reason_has_words() -> None:
    assert set(LEFT_WORDS) == set(LeftReason)


@pytest.mark.parametrize(
    ("old", "new", "shown"),
    [
        ("It was lit in 1995, so.", "It was lit in 1982, so.", "It was lit in [1995]{1982}, so."),
        ("Ann ran.", "", "[Ann ran.]"),
        ("", "Ann ran.", "{Ann ran.}"),
        ("Ann ran.", "Ann ran.", "Ann ran."),
        ("Ann, a painter and engraver, ran.", "Ann, an engraver, ran.", "Ann, [a painter and]{an} engraver, ran."),
        ("red old house", "blue new house", "[red old]{blue new} house"),
        ("阿达生于一九一五年。", "阿达生于一八一五年。", "阿达生于一[九]{八}一五年。"),
        ("don't go", "do go", "[don't]{do} go"),
    ],
)
def test_the_words_that_differ_are_marked(old: str, new: str, shown: str) -> None:
    marks = {"same": "{}", "removed": "[{}]", "inserted": "{{{}}}"}
    assert "".join(marks[piece.kind].format(piece.text) for piece in pieces(old, new)) == shown


_TEXT = st.lists(st.sampled_from(["Ann", "ran", " ", ", ", "1759", "\n", "安", "**", "."]), max_size=12).map("".join)


@given(_TEXT, _TEXT)
def test_nothing_is_lost(old: str, new: str) -> None:
    found = pieces(old, new)
    assert "".join(piece.text for piece in found if piece.kind != "inserted") == old
    assert "".join(piece.text for piece in found if piece.kind != "removed") == new
    assert all(piece.text for piece in found)


def test_long_wordings_take_linear_work() -> None:
    def compare(n_words: int) -> None:
        old, new = " ".join(f"a{n}" for n in range(n_words)), " ".join(f"b{n}" for n in range(n_words))
        assert pieces(old, new) == (Piece("removed", old), Piece("inserted", new))

    compare(50_000)
    assert growth(compare, 5_000) < LINEAR


def shown(found: list[ResponsePart]) -> str:
    marks = {"same": "{}", "removed": "[-{}-]", "inserted": "{{+{}+}}", "mark": "<{}>"}
    return "".join(marks[piece.kind].format(piece.text) for part in found for piece in part.pieces)


def test_the_marks_stand_where_the_text_to_use_has_them() -> None:
    assert shown(parts(changed_and_in_doubt())) == (
        "Ann ran.< [unverified]> Bad [-fell-]{+rose.+}< [unverified]>{+ He sang+}. [-Cid lay. -]"
        "Dan sat.< [unchecked]> Eve [-hid-]{+ran+}.< [unverified]>"
    )
    assert shown(parts(changed_and_in_doubt(is_accepted=False))) == (
        "Ann ran.< [unverified]> Bad [-fell-]{+rose. He sang+}.< [contradicted]> [-Cid lay.-]< [contradicted]>[- -]"
        "Dan sat.< [unchecked]> Eve [-hid-]{+ran+}.< [contradicted]>"
    )
    assert shown(parts(in_doubt())) == "Ann ran.< [contradicted]> Bad fell. Cid sat."


@pytest.mark.parametrize("correction", [accepted(), in_doubt(), changed_and_in_doubt()])
def test_the_page_of_a_correction_has_the_text_to_use(correction: Correction) -> None:
    left_out = "removed" if correction.accepted else "inserted"
    pieces = [piece for part in parts(correction) for piece in part.pieces if piece.kind != left_out]
    assert "".join(piece.text for piece in pieces) == correction.text
