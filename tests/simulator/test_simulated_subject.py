"""The simulated subject's knowledge and choices: the truth that TrustScore is measured by, so it is measured first."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import pytest

from tests.simulator import INSTANT, QaPair, SimulatorSettings, World, build_world
from tests.simulator.subject import Choice, LetteredOption, Subject, read_options

LETTERS = "ABCDE"
NONE = "None of the above."
STATEMENTS = "Which of these statements is true?"


@pytest.fixture(scope="module")
def world() -> World:
    return build_world()


@pytest.fixture(scope="module")
def subject(world: World) -> Subject:
    return Subject(world, INSTANT)


def lettered(*texts: str) -> list[LetteredOption]:
    return [LetteredOption(letter, text) for letter, text in zip(LETTERS, texts, strict=True)]


def false_answers(pair: QaPair, besides: str, n: int, rng: random.Random) -> list[str]:
    """Different false answers, none of them `besides`."""
    found: dict[str, None] = {}
    while len(found) < n:
        found[pair.wrong(rng)] = None
        found.pop(besides, None)
    return list(found)


def checks(pair: QaPair, response: str, n: int = 10) -> Iterator[tuple[str, list[LetteredOption]]]:
    """The letter of the response, and the options, of so many checks; its place goes round."""
    rng = random.Random(pair.id)
    for number in range(n):
        others = false_answers(pair, response, 3, rng)
        place = number % 4
        yield LETTERS[place], lettered(*others[:place], response, *others[place:], NONE)


def trust_bc(subject: Subject, pair: QaPair, response: str, question: str | None = None) -> int:
    asked = pair.question if question is None else question
    return int(all(subject.choose(asked, options).option.letter == right for right, options in checks(pair, response)))


def with_knowledge(world: World, subject: Subject, knowledge: str, n: int) -> Sequence[QaPair]:
    return [pair for pair in world.questions[:1000] if subject.knowledge(pair.topic) == knowledge][:n]


class TestKnowledge:
    def test_has_the_shares_asked_for(self, world: World, subject: Subject) -> None:
        drawn = Counter(subject.knowledge(pair.topic) for pair in world.questions)
        assert drawn["known"] / len(world.questions) == pytest.approx(0.5, abs=0.03)
        assert drawn["half_known"] / len(world.questions) == pytest.approx(0.2, abs=0.02)
        all_known = Subject(world, replace(INSTANT, known_share=1.0, half_known_share=0.0))
        assert {all_known.knowledge(pair.topic) for pair in world.questions} == {"known"}

    def test_depends_on_the_seed_alone(self, world: World, subject: Subject) -> None:
        topics = [pair.topic for pair in world.questions[:200]]
        again = Subject(world, replace(INSTANT, letter_bias="A", plain_letters=True))
        other = Subject(world, replace(INSTANT, seed=21))
        assert [subject.knowledge(topic) for topic in topics] == [again.knowledge(topic) for topic in topics]
        assert [subject.knowledge(topic) for topic in topics] != [other.knowledge(topic) for topic in topics]

    def test_is_the_same_in_every_process(self, subject: Subject, world: World) -> None:
        # golden: drawn once by BLAKE2b, so a change of the draw changes every benchmark and must be seen
        topics = world.topics[next(iter(world.entities))][:6]
        assert [subject.knowledge(topic) for topic in topics] == [
            "unknown", "half_known", "known", "unknown", "unknown", "known",
        ]  # fmt: skip

    def test_shares_of_more_than_all_are_refused(self) -> None:
        with pytest.raises(ValueError, match="more than 1"):
            SimulatorSettings(known_share=0.9, half_known_share=0.2)


class TestTrustBC:
    """Ten checks with the response's place balanced: what the benchmark asks of every item."""

    @pytest.mark.parametrize("bias", [None, *LETTERS])
    def test_equals_the_knowledge_whatever_the_bias(self, world: World, bias: Any) -> None:
        subject = Subject(world, replace(INSTANT, letter_bias=bias))
        for number, pair in enumerate(world.questions[:250]):
            for response in (pair.answer, pair.wrong(random.Random(number))):
                expected = subject.expected_trust_bc(pair.topic, response)
                if expected is not None:
                    assert trust_bc(subject, pair, response) == expected, (pair.id, response)

    def test_of_claims_is_read_from_the_options_alone(self, world: World, subject: Subject) -> None:
        pairs = {pair.topic: pair for pair in world.questions}
        values = set()
        for response in world.responses[:6]:
            for fact in response.facts:
                expected = subject.expected_trust_bc(fact.topic, fact.self_contained)
                if expected is not None:
                    values.add(expected)
                    for topic in (STATEMENTS, response.prompt):
                        assert trust_bc(subject, pairs[fact.topic], fact.self_contained, topic) == expected
        assert values == {0, 1}

    def test_half_known_is_chance_and_not_promised(self, world: World, subject: Subject) -> None:
        half_known = with_knowledge(world, subject, "half_known", 60)
        assert {subject.expected_trust_bc(pair.topic, pair.answer) for pair in half_known} == {None}
        right = [
            subject.choose(pair.question, options).option.letter == letter
            for pair in half_known
            for letter, options in checks(pair, pair.answer)
        ]
        # heads: the truth; tails: one of five. 0.5 + 0.5 / 5
        assert sum(right) / len(right) == pytest.approx(0.6, abs=0.06)


