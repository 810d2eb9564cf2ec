from __future__ import annotations

import random

from tests.simulator import build_world

WORLD = build_world()


def test_every_question_tells_its_topic_and_a_wrong_answer_differs_in_its_value_alone() -> None:
    assert len({pair.question for pair in WORLD.questions}) == sum(map(len, WORLD.topics.values()))
    for number, pair in enumerate(WORLD.questions[:300]):
        assert WORLD.pair_of(f" {pair.question}\n") is pair
        assert WORLD.topic_of(pair.answer) == (pair.topic, pair.value)
        assert pair.value in WORLD.gold[pair.topic].text
        found = WORLD.topic_of(pair.wrong(random.Random(number)))
        assert found is not None
        assert found[0] == pair.topic
        assert found[1] not in (pair.value, pair.topic.subject, pair.topic.key)
