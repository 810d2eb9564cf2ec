from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from factloop.tools.text.sentences import MAX_SENTENCE, Sentence, split_sentences
from tests.work import LINEAR, growth

HARD_PARAGRAPHS: list[dict[str, Any]] = json.loads(
    (Path(__file__).parent / "hard_paragraphs.json").read_text(encoding="utf-8")
)
_MEGABYTE = 1_000_000


def assert_spans_hold(text: str, sentences: list[Sentence]) -> None:
    position = 0
    for sentence in sentences:
        assert text[sentence.start : sentence.end] == sentence.text
        assert sentence.start >= position
        assert any(character.isalnum() for character in sentence.text)
        assert sentence.text == sentence.text.strip()
        assert len(sentence.text) <= MAX_SENTENCE
        position = sentence.end


@pytest.mark.parametrize("paragraph", HARD_PARAGRAPHS, ids=lambda paragraph: str(paragraph["name"]))
def test_hard_paragraph(paragraph: dict[str, Any]) -> None:
    found = split_sentences(paragraph["text"])
    assert_spans_hold(paragraph["text"], found)
    assert [sentence.text for sentence in found] == paragraph["sentences"]


@pytest.mark.parametrize("first", ["The loaf weighs 900 g.", "It took 5\u00a0h.", "She ran 100 m."])
def test_a_unit_of_one_letter_is_no_initial(first: str) -> None:
    assert [sentence.text for sentence in split_sentences(f"{first} It was new.")] == [first, "It was new."]
    assert len(split_sentences(f"{first} and no more.")) == 1


@pytest.mark.parametrize("name", ["1", "smeaton-1790"])
def test_the_name_of_a_footnote_is_no_part_of_its_text(name: str) -> None:
    text = f"Smeaton built it.[^{name}]\n\n[^{name}]: He was born in 1724. It is near Leeds.\n"
    expected = [f"Smeaton built it.[^{name}]", "He was born in 1724.", "It is near Leeds."]
    assert [sentence.text for sentence in split_sentences(text)] == expected


@pytest.mark.parametrize("text", ["", " \r\n\t", "\0\0", "---", "***", "```\n```", "...", "🙂"])
def test_text_without_words_has_no_sentences(text: str) -> None:
    assert split_sentences(text) == []


@given(st.text(alphabet=st.sampled_from('aA1 .!?…"“”()[]*_#>|-`\n\r\t\0。؟Dr'), max_size=200) | st.text(max_size=200))
def test_spans_hold_and_no_word_is_lost(text: str) -> None:
    """Numbers of lists, names of footnotes, what fences say and code may be left out; else all letters are kept."""
    sentences = split_sentences(text)
    assert_spans_hold(text, sentences)
    if not any(mark in text for mark in ("`", "~", ")", "[^")) and not any(character.isdigit() for character in text):
        kept = "".join(character for s in sentences for character in s.text if character.isalnum())
        assert kept == "".join(character for character in text if character.isalnum())


def test_a_very_long_sentence_is_cut_at_a_clause() -> None:
    text = "the river flows on; " * 300
    sentences = split_sentences(text)
    assert_spans_hold(text, sentences)
    assert len(sentences) == 3  # 300 clauses of 20 characters, at most 100 of them in 2,000
    assert all(sentence.text.endswith(";") for sentence in sentences)
    assert sum(sentence.text.count("river") for sentence in sentences) == 300


LONG_UNITS = ["word ", "A", ".", '("', "[1] ", "Dr. Vale went home. He slept. ", "> ", "**a", "* ", "```x\n"]


@pytest.mark.large
@pytest.mark.parametrize("unit", LONG_UNITS)
def test_a_megabyte_on_one_line_is_linear_work(unit: str) -> None:
    """What a regular expression does is not counted: the square of a megabyte would outlast the test's time limit."""
    split_sentences((unit * (_MEGABYTE // len(unit)))[:_MEGABYTE])
    assert growth(lambda n: split_sentences((unit * n)[:n]), 8_000) < LINEAR


@pytest.mark.parametrize(
    "text",
    [
        "```It was lit in 1759.```", "``` It was lit in 1759.", "``` It was lit in 1759.\nlit()\n```",
        "```md It was lit in 1759.\n```", "```answer\nIt was lit in 1759.\n```", "```python\n``` It was lit in 1759.",
        "```灯塔于1759年点亮。\n```",
    ],
)  # fmt: skip
def test_words_beside_a_fence_are_no_code(text: str) -> None:
    assert "1759" in split_sentences(text)[-1 if "python" in text else 0].text


@pytest.mark.parametrize("mark", ["unverified", "unchecked", "contradicted", "citation needed"])
@pytest.mark.parametrize("first", ["Ann ran to Rome.", "Did Ann run?", "“Ann ran.”", "安跑了。", "It is in the U.S."])
def test_the_mark_of_a_correction_belongs_to_the_sentence_before_it(first: str, mark: str) -> None:
    found = split_sentences(f"{first} [{mark}] The second, Bo, sat.\n\n- {first} [{mark}]\n")
    expected = [f"{first} [{mark}]", "The second, Bo, sat.", f"{first} [{mark}]"]
    assert [sentence.text for sentence in found] == expected