class TestChoice:
    def test_known_is_none_of_them_where_the_truth_is_missing(self, world: World, subject: Subject) -> None:
        pair = with_knowledge(world, subject, "known", 1)[0]
        wrong = false_answers(pair, "", 4, random.Random(1))
        assert subject.choose(pair.question, lettered(*wrong, NONE)).option.letter == "E"
        assert subject.choose(STATEMENTS, lettered(*wrong, NONE)).option.letter == "E"

    def test_known_is_found_as_a_bare_value(self, world: World, subject: Subject) -> None:
        pair = with_knowledge(world, subject, "known", 1)[0]
        options = lettered("1600", "Atlantis", pair.value, "green", NONE)
        assert subject.choose(pair.question, options).option.letter == "C"
        assert subject.expected_trust_bc(pair.topic, f"{pair.value}.") == 1

    def test_other_words_around_the_value_are_not_the_truth(self, world: World, subject: Subject) -> None:
        pair = with_knowledge(world, subject, "known", 1)[0]
        twisted = pair.answer.replace(f" {pair.topic.said} ", " never saw ")
        assert subject.choose(pair.question, lettered(twisted, "x", "y", "z", NONE)).option.letter == "E"

    @pytest.mark.parametrize("bias", [None, "B"])
    def test_strange_questions_are_answered_with_none_of_them(self, world: World, bias: Any) -> None:
        subject = Subject(world, replace(INSTANT, letter_bias=bias))
        options = lettered("King Solomon built it.", "King David built it.", "Herod built it.", "Nero built it.", NONE)
        assert subject.choose("Who built the first temple in Jerusalem?", options).option.letter == "E"

    def test_claims_are_told_from_substitutes_that_speak_of_others(self, world: World, subject: Subject) -> None:
        """Where a substitute stands for whom a claim is about, each option is about another: the claim is meant."""
        facts = [
            fact for fact in world.responses[0].facts if subject.expected_trust_bc(fact.topic, fact.self_contained)
        ]
        assert len(facts) > 5
        for fact in facts:
            names = (name for name in world.pools[world.entities[fact.subject].kind] if name != fact.subject)
            replaced = [fact.self_contained.replace(fact.subject, name) for name, _ in zip(names, "123", strict=False)]
            for place in range(4):
                options = lettered(*replaced[:place], fact.self_contained, *replaced[place:], NONE)
                assert subject.choose(STATEMENTS, options).option.letter == LETTERS[place]

    def test_what_a_response_states_is_meant_before_what_most_options_speak_of(
        self, world: World, subject: Subject
    ) -> None:
        fact = next(
            fact for fact in world.responses[0].facts if subject.expected_trust_bc(fact.topic, fact.self_contained)
        )
        stranger = next(
            pair for pair in with_knowledge(world, subject, "known", 1000)
            if pair.answer not in world.stated and pair.topic.subject != fact.subject
        )  # fmt: skip
        others = [stranger.answer, *false_answers(stranger, "", 2, random.Random(1))]
        options = lettered(*others, fact.self_contained, NONE)
        assert subject.choose(STATEMENTS, options).option.letter == "D"
        assert subject.choose(stranger.question, options).option.letter == "A"

    def test_guesses_use_all_options_alike(self, world: World) -> None:
        subject = Subject(world, replace(INSTANT, known_share=0.0, half_known_share=0.0))
        chosen = Counter(
            subject.choose(pair.question, options).option.letter
            for pair in world.questions[:100]
            for _, options in checks(pair, pair.answer)
        )
        # 200 of 1,000 each, standard deviation 12.6
        assert all(150 < chosen[letter] < 250 for letter in LETTERS)

    def test_is_the_same_in_any_order_of_asking(self, world: World, subject: Subject) -> None:
        asked = [(pair, options) for pair in world.questions[:30] for _, options in checks(pair, pair.answer)]
        before = [subject.choose(pair.question, options) for pair, options in asked]
        after = [Subject(world, INSTANT).choose(pair.question, options) for pair, options in reversed(asked)]
        assert before == after[::-1]

    @pytest.mark.parametrize(
        ("knowledge", "bias", "shares"),
        [
            ("known", None, [0.92, 0.02, 0.02, 0.02, 0.02]),
            ("half_known", None, [0.4, 0.15, 0.15, 0.15, 0.15]),
            ("half_known", "C", [0.4, 0.15, 0.15, 0.15, 0.15]),
            ("unknown", None, [0.2, 0.2, 0.2, 0.2, 0.2]),
            ("unknown", "C", [0.6, 0.1, 0.1, 0.1, 0.1]),
        ],
    )
    def test_probabilities_favour_what_is_chosen(
        self, world: World, knowledge: str, bias: Any, shares: list[float]
    ) -> None:
        subject = Subject(world, replace(INSTANT, letter_bias=bias))
        for pair in with_knowledge(world, subject, knowledge, 10):
            for _, options in checks(pair, pair.answer):
                choice: Choice = subject.choose(pair.question, options)
                assert sorted(choice.probabilities.values(), reverse=True) == pytest.approx(shares)
                assert choice.probabilities[choice.option.letter] == pytest.approx(shares[0])


