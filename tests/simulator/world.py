"""The invented world: entities, one article about each, and long responses whose every fact has a known truth.

Nothing in it is true or occurs in any model's training data, so a checker gets a verdict right by evidence or by luck.
`world.jsonl` holds it: a line for each entity, misleading page and response. The responses were drafted by a seeded
program that read each draft back, so that whoever reads the whole of one knows what every sentence means: what ties
others to the subject is said once, early or late; pronouns and short names reach back over paragraphs; some sections
are lists or tables under a heading, and some dates are given by the sentence before. A quarter of the facts are false,
and a tenth is about strangers.
"""

from __future__ import annotations

import json
import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, cached_property
from itertools import repeat
from pathlib import Path
from typing import Any, Literal

from tests.simulator.grammar import read_claim
from tests.simulator.relations import CARGOES, ENTITY_KINDS, RELATIONS, SUBJECTS, Kind, Pool

Label = Literal["supported", "not_supported", "irrelevant"]

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
        while (value := rng.choice(self.values)) in {topic.value, topic.subject, topic.key}:
            pass
        return topic.claim(value)


@dataclass(frozen=True)
class Passage:
    title: str
    url: str
    date: str
    text: str

    @property
    def page(self) -> str:
        """The text under its title, which its sentences may take their subject from."""
        return f"{self.title}\n{self.text}"


@dataclass(frozen=True)
class GoldFact:
    """One atomic fact of a response with its truth."""

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
    """A long answer to check, with all its facts in order."""

    prompt: str
    subject: str
    text: str
    sentences: tuple[str, ...]
    """Those that state something: prose, list items and rows of tables, without their marks."""
    facts: tuple[GoldFact, ...]

    @property
    def passages(self) -> tuple[Passage, ...]:
        """The passages that settle its facts, each once: what it was written from, where it is right."""
        return tuple(dict.fromkeys(fact.gold for fact in self.facts))


@dataclass(frozen=True)
class World:
    """All there is. Sentences with facts are unique over the world."""

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
        """The response whose number of facts comes closest."""
        return min(self.responses, key=lambda response: abs(len(response.facts) - n_facts))

    @property
    def twenty_responses(self) -> tuple[Response, ...]:
        """Twenty responses, 900 facts in all."""
        return self.responses[1:21]

    @cached_property
    def questions(self) -> tuple[QaPair, ...]:
        """One for each topic, in a drawn order: any slice is a fair sample."""
        pairs = [QaPair(topic, self.pools[topic.pool]) for topics in self.topics.values() for topic in topics]
        random.Random("20 questions").shuffle(pairs)
        return tuple(pairs)

    def pair_of(self, question: str) -> QaPair | None:
        """The pair that a question belongs to; None for any other question."""
        return self._pairs.get(" ".join(question.split()))

    @cached_property
    def _pairs(self) -> Mapping[str, QaPair]:
        return {pair.question: pair for pair in self.questions}

    @cached_property
    def _topics_by_clause(self) -> Mapping[tuple[str, str, str], Topic]:
        return {(one.subject, one.said, one.key): one for topics in self.topics.values() for one in topics}

    def topic_of(self, claim: str) -> tuple[Topic, str] | None:
        """The topic of a claim, and the value that it gives: for those that are defined to know the world."""
        read = read_claim(claim)
        if read is None:
            return None
        subject, clause = read
        said = clause.relation.said.replace("{key}", clause.key)
        topic = self._topics_by_clause.get((subject, said, clause.key))
        return None if topic is None else (topic, clause.value)

    @cached_property
    def stated(self) -> frozenset[str]:
        """All self-contained facts of all responses, true or not."""
        return frozenset(fact.self_contained for response in self.responses for fact in response.facts)


def prompt_about(entity: Entity) -> str:
    return f"Who was {entity.name}?" if entity.kind == "person" else f"What is known about {entity.name}?"


@cache
def load_world() -> World:
    """The world, read once a process."""
    lines = [
        json.loads(line) for line in Path(__file__).with_name("world.jsonl").read_text(encoding="utf-8").splitlines()
    ]
    told = [line for line in lines if "kind" in line]
    entities = {line["name"]: Entity(line["name"], line["kind"], line["pronoun"]) for line in told}
    topics = {line["name"]: tuple(_topics(line)) for line in told}
    gold = {
        topic: passage for line in told for topic, passage in zip(topics[line["name"]], _article(line), strict=True)
    }
    misleading = [Passage(**line) for line in lines if line.keys() == {"title", "url", "date", "text"}]
    *responses, claim_free = [_response(line, topics, gold) for line in lines if "facts" in line]
    pools: dict[Pool, Sequence[str]] = {
        kind: [one.name for one in entities.values() if one.kind == kind] for kind in ENTITY_KINDS
    }
    pools |= {"year": [str(year) for year in range(1701, 1990)], "subject": SUBJECTS, "cargo": CARGOES, **lines[-1]}
    return World(
        entities=entities,
        topics=topics,
        passages=tuple(dict.fromkeys(gold.values())),
        gold=gold,
        misleading=tuple(misleading),
        responses=tuple(responses),
        claim_free=claim_free,
        pools={pool: tuple(values) for pool, values in pools.items()},
    )


def _topics(line: Mapping[str, Any]) -> Iterator[Topic]:
    """By number of the relation, which of its two written wordings, key and value."""
    for number, which, key, value in line["topics"]:
        relation = RELATIONS[line["kind"]][number]
        said, written = (worded.replace("{key}", key) for worded in (relation.said, relation.written[which]))
        yield Topic(line["name"], said, written, relation.noun, key, relation.value, value)


def _article(line: Mapping[str, Any]) -> Iterator[Passage]:
    """The passage that tells each topic."""
    for text, n_told in zip(line["texts"], line["told"], strict=True):
        yield from repeat(Passage(line["title"], line["url"], line["date"], text), n_told)


def _response(
    line: Mapping[str, Any], topics: Mapping[str, Sequence[Topic]], gold: Mapping[Topic, Passage]
) -> Response:
    stated: set[str] = set()
    found: list[GoldFact] = []
    for sentence, text, subject, place, value, label in line["facts"]:
        topic = topics[subject][place]
        claim, is_true = topic.claim(value), value == topic.value
        fact = GoldFact(
            line["sentences"][sentence], text, claim, subject, label, is_true, gold[topic], topic, claim in stated
        )
        found.append(fact)
        stated.add(claim)
    return Response(line["prompt"], line["subject"], line["text"], tuple(line["sentences"]), tuple(found))
