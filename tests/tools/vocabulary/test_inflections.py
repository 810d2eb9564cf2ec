"""Forms of one word are known as such, and nouns take the number that is asked for."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from factloop.tools.vocabulary.closeness import ExcludedWords, too_close
from factloop.tools.vocabulary.inflections import agree, lemmas, same_lemma
from factloop.tools.vocabulary.lexicon import words_of


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("city", "Cities", True),
        ("run", "ran", True),
        ("running", "ran", True),
        ("wife", "wives", True),
        ("leave", "left", True),
        ("life", "lives", True),
        ("live", "lives", True),
        ("good", "best", True),
        ("found", "founded", True),
        ("King Solomon", "king solomon's", True),
        ("New_York", "new york", True),
        ("king", "queen", False),
        ("king", "King Solomon", False),
        ("left", "right", False),
        ("", "king", False),
        ("", "", True),
    ],
)
def test_forms_of_one_word(one: str, other: str, same: bool) -> None:
    assert same_lemma(one, other) is same
    assert same_lemma(other, one) is same


@pytest.mark.parametrize(
    ("noun", "tag", "expected"),
    [
        ("river", "NNS", "rivers"),
        ("river", "NN", "river"),
        ("rivers", "NN", "river"),
        ("City", "NNS", "Cities"),
        ("Women", "NN", "Woman"),
        ("toes", "NN", "toe"),
        ("ties", "NN", "tie"),
        ("wives", "NN", "wife"),
        ("people", "NN", "person"),
        ("thousands", "NN", "thousand"),
        ("princess", "NNS", "princesses"),
        ("piano", "NNS", "pianos"),
        ("golf ball", "NNS", "golf balls"),
        ("video games", "NN", "video game"),
        ("smartphone", "NNS", "smartphones"),
        ("physics", "NN", "physics"),
        ("information", "NNS", None),
        ("politics", "NN", None),
        ("Spain", "NNS", None),
        ("wrote", "NN", None),
        ("river", "VBD", None),
        ("日本", "NNS", None),
        ("", "NN", None),
        (" ", "NNS", None),
    ],
)
def test_a_noun_takes_the_number_asked_for(noun: str, tag: str, expected: str | None) -> None:
    assert agree(noun, tag) == expected


@pytest.mark.parametrize("tag", ["NN", "NNS"])
def test_every_noun_has_its_own_number_and_another_that_is_a_form_of_it(tag: str) -> None:
    nouns = words_of(tag)[:400]
    assert [agree(noun, tag) for noun in nouns] == list(nouns)
    others = [agree(noun, "NNS" if tag == "NN" else "NN") for noun in nouns]
    assert sum(other is not None for other in others) > 300
    assert all(same_lemma(noun, other) for noun, other in zip(nouns, others, strict=True) if other is not None)


@given(st.text(max_size=12), st.text(max_size=12))
def test_any_text_may_be_asked_about(one: str, other: str) -> None:
    assert same_lemma(one, other) == same_lemma(other, one)
    assert too_close(one, other) == too_close(other, one)
    assert lemmas(one) == lemmas(one.lower()) != frozenset()
    agree(one, "NN")


@pytest.mark.parametrize(
    ("word", "taken"),
    [
        ("temple", True),
        ("Temples", True),
        ("tempest", False),
        ("contemplate", False),
        ("old temple", True),
        ("building", False),
        ("Build", True),
        ("kings", True),
        ("King_Solomon", True),
        ("king David", False),
        ("who", True),
        ("church", False),
    ],
)
def test_what_the_texts_say_and_what_is_close_to_the_original_is_taken(word: str, taken: bool) -> None:
    assert (word in ExcludedWords.of("temple", "King Solomon built the temple.", "Who built it?")) is taken


@pytest.mark.parametrize(
    ("one", "other", "close"),
    [
        ("art", "Party", True),
        ("King Solomon", "king", True),
        ("temples", "temple", True),
        ("Floridian", "Florida", True),
        ("presidency", "president", True),
        ("Austria", "Australia", False),
        ("North Carolina", "North Dakota", False),
        ("Mississippi", "Missouri", False),
        ("king", "queen", False),
    ],
)
def test_parts_wholes_and_words_of_one_root_are_too_close(one: str, other: str, close: bool) -> None:
    assert too_close(one, other) is close
    assert too_close(other, one) is close
