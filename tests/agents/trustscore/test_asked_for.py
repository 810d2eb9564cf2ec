"""The part that the question asks for is replaced first, and by words of its kind."""

from __future__ import annotations

import random
from collections.abc import Sequence

import pytest

from factloop.agents.trustscore.distractors.base import Kind, Substitute, Target
from factloop.agents.trustscore.distractors.entities import KnowledgeBaseSource
from factloop.agents.trustscore.distractors.generate import generate_distractors
from factloop.agents.trustscore.distractors.quantities import QuantitySource
from factloop.agents.trustscore.distractors.same_class import SameClassSource
from factloop.agents.trustscore.distractors.same_kind import SameKindSource
from factloop.agents.trustscore.records import Source, SubstitutionLevel
from factloop.tools.knowledge_base.built_in import BuiltInKnowledgeBase
from factloop.tools.vocabulary.kinds import words_by_kind

SOURCES = (
    KnowledgeBaseSource(BuiltInKnowledgeBase(), Source.BUILT_IN),
    QuantitySource(),
    SameKindSource(),
    SameClassSource(),
)


@pytest.mark.parametrize(
    ("question", "response", "replaced"),
    [
        ("when did it open", "The Tower opened in Paris in 1889.", "1889"),
        ("Where did it open?", "The Tower opened in Paris in 1889.", "Paris"),
        ("How many won?", "In Paris, 24 players won.", "24"),
        ("Who sang it?", "American singer Jesse Frederick sang it.", "Jesse Frederick"),
        ("Who sang it?", "English rock band the Outfield sang it.", "Outfield"),
        ("What sport does he play?", "He is a South Korean baseball player.", "baseball"),
        ("What is his occupation?", "He was a French biologist.", "biologist"),
        ("In which country is it?", "It is in Lima, Peru.", "Peru"),
        ("In which city is it?", "It is in Lima, Peru.", "Lima"),
    ],
)
async def test_what_the_question_asks_for_comes_first(question: str, response: str, replaced: str) -> None:
    found = await generate_distractors(question, response, wanted=6, sources=SOURCES, seed=0)
    assert {one.replaced for one in found.distractors} == {replaced}


async def test_without_such_a_question_entities_come_first_as_in_the_paper() -> None:
    found = await generate_distractors("", "The Tower opened in Paris in 1889.", wanted=6, sources=SOURCES, seed=0)
    assert {one.replaced for one in found.distractors} == {"Paris"}


def substitutes(text: str, kind: Kind, tag: str, response: str, question: str) -> Sequence[Substitute]:
    start = response.index(text)
    target = Target(text, start, start + len(text), SubstitutionLevel.NOUN_OR_NUMBER, kind, tag)
    found = SameKindSource().substitutes(target, response, question, limit=12, rng=random.Random(1))
    try:
        found.send(None)
    except StopIteration as done:
        result: Sequence[Substitute] = done.value
        return result
    raise AssertionError("it waits for nothing")


@pytest.mark.parametrize(
    ("text", "kind", "tag", "response", "question", "of"),
    [
        ("Mercury", "noun", "NN", "Mercury has the shortest year.", "Which planet has it?", "planet"),
        ("kangaroo", "noun", "NN", "Jojo is a young kangaroo in it.", "Who is Jojo?", "animal"),
        ("quince", "noun", "NN", "It is the quince.", "Which fruit is it?", "food"),
        ("Artemis", "entity", "NNP", "Artemis is her equal.", "Name the equal of Diana", "god"),
        ("blue", "adjective", "JJ", "It is blue.", "What is it?", "colour"),
    ],
)
def test_substitutes_are_of_the_kind(text: str, kind: Kind, tag: str, response: str, question: str, of: str) -> None:
    found = substitutes(text, kind, tag, response, question)
    assert 8 <= len(found) <= 12
    assert {one.text for one in found} <= set(words_by_kind()[of]) - {text}
    assert {(one.source, one.detail) for one in found} == {(Source.BUILT_IN, f"the same kind ({of})")}


@pytest.mark.parametrize(
    ("text", "kind", "tag", "response", "question"),
    [
        ("nucleus", "noun", "NN", "It is the nucleus.", "What is the center of a cell?"),
        ("player", "noun", "NN", "A player of quidditch flew.", "Which sport is it?"),
        ("ran", "verb", "VBD", "He ran.", "Which sport is it?"),
        ("1990", "date", "CD", "It was in 1990.", "Which sport is it?"),
    ],
)
def test_what_is_of_no_kind_is_left_to_other_sources(
    text: str, kind: Kind, tag: str, response: str, question: str
) -> None:
    assert substitutes(text, kind, tag, response, question) == ()
