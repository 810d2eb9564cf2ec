"""Word by word differences: what they show, and that they lose nothing."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from factloop.correction.records import Correction
from factloop.correction.views.differences import Piece, ResponsePart, parts, pieces
from tests.correction.views.correction_samples import accepted, changed_and_in_doubt, in_doubt
from tests.work import LINEAR, growth


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