class TestAnswer:
    def test_is_true_where_it_knows_and_false_where_it_does_not(self, world: World, subject: Subject) -> None:
        for pair in world.questions[:300]:
            answer, knowledge = subject.answer(pair.question), subject.knowledge(pair.topic)
            assert answer is not None
            assert knowledge == "half_known" or (answer == pair.answer) == (knowledge == "known")
            assert answer == subject.answer(pair.question)
            assert answer.startswith(f"{pair.topic.subject} {pair.topic.said} ")

    def test_is_true_for_half_of_what_it_half_knows(self, world: World, subject: Subject) -> None:
        half_known = with_knowledge(world, subject, "half_known", 200)
        right = [subject.answer(pair.question) == pair.answer for pair in half_known]
        assert sum(right) / len(right) == pytest.approx(0.5, abs=0.15)

    def test_is_nothing_for_strange_questions(self, subject: Subject) -> None:
        assert subject.answer("Who built the first temple in Jerusalem?") is None


def test_options_are_read_line_by_line() -> None:
    read = read_options("\nA) one\n  B) two\nmore of two\n\nC)\nE) None of the above.\n")
    assert [(option.letter, option.text) for option in read] == [
        ("A", "one"), ("B", "two more of two"), ("C", ""), ("E", "None of the above."),
    ]  # fmt: skip
    assert read_options("no option here") == []
