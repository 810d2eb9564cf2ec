from __future__ import annotations

import json
from pathlib import Path

import pytest

from factloop.tools.text.language import is_english_at

TEXTS = [json.loads(line) for line in Path(__file__).with_name("languages.jsonl").read_text("utf-8").splitlines()]
"""Texts in twelve languages, and English ones full of foreign names."""


@pytest.mark.parametrize("row", TEXTS, ids=lambda row: f"{row['language']} {row['text'][:20]}")
def test_english_is_told_from_other_languages(row: dict[str, str]) -> None:
    text = row["text"]
    assert is_english_at(text, 0, len(text)) == (row["language"] == "en")


GERMAN = "Der Turm wurde 1896 errichtet und diente bis in die fünfziger Jahre als Lager. Er ist hoch."
ENGLISH = "The tower was built in 1896 and served as a store until the fifties. It is tall."


@pytest.mark.parametrize(("text", "expected"), [(GERMAN, False), (ENGLISH, True)])
def test_a_short_sentence_is_in_the_language_of_its_paragraph(text: str, expected: bool) -> None:
    start = text.index(". ") + 2
    assert is_english_at(text, start, len(text)) is expected


def test_paragraphs_of_one_response_may_be_in_two_languages() -> None:
    response = f"{ENGLISH}\n\n{GERMAN}"
    assert is_english_at(response, 0, 10)
    assert not is_english_at(response, len(ENGLISH) + 2, len(response))


@pytest.mark.parametrize("text", ["", "40 m", "NASA", "E = mc²", "Marie Curie", "Düsseldorf"])
def test_text_without_words_counts_as_english(text: str) -> None:
    assert is_english_at(text, 0, len(text))


@pytest.mark.parametrize(
    "text",
    [
        "Die Zeit is a weekly.", "Das Boot won awards.", "La Traviata premiered in 1853.", "Der Spiegel, 1947.",
        "Han Solo vlogs.", "Die casting needs zinc.",
    ],
)  # fmt: skip
def test_a_short_english_sentence_may_open_with_a_foreign_name(text: str) -> None:
    assert is_english_at(text, 0, len(text))
