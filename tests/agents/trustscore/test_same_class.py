"""Words of the same class: the tag is kept, nothing said already comes back, and a seed says it all."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from factloop.agents.trustscore.distractors.base import Kind, Substitute, Target
from factloop.agents.trustscore.distractors.same_class import SameClassSource
from factloop.agents.trustscore.records import Source, SubstitutionLevel
from factloop.tools.vocabulary.closeness import too_close
from factloop.tools.vocabulary.lexicon import count_of, nationality_adjectives, words_of
from factloop.tools.vocabulary.shapes import shape_of

QUESTION = "Who built the first temple in Jerusalem?"
RESPONSE = "King Solomon built the first temple for God in Jerusalem."


def target(text: str, kind: Kind, tag: str) -> Target:
    return Target(text, 0, len(text), SubstitutionLevel.ANY_WORD, kind, tag)


def substitutes(
    wanted: Target, *, response: str = RESPONSE, question: str = QUESTION, limit: int = 20, seed: int = 7
) -> Sequence[Substitute]:
    rng = random.Random(seed)
    return asyncio.run(SameClassSource().substitutes(wanted, response, question, limit=limit, rng=rng))


def texts(wanted: Target, *, limit: int = 20, seed: int = 7) -> list[str]:
    return [substitute.text for substitute in substitutes(wanted, limit=limit, seed=seed)]


@pytest.mark.parametrize(
    ("wanted", "words"),
    [
        (target("temple", "noun", "NN"), words_of("NN")),
        (target("temples", "noun", "NNS"), words_of("NNS")),
        (target("golf ball", "noun", "NN"), words_of("NN")),
        (target("built", "verb", "VBD"), words_of("VBD")),
        (target("biggest", "adjective", "JJS"), words_of("JJS")),
        (target("under", "word", "IN"), words_of("IN")),
        (target("King Solomon", "entity", "NNP"), words_of("NNP")),
        (target("jerusalem", "entity", "NNP"), words_of("NNP")),
        (target("All Night Long", "entity", "RB"), words_of("NNP")),
        (target("golf", "entity", "NN"), words_of("NN")),
        (target("Russians", "entity", "NNPS"), words_of("NNPS")),
        (target("French", "adjective", "JJ"), nationality_adjectives()),
        (target("danish", "noun", "NNP"), nationality_adjectives()),
    ],
)
def test_substitutes_are_of_the_class_of_the_target(wanted: Target, words: Sequence[str]) -> None:
    found = substitutes(wanted)
    assert len(found) == len({substitute.text for substitute in found}) == 20
    assert {substitute.text for substitute in found} <= set(words)
    assert {substitute.source for substitute in found} == {Source.VOCABULARY}
    assert {substitute.detail for substitute in found} == {f"same part of speech ({wanted.tag})"}


@pytest.mark.parametrize(
    "wanted",
    [
        target("2017", "date", "CD"),
        target("seven", "number", "CD"),
        target("seven", "word", "CD"),
        target("June", "date", "NNP"),
        target("was", "verb", "VBD"),
        target("日本", "word", "FW"),
        target("%", "word", "SYM"),
        target("", "word", ""),
    ],
)
def test_numbers_dates_auxiliaries_and_other_scripts_get_none(wanted: Target) -> None:
    assert substitutes(wanted) == ()


@given(
    st.sampled_from(["NN", "NNS", "VBD", "JJ", "NNP", "IN"]).flatmap(
        lambda tag: st.tuples(st.just(tag), st.lists(st.sampled_from(words_of(tag)), min_size=2, max_size=30))
    ),
    st.integers(0, 99),
    st.integers(0, 40),
)
def test_no_refused_word_appears(drawn: tuple[str, list[str]], seed: int, limit: int) -> None:
    tag, words = drawn
    response, question = " ".join(words), " ".join(words[1:]).upper()
    found = substitutes(target(words[0], "word", tag), response=response, question=question, seed=seed, limit=limit)
    assert len(found) <= limit
    for substitute in found:
        assert substitute.text.lower() not in response.lower().split()
        assert not too_close(substitute.text, words[0])


def test_one_seed_gives_one_list_and_another_seed_another() -> None:
    wanted = target("temple", "noun", "NN")
    assert texts(wanted, seed=1) == texts(wanted, seed=1) != texts(wanted, seed=2)
    assert len({word for seed in range(40) for word in texts(wanted, seed=seed)}) > 200


def test_a_common_word_gets_commoner_ones_than_a_rare_word() -> None:
    def mean_count(word: str) -> float:
        found = texts(target(word, "noun", "NN"), limit=60)
        return sum(map(count_of, found)) / len(found)

    assert count_of("room") > 100 > 10 > count_of("trophy")
    assert mean_count("room") > 3 * mean_count("trophy")


def test_more_than_there_are_may_be_asked_for() -> None:
    everything = texts(target("biggest", "adjective", "JJS"), limit=10_000)
    assert 30 < len(everything) <= len(words_of("JJS"))
    assert texts(target("biggest", "adjective", "JJS"), limit=0) == []


def test_the_name_says_where_the_words_come_from() -> None:
    assert "textblob" in SameClassSource().name


@pytest.mark.parametrize(
    ("text", "tag"), [("exploration", "NN"), ("identity", "NN"), ("runners", "NNS"), ("cervical", "JJ")]
)
def test_words_of_like_meaning_by_their_endings_are_drawn(text: str, tag: str) -> None:
    found = texts(target(text, "noun", tag))
    assert len(found) == 20
    assert {shape_of(word, tag) for word in found} == {shape_of(text, tag)} != {""}


def test_a_name_of_no_known_place_is_replaced_by_no_place() -> None:
    found = texts(target("Hermia", "entity", "NNP"), limit=150)
    assert len(found) == 150
    assert {"Mississippi", "Scotland", "Pittsburgh", "Paris", "Greece"}.isdisjoint(found)
