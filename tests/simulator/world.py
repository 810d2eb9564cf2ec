"""The invented world: entities, one article about each, and long responses whose every fact has a known truth.

Nothing in it is true or occurs in any model's training data, so a checker gets a verdict right by evidence or by luck.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Literal

from tests.simulator.relations import Kind, Pool

Label = Literal["supported", "not_supported", "irrelevant"]

_WORD = re.compile(r"[^\W\d_]+")


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
