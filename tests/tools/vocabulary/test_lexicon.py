"""The words that chance may draw are ordinary ones, in the form that their tag asks for."""

from __future__ import annotations

import pytest

from factloop.tools.vocabulary.lexicon import count_of, is_ordinary, nationality_adjectives, tag_of, words_of

OPEN = ("NN", "NNS", "JJ", "JJR", "JJS", "RB", "VB", "VBD", "VBG", "VBN", "VBP", "VBZ")


@pytest.mark.parametrize(
    ("tag", "some"),
    [
        ("NN", {"temple", "river", "doctor"}),
        ("NNS", {"rivers", "women"}),
        ("VBD", {"wrote", "won"}),
        ("VBP", {"believe", "include"}),
        ("NNP", {"Spain", "Mary", "Vermont"}),
        ("IN", {"under", "of"}),
    ],
)
def test_ordinary_words_are_there(tag: str, some: set[str]) -> None:
    assert some <= set(words_of(tag))


@pytest.mark.parametrize("tag", OPEN)
def test_words_of_open_classes_are_in_lower_case_and_fit_to_print(tag: str) -> None:
    words = words_of(tag)
    assert len(words) == len(set(words)) >= 40
    assert all(word.islower() and word.isalpha() and len(word) >= 3 and count_of(word) >= 3 for word in words)
    assert {"first", "seven", "something", "french", "whore", "not", "is", "quickly", "thou"}.isdisjoint(words)


def test_names_are_no_ordinary_words_months_or_nationalities() -> None:
    names = words_of("NNP")
    assert len(names) > 500
    assert all(name.istitle() and not is_ordinary(name) for name in names)
    assert {"June", "Monday", "French", "Englishman", "Prussian", "Landscape", "Herr", "Klux", "Angeles"}.isdisjoint(
        names
    )


@pytest.mark.parametrize("tag", ["CD", "SYM", "FW", "", "XYZ", "POS"])
def test_numbers_marks_and_unknown_tags_have_no_words(tag: str) -> None:
    assert words_of(tag) == ()


def test_the_commonest_come_first() -> None:
    counts = [count_of(word) for word in words_of("NN")]
    assert counts == sorted(counts, reverse=True)
    assert count_of("The") > count_of("temple") > count_of("xylophagous") == 0


def test_nationalities_have_their_capital() -> None:
    assert {"French", "Danish"} <= set(nationality_adjectives())
    assert all(word.istitle() for word in nationality_adjectives())


@pytest.mark.parametrize(
    ("word", "tag", "ordinary"),
    [
        ("temple", "NN", True),
        ("Temple", "NNP", True),
        ("Jerusalem", "NNP", False),
        ("jerusalem", None, False),
        ("ÄÖ", None, False),
    ],
)
def test_what_is_known_of_one_word(word: str, tag: str | None, ordinary: bool) -> None:
    assert tag_of(word) == tag
    assert is_ordinary(word) is ordinary
