"""The invented world: entities, an article about each, and long responses with known truth for every fact.

Nothing in it occurs in any model's training data, so a checker is right only by evidence or by luck.
"""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Literal

from tests.simulator.grammar import read_claim
from tests.simulator.relations import Kind, Pool

Label = Literal["supported", "not_supported", "irrelevant"]

_IMPLIED_BY_THE_QUESTION_WORD = (" the year", " the town of")


@dataclass(frozen=True)
class Entity:
    name: str
    kind: Kind
    pronoun: str


@dataclass(frozen=True)
class Topic:
    """Something that can be known about an entity, with its true value. A fact is a topic with any value."""

    subject: str
    said: str
    written: str
    noun: str
    key: str
    pool: Pool
    value: str

    def claim(self, value: str) -> str:
        """The self-contained statement that the topic has this value, as a response words it."""
        return f"{self.subject} {self.said} {value}."

    @property
    def article_sentence(self) -> str:
        return f"{self.subject} {self.written} {self.value}"

    @property
    def question(self) -> str:
        """Asks for the value. No other topic has the same question."""
        asked = "how many volumes" if self.pool == "count" else f"which {self.pool}"
        said = self.said
        for words in _IMPLIED_BY_THE_QUESTION_WORD:
            said = said.removesuffix(words)
        return f"{self.subject} {said} {asked}?"


@dataclass(frozen=True)
class QaPair:
    """A question with a short answer, and wrong answers on demand."""

    topic: Topic
    values: Sequence[str] = field(repr=False, compare=False)
    """All that could stand in the place of the right value, itself among them."""

    @property
    def id(self) -> str:
        return f"{self.topic.subject} {self.topic.said}"

    @property
    def question(self) -> str:
        return self.topic.question

    @property
    def value(self) -> str:
        return self.topic.value

    @property
    def answer(self) -> str:
        return self.topic.claim(self.topic.value)

    def wrong(self, rng: random.Random) -> str:
        topic = self.topic
        return topic.claim(other_value(rng, self.values, {topic.value, topic.subject, topic.key}))


def other_value(rng: random.Random, values: Sequence[str], excluded: set[str]) -> str:
    while (value := rng.choice(values)) in excluded:
        pass
    return value


@dataclass(frozen=True)
class Passage:
    title: str
    url: str
    date: str
    text: str

    @property
    def page(self) -> str:
        """The text under its title, which may be the subject of its sentences."""
        return f"{self.title}\n{self.text}"


@dataclass(frozen=True)
class GoldFact:
    sentence: str
    text: str
    """As the sentence has it, pronoun and all."""
    self_contained: str
    subject: str
    label: Label
    is_true: bool
    """Whether the articles say so; also of what is irrelevant."""
    gold: Passage
    """The passage that settles it."""
    topic: Topic
    is_duplicate: bool = False
    """True where an earlier sentence of the response says the same in the same words."""


@dataclass(frozen=True)
class Response:
    prompt: str
    subject: str
    text: str
    sentences: tuple[str, ...]
    """Those that state something: prose, list items and rows of tables, without their marks."""
    facts: tuple[GoldFact, ...]

    @property
    def passages(self) -> tuple[Passage, ...]:
        """The passages that settle its facts, without repeats."""
        return tuple(dict.fromkeys(fact.gold for fact in self.facts))


@dataclass(frozen=True)
class World:
    """Sentences with facts are unique over the world."""

    seed: int
    entities: Mapping[str, Entity]
    topics: Mapping[str, tuple[Topic, ...]]
    """By the name of their subject."""
    passages: tuple[Passage, ...]
    gold: Mapping[Topic, Passage] = field(repr=False)
    """The passage that tells each topic."""
    misleading: tuple[Passage, ...] = field(repr=False)
    """Found beside them: of others of the same name, and of an older register that errs."""
    responses: tuple[Response, ...] = field(repr=False)
    claim_free: Response
    pools: Mapping[Pool, tuple[str, ...]] = field(repr=False)
    """What may stand in a place of each kind."""

    def one_response(self, n_facts: int = 43) -> Response:
        """The response whose number of facts is closest to `n_facts`."""
        return min(self.responses, key=lambda response: abs(len(response.facts) - n_facts))

    @property
    def twenty_responses(self) -> tuple[Response, ...]:
        """Twenty responses, 900 facts in all."""
        return self.responses[1:21]

    @cached_property
    def questions(self) -> tuple[QaPair, ...]:
        """One per topic, in random order, so that any slice is a fair sample."""
        pairs = [QaPair(topic, self.pools[topic.pool]) for topics in self.topics.values() for topic in topics]
        random.Random(f"{self.seed} questions").shuffle(pairs)
        return tuple(pairs)

    def pair_of(self, question: str) -> QaPair | None:
        return self._pairs.get(" ".join(question.split()))

    @cached_property
    def _pairs(self) -> Mapping[str, QaPair]:
        return {pair.question: pair for pair in self.questions}

    @cached_property
    def _topics_by_clause(self) -> Mapping[tuple[str, str, str], Topic]:
        return {(one.subject, one.said, one.key): one for topics in self.topics.values() for one in topics}

    def topic_of(self, claim: str) -> tuple[Topic, str] | None:
        """The topic and value of a claim, for those who are allowed to know the world."""
        read = read_claim(claim)
        if read is None:
            return None
        subject, clause = read
        said = clause.relation.said.replace("{key}", clause.key)
        topic = self._topics_by_clause.get((subject, said, clause.key))
        return None if topic is None else (topic, clause.value)

    @cached_property
    def stated(self) -> frozenset[str]:
        """Every self-contained fact in any response, true or not."""
        return frozenset(fact.self_contained for response in self.responses for fact in response.facts)
