"""The questions of the invented world: one for each topic, true answers, and false ones of the same form."""

from __future__ import annotations

import random
from collections import Counter

import pytest

from tests.simulator import World, build_world


@pytest.fixture(scope="module")
def world() -> World:
    return build_world()


def test_every_topic_has_a_question_of_its_own(world: World) -> None:
    n_topics = sum(len(topics) for topics in world.topics.values())
    assert len({pair.question for pair in world.questions}) == len(world.questions) == n_topics
    assert len({pair.id for pair in world.questions}) == n_topics


def test_a_question_alone_tells_its_topic(world: World) -> None:
    for pair in world.questions[:200]:
        assert world.pair_of(f" {pair.question}\n") is pair
    assert world.pair_of("Who built the first temple in Jerusalem?") is None


@pytest.mark.parametrize(
    ("said", "asked"),
    [
        ("was born in the year", "was born in which year?"),
        ("was born in the town of", "was born in which town?"),
        ("lies on the banks of", "lies on the banks of which river?"),
        ("was married to", "was married to which person?"),
    ],
)
def test_wording_asks_for_the_value(world: World, said: str, asked: str) -> None:
    pair = next(pair for pair in world.questions if pair.topic.said == said)
    assert pair.question == f"{pair.topic.subject} {asked}"
    assert pair.answer == f"{pair.topic.subject} {said} {pair.value}."


def test_numbers_are_asked_for_as_numbers(world: World) -> None:
    pair = next(pair for pair in world.questions if pair.topic.pool == "count")
    assert pair.question.endswith("how many volumes?")


def test_the_answer_is_true_and_the_wrong_one_is_false(world: World) -> None:
    for number, pair in enumerate(world.questions[:300]):
        right = world.topic_of(pair.answer)
        assert right is not None
        assert right == (pair.topic, pair.value)
        assert pair.topic.value in world.gold[pair.topic].text
        wrong = world.topic_of(pair.wrong(random.Random(number)))
        assert wrong is not None
        topic, value = wrong
        assert topic == pair.topic
        assert value in world.pools[pair.topic.pool]
        assert value not in (pair.value, pair.topic.subject, pair.topic.key)


def test_wrong_answers_depend_on_the_seed_alone(world: World) -> None:
    pair = world.questions[0]
    assert pair.wrong(random.Random(1)) == pair.wrong(random.Random(1))
    assert len({pair.wrong(random.Random(seed)) for seed in range(20)}) > 10


def test_any_slice_is_a_mixture(world: World) -> None:
    first = world.questions[:100]
    assert len({world.entities[pair.topic.subject].kind for pair in first}) == 6
    assert max(Counter(pair.topic.subject for pair in first).values()) <= 8
