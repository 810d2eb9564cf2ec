"""Documents cut into chunks of whole sentences."""

from __future__ import annotations

from hypothesis import example, given
from hypothesis import strategies as st

from factloop.tools.judges.chunks import cut_by_words, whole_sentences, word_ends

LISTED = "# Bridges\n\nAda paints. She likes red (mostly)!\n\n- one item\n- two items\n```\ncode here\n```\nend"

TEXT = st.lists(
    st.sampled_from(
        ["Ada paints bridges.", "Red!", "\n", "- x", "...", "3.5 m", "“Oh.”", "漢字。", "\t", "a" * 90, "\0"]
    ),
    max_size=30,
).map(" ".join)


def test_chunks_are_filled_with_whole_sentences() -> None:
    # 3 + 2 words fit into 5; the next sentence of 4 does not, and the last of 1 fits beside it
    document = "Ada paints bridges. Red ones. They stand in Paris. Indeed."
    assert cut_by_words(document, 5) == ["Ada paints bridges. Red ones.", "They stand in Paris. Indeed."]


def test_a_sentence_longer_than_a_chunk_is_cut_and_its_end_is_filled_up() -> None:
    assert cut_by_words("one two three four five six seven. Eight nine. Ten.", 3) == [
        "one two three", "four five six", "seven. Eight nine.", "Ten.",
    ]  # fmt: skip


def test_headings_list_marks_and_code_stay_with_their_line() -> None:
    assert "".join(whole_sentences(LISTED)) == LISTED
    assert cut_by_words(LISTED, 4) == [
        "# Bridges\n\nAda paints.", "She likes red (mostly)!", "- one item", "- two items\n```", "code here\n```\nend",
    ]  # fmt: skip


@given(TEXT, st.integers(1, 12))
@example(LISTED, 1)
def test_nothing_is_lost_and_nothing_is_too_long(document: str, n_words: int) -> None:
    chunks = cut_by_words(document, n_words)
    assert "".join("".join(chunks).split()) == "".join(document.split())
    assert all(1 <= len(ends) <= n_words for ends in word_ends(chunks))
