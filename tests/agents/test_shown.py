from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from factloop.agents.shown import CUT_WITHIN, LEFT_OUT, as_shown, shortened
from factloop.core.records import Evidence

SENTENCE = "The tower of Dr. Ros was not lit before the storm of 1703 had passed. "


def evidence(passage: str, **said: Any) -> Evidence:
    return Evidence(id="e1", source="a.md", passage=passage, query="q", rank=1, retrieved_at=datetime.now(UTC), **said)


def test_title_and_headings_stand_above() -> None:
    item = evidence("Text.", title="Eddystone", section="Towers › Third", published="2021")
    assert as_shown(item) == "Eddystone › Towers › Third (2021)\nText."
    assert as_shown(evidence("Text.", section="Towers")) == "Towers\nText."
    assert as_shown(evidence("Text.", published="2021")) == "Text."


def test_a_passage_is_cut_after_a_sentence() -> None:
    text = (SENTENCE * 9).strip()
    for most in range(len(SENTENCE) * 3, len(SENTENCE) * 4 - 1):
        assert shortened(text, most) == f"{(SENTENCE * 3).strip()}\n{LEFT_OUT}"
    assert shortened(text, len(text)) == text


def test_a_passage_of_rows_is_cut_after_a_row() -> None:
    rows = [f"Tower: No. {n}. It stood; Lit: {1700 + n}" for n in range(30)]
    shown = shortened("\n".join(rows), 300).splitlines()
    assert shown == [*rows[: len(shown) - 1], LEFT_OUT]
    assert len(shown) > 5


def test_a_single_sentence_too_long_is_cut_after_a_word_and_says_so() -> None:
    assert shortened("word " * 100, 42) == f"{'word ' * 8}".rstrip() + f"\n{CUT_WITHIN}"
    assert shortened("x" * 100, 42) == "x" * 42 + f"\n{CUT_WITHIN}"


@given(st.text(alphabet='ab. \n漢。!"', max_size=200), st.integers(1, 100))
def test_any_text_is_cut_to_its_bound_and_says_so(text: str, most: int) -> None:
    shown = shortened(text, most)
    if len(text) <= most:
        assert shown == text
    else:
        kept, _, note = shown.rpartition("\n")
        assert note in (LEFT_OUT, CUT_WITHIN)
        assert len(kept) <= most
        assert "".join(kept.split()) in "".join(text.split())
