"""Writes long responses about an entity, with the stated shares of errors, digressions and repetitions."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from tests.simulator.relations import Pool
from tests.simulator.world import Entity, GoldFact, Label, Passage, Response, Topic, other_value

_RELEVANT_WRONG, _IRRELEVANT, _DUPLICATE = 0.25, 0.10, 0.04
_OPENERS = ("", "", "", "", "Later, ", "In those years, ", "By most accounts, ")


def prompt_about(entity: Entity) -> str:
    return f"Who was {entity.name}?" if entity.kind == "person" else f"What is known about {entity.name}?"


@dataclass(frozen=True)
class _Said:
    """A fact before it stands in a sentence."""

    topic: Topic
    value: str
    label: Label
    is_duplicate: bool = False

    @property
    def clause(self) -> str:
        return f"{self.topic.said} {self.value}"


class Writer:
    """Writes responses from what is known, with the stated shares of errors, digressions and repetitions."""

    def __init__(
        self,
        rng: random.Random,
        topics: Mapping[str, Sequence[Topic]],
        pools: Mapping[Pool, Sequence[str]],
        gold: Mapping[Topic, Passage],
    ) -> None:
        self._rng, self._topics, self._pools, self._gold = rng, topics, pools, gold
        self._written: set[str] = set()

    def response(self, entity: Entity, n_facts: int) -> Response:
        while True:
            response = self._draft(entity, n_facts)
            sentences = set(response.sentences)
            if len(sentences) == len(response.sentences) and not sentences & self._written:
                self._written |= sentences
                return response

    def _draft(self, entity: Entity, n_facts: int) -> Response:
        said = self._what_to_say(entity, n_facts)
        sentences: list[str] = []
        facts: list[GoldFact] = []
        for size in self._sizes(n_facts):
            group, said = said[:size], said[size:]
            group.sort(key=lambda item: item.label == "irrelevant")
            subject = entity.pronoun if sentences else entity.name
            opener = self._rng.choice(_OPENERS) if sentences else ""
            sentence = _sentence(opener, subject, group)
            sentences.append(sentence)
            facts += (self._gold_fact(sentence, subject, item) for item in group)
        return Response(prompt_about(entity), entity.name, tuple(sentences), tuple(facts))

    def _gold_fact(self, sentence: str, subject: str, item: _Said) -> GoldFact:
        claim = item.topic.claim(item.value)
        text = claim if item.label == "irrelevant" else f"{subject} {item.clause}."
        return GoldFact(
            sentence, text, claim, item.topic.subject, item.label, self._gold[item.topic], item.topic, item.is_duplicate
        )

    def _sizes(self, n_facts: int) -> list[int]:
        """How many facts each sentence takes: 2 to 4, near 3 on average, adding up exactly."""
        sizes: list[int] = []
        while (left := n_facts - sum(sizes)) > 4:
            sizes.append(min(self._rng.choices((2, 3, 4), (22, 50, 28))[0], left - 2))
        return [*sizes, left]

    def _what_to_say(self, entity: Entity, n_facts: int) -> list[_Said]:
        n_irrelevant, n_duplicates = round(_IRRELEVANT * n_facts), round(_DUPLICATE * n_facts)
        own = self._rng.sample(self._topics[entity.name], n_facts - n_irrelevant - n_duplicates)
        n_wrong = round(_RELEVANT_WRONG * len(own))
        said = [self._wrong(topic) for topic in own[:n_wrong]]
        said += [_Said(topic, topic.value, "supported") for topic in own[n_wrong:]]
        strangers = self._rng.sample([name for name in self._topics if name != entity.name], n_irrelevant)
        digressions = (self._rng.choice(self._topics[name]) for name in strangers)
        said += [_Said(topic, topic.value, "irrelevant") for topic in digressions]
        self._rng.shuffle(said)
        for _ in range(n_duplicates):
            # at least a sentence later than what it repeats
            place = self._rng.randint(8, len(said))
            repeated = self._rng.choice([item for item in said[: place - 4] if item.label != "irrelevant"])
            said.insert(place, _Said(repeated.topic, repeated.value, repeated.label, is_duplicate=True))
        return said

    def _wrong(self, topic: Topic) -> _Said:
        return _Said(
            topic,
            other_value(self._rng, self._pools[topic.pool], {topic.value, topic.subject, topic.key}),
            "not_supported",
        )


def _sentence(opener: str, subject: str, said: Sequence[_Said]) -> str:
    """`subject` with all its clauses, then what is said of others."""
    own = [item.clause for item in said if item.label != "irrelevant"]
    others = [f"{item.topic.subject} {item.clause}" for item in said if item.label == "irrelevant"]
    if not own:
        return f"{_listed(others)}."
    subject = subject.lower() if opener and subject in {"She", "He", "It"} else subject
    main = f"{opener}{subject} {_listed(own)}"
    return f"{main}, while {_listed(others)}." if others else f"{main}."


def _listed(clauses: Sequence[str]) -> str:
    *before, last = clauses
    return f"{', '.join(before)} and {last}" if before else last
