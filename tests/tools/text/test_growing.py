"""Sentences of a text that is still being written."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from factloop.tools.text.growing import LONGEST_FENCE, GrowingText, Stretch
from factloop.tools.text.sentences import split_sentences
from tests.work import LINEAR, growth

PIECES = st.sampled_from([
    "He came. ", "She left at 5 p.m. ", "Dr. ", "Mr. ", "No. 5 ", "e.g. ", "3.14 ", "J. R. R. ", "... ", "…",
    "Wait! ", "Why? ", "[1] ", "[2, ", "3]", "[citation needed]", ". ", "\n", "\n\n", "\n- ", "\n1. ", "\n# ", "\n> ",
    "```python\n", "```\n", "```text\n", "\n\n    ", "~~~\n", "x = 1\n", '"Stop!" ', "he said ", "the man said. ",
    "(see ", ") ", "“", "” ", "« ", "»", "**bold** ", "**", "_a_ ", "", " cell ", " one ", "\n", "", " 。",
    "彼は来た。",
    "「はい」", "¹²", "([source](https://a.b/c)) ",
    "a long line that goes on and on for more than forty-eight characters\n", "U.S. ", "He ", "  \n", "\r\n", "\t",
    "é",
])  # fmt: skip
TEXTS = st.lists(PIECES, max_size=25).map("".join)


def grown(text: str, size: int) -> list[Stretch]:
    growing = GrowingText()
    found = [stretch for at in range(0, len(text), size) for stretch in growing.feed(text[at : at + size])]
    return [*found, *growing.end()]


def spans(stretches: list[Stretch]) -> list[tuple[int, int]]:
    return [(one.sentence.start, one.sentence.end) for one in stretches if one.sentence is not None]


@given(TEXTS | st.text(max_size=200), st.integers(1, 40))
@settings(max_examples=3 * settings().max_examples)
def test_all_of_the_text_comes_out_in_the_same_sentences_however_it_arrives(text: str, size: int) -> None:
    once = grown(text, max(len(text), 1))
    assert grown(text, size) == once
    assert "".join(one.text for one in once) == text
    for one in once:
        assert text[one.start :].startswith(one.text)
        if one.sentence is not None:
            assert text[one.sentence.start : one.sentence.end] == one.sentence.text
            assert one.text.endswith(one.sentence.text)


@given(TEXTS.filter(lambda text: " | " not in text))
@settings(max_examples=3 * settings().max_examples)
def test_what_stands_between_sentences_states_nothing(text: str) -> None:
    """Between them is what the splitter of whole texts passes over too: markers and space."""
    covered = {place for start, end in spans(grown(text, 3)) for place in range(start, end)}
    for sentence in split_sentences(text):
        missed = [text[at] for at in range(sentence.start, sentence.end) if at not in covered]
        assert not any(character.isalnum() for character in missed), (sentence, missed)


@pytest.mark.parametrize(
    ("so_far", "certain"),
    [
        ("He came. ", []),
        ("He came. She ", ["He came."]),
        ("He came.\n\n", ["He came."]),
        ("Pi is 3.14 or so", []),
        ("It is true. [1] Then ", ["It is true. [1]"]),
        ("It is true. [1, ", []),
        ('He said "It is late. I must ', []),
        ('He said "It is late. I must go." Then he left ', ['He said "It is late. I must go."']),
        ('"Stop!" John left ', ['"Stop!"']),
        ("- one\n- two ", ["one"]),
        ("# Title. Part two\nText ", ["Title. Part two"]),
        ("So it is.\n```python\nprint('He came. She left.')\n", ["So it is."]),
        ("```python\nx = 1\n``` ", []),
        ("```python\nx = 1\n```\n", ["```python\nx = 1\n```"]),
        ("彼は来た。彼", ["彼は来た。"]),
    ],
)
def test_a_sentence_is_cut_as_soon_as_its_end_is_certain(so_far: str, certain: list[str]) -> None:
    growing = GrowingText()
    assert [one.sentence.text for one in growing.feed(so_far) if one.sentence is not None] == certain


@pytest.mark.parametrize("size", [1, 7, 1000])
def test_prose_is_cut_as_the_splitter_of_whole_texts_cuts_it(size: int) -> None:
    text = (
        "# The tower\n\nSmeaton, a Fellow (b. 1724), built it in 1759.[1] It stood for approx. 120 years. "
        "“It is late. We must go,” said Dr. Who.\n\n1. It cost £16,000.\n2. **Iron.** The third was of oak, e.g. "
        "dovetailed. \"Fine!\" he said.\n\n```python\nx = 'He came. She left.'\n```\n> Quoted. Twice.\n\nIt was 3.5 m "
        "wide (it is said. Perhaps. Or not) and so on.\nNo. 5 burnt down. The end"
    )
    prose = [one for one in grown(text, size) if not one.is_code]
    assert spans(prose) == [(one.start, one.end) for one in split_sentences(text)]
    assert [one.sentence.text for one in grown(text, size) if one.sentence is not None and one.is_code] == [
        "```python\nx = 'He came. She left.'\n```"
    ]


def test_the_head_of_a_table_is_certain_once_the_line_below_it_was_seen() -> None:
    text = "| Year | Place |\n|---|---|\n| 1901 | Rome |\n"
    head, *_ = grown(text, 5)
    assert (head.text, text[: head.seen]) == ("| Year | Place", "| Year | Place |\n|---|---|\n| 1901 ")


def test_code_whose_fence_is_never_closed_is_read_as_text() -> None:
    """Else whatever follows a stray fence would be held back for ever, or pass unread."""
    text = "```python\n" + "He came home. " * (LONGEST_FENCE // 14 + 50)
    growing = GrowingText()
    assert sum(one.sentence is not None for one in growing.feed(text)) > 1_000
    assert {one.sentence.text for one in growing.end() if one.sentence is not None} == {"He came home."}


@pytest.mark.large
@pytest.mark.parametrize(
    "piece", ['"a. ', "(((", "```x\n", "a. b", "**", "[[", "e.g. ", "“", "\n", "。", "a\n- b. C ", "<!-- a. "]
)
def test_hostile_text_is_linear_work(piece: str) -> None:
    def grow(n_characters: int) -> None:
        text = piece * (n_characters // len(piece))
        assert "".join(one.text for one in grown(text, 50)) == text

    assert growth(grow, 250) < LINEAR
