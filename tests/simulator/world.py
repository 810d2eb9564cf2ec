"""The invented world: entities, one article about each, and long responses whose every fact has a known truth.

Nothing in it is true or occurs in any model's training data, so a checker gets a verdict right by evidence or by luck.
"""

from __future__ import annotations

import random
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Literal

from tests.simulator.relations import Kind, Pool

Label = Literal["supported", "not_supported", "irrelevant"]

_WORD = re.compile(r"[^\W\d_]+")
_IMPLIED_BY_THE_QUESTION_WORD = (" the year", " the town of")


@dataclass(frozen=True)
class Entity:
    name: str
    kind: Kind
    pronoun: str


@dataclass(frozen=True)
class Topic:
    """One thing that can be known of an entity, and how it truly is. A fact is a topic with a value, right or wrong."""

    subject: str
    said: str
    written: str
    noun: str
    key: str
    pool: Pool
    value: str

    def claim(self, value: str) -> str:
        """The self-contained fact that this value is the right one, as a response words it."""
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
    """A question with a short answer, and false answers on demand."""

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
        """The true answer, in a whole sentence."""
        return self.topic.claim(self.topic.value)

    def wrong(self, rng: random.Random) -> str:
        """A false answer of the same form."""
        topic = self.topic
        return topic.claim(other_value(rng, self.values, {topic.value, topic.subject, topic.key}))


def other_value(rng: random.Random, values: Sequence[str], excluded: set[str]) -> str:
    """One of `values`, some of which must not be `excluded`."""
    while (value := rng.choice(values)) in excluded:
        pass
    return value


@dataclass(frozen=True)
class Passage:
    title: str
    url: str
    date: str
    text: str


@dataclass(frozen=True)
class GoldFact:
    """One atomic fact of a response with its truth."""

    sentence: str
    text: str
    """As the sentence has it, pronoun and all."""
    self_contained: str
    subject: str
    label: Label
    gold: Passage
    """The passage that settles it."""
    topic: Topic
    is_duplicate: bool = False
    """True where an earlier sentence of the response says the same in the same words."""


@dataclass(frozen=True)
class Response:
    """A long answer to check, with all its facts in order."""

    prompt: str
    subject: str
    sentences: tuple[str, ...]
    facts: tuple[GoldFact, ...]

    @property
    def text(self) -> str:
        return " ".join(self.sentences)


@dataclass(frozen=True)
class World:
    """All there is. Sentences with facts are unique over the world, so that a sentence alone tells its facts."""

    seed: int
    entities: Mapping[str, Entity]
    topics: Mapping[str, tuple[Topic, ...]]
    """By the name of their subject."""
    passages: tuple[Passage, ...]
    responses: tuple[Response, ...] = field(repr=False)
    claim_free: Response
    pools: Mapping[Pool, tuple[str, ...]] = field(repr=False)
    """What may stand in a place of each kind."""

    def one_response(self, n_facts: int = 43) -> Response:
        """The response whose number of facts comes closest."""
        return min(self.responses, key=lambda response: abs(len(response.facts) - n_facts))

    @property
    def twenty_responses(self) -> tuple[Response, ...]:
        """Twenty responses, 900 facts in all."""
        return self.responses[1:21]

    @cached_property
    def facts_of_sentence(self) -> Mapping[str, tuple[GoldFact, ...]]:
        found: dict[str, list[GoldFact]] = {}
        for response in self.responses:
            for fact in response.facts:
                found.setdefault(fact.sentence, []).append(fact)
        return {sentence: tuple(facts) for sentence, facts in found.items()}

    @cached_property
    def questions(self) -> tuple[QaPair, ...]:
        """One for each topic, in a drawn order: any slice is a fair sample."""
        pairs = [QaPair(topic, self.pools[topic.pool]) for topics in self.topics.values() for topic in topics]
        random.Random(f"{self.seed} questions").shuffle(pairs)
        return tuple(pairs)

    def pair_of(self, question: str) -> QaPair | None:
        """The pair that a question belongs to; None for any other question."""
        return self._pairs.get(" ".join(question.split()))

    @cached_property
    def _pairs(self) -> Mapping[str, QaPair]:
        return {pair.question: pair for pair in self.questions}

    @cached_property
    def stated(self) -> frozenset[str]:
        """All self-contained facts of all responses, true or not."""
        return frozenset(fact.self_contained for response in self.responses for fact in response.facts)

    @cached_property
    def _name_of_word(self) -> Mapping[str, str]:
        common = {"The", "River"}
        shared = {name.split()[-1] for name in self.entities if self.entities[name].kind not in ("person", "river")}
        shared -= {name for name in self.entities if self.entities[name].kind == "town"}
        return {word: name for name in self.entities for word in name.split() if word not in common | shared}

    def first_entity(self, text: str) -> Entity | None:
        """The entity that `text` names first; each entity has a made-up word that no other has. Linear in the text."""
        for match in _WORD.finditer(text):
            name = self._name_of_word.get(match[0])
            if name is not None:
                return self.entities[name]
        return None
