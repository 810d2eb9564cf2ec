from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest

from tests.simulator import INSTANT, QaPair, build_world
from tests.simulator.subject import LetteredOption, Subject

LETTERS = "ABCDE"
NONE = "None of the above."
STATEMENTS = "Which of these statements is true?"
WORLD = build_world()
SUBJECT = Subject(WORLD, INSTANT)


def checks(pair: QaPair, response: str, n: int = 10) -> Iterator[tuple[str, list[LetteredOption]]]:
    """The response's letter and the options of `n` checks; its position rotates."""
    rng = random.Random(pair.id)
    for number in range(n):
        others: dict[str, None] = {}
        while len(others) < 3:
            others[pair.wrong(rng)] = None
            others.pop(response, None)
        place = number % 4
        texts = [*[*others][:place], response, *[*others][place:], NONE]
        yield LETTERS[place], [LetteredOption(letter, text) for letter, text in zip(LETTERS, texts, strict=True)]


def trust_bc(subject: Subject, pair: QaPair, response: str, question: str) -> int:
    found = checks(pair, response)
    return int(all(subject.choose(question, options).option.letter == right for right, options in found))


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


@pytest.mark.parametrize("bias", [None, *LETTERS])
def test_trust_bc_equals_the_knowledge_whatever_the_bias(bias: Any) -> None:
    """Ten checks with balanced positions, as TrustBC asks them."""
    subject = Subject(WORLD, replace(INSTANT, letter_bias=bias))
    for number, pair in enumerate(WORLD.questions[:250]):
        for response in (pair.answer, pair.wrong(random.Random(number))):
            expected = subject.expected_trust_bc(pair.topic, response)
            if expected is not None:
                assert trust_bc(subject, pair, response, pair.question) == expected, (pair.id, response)


def test_what_a_claim_is_about_is_read_from_the_options_alone() -> None:
    pairs, values = {pair.topic: pair for pair in WORLD.questions}, set()
    for response in WORLD.responses[:6]:
        for fact in response.facts:
            expected = SUBJECT.expected_trust_bc(fact.topic, fact.self_contained)
            if expected is not None:
                values.add(expected)
                for topic in (STATEMENTS, response.prompt):
                    assert trust_bc(SUBJECT, pairs[fact.topic], fact.self_contained, topic) == expected
    assert values == {0, 1}
