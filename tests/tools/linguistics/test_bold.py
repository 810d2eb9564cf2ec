"""Lines in bold alone: which are titles, and which sentences."""

from __future__ import annotations

import pytest

from factloop.tools.linguistics.bold import is_bold_title, words_in_bold


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("**Prices**", "Prices"),
        ("  __Prices:__ ", "Prices"),
        ("***Prices***:", "Prices"),
        ("__Team_plan__", "Team_plan"),
        ("**A *stressed* word**", "A *stressed* word"),
        ("**Team** and **Home**", None),
        ("**Prices** are below", None),
        ("*Prices*", None),
        ("** Prices **", None),
        ("**Prices", None),
        ("****", None),
        ("__init__.py", None),
        (f"**{'x' * 121}**", None),
    ],
)
def test_the_words_of_a_line_that_is_bold_alone(line: str, words: str | None) -> None:
    assert words_in_bold(line) == words


@pytest.mark.parametrize(
    "title",
    [
        "Prices", "Side effects.", "How it works", "Support and returns", "Things to do in Lindel", "Price increases",
        "Terms used in this guide", "If you are ill", "Is it safe?", "Early life and education", "Step 2",
    ],
)  # fmt: skip
def test_titles(title: str) -> None:
    assert is_bold_title(title)


@pytest.mark.parametrize(
    "sentence",
    [
        "The bridge was opened in 1826", "Telford built it", "Prices start at 29 euros", "Refunds are paid",
        "Keep out of reach of children.", "If you are ill, it is free",
    ],
)  # fmt: skip
def test_sentences(sentence: str) -> None:
    assert not is_bold_title(sentence)
