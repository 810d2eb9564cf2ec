"""The model whose belief TrustScore probes: it knows some topics, half-knows others and guesses the rest.

Its answers depend on hashes of the question, never on the order of questions, so concurrency does not change a run.
"""

from __future__ import annotations

import hashlib
import random
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from tests.simulator.grammar import names_in
from tests.simulator.queries import LONGEST_CLAIM
from tests.simulator.settings import SimulatorSettings
from tests.simulator.world import Topic, World

Knowledge = Literal["known", "half_known", "unknown"]

NONE_OF_THE_ABOVE = "none of the above"
SURE, TORN, BIASED = 0.92, 0.40, 0.60
"""Probability of the chosen letter where a topic is known, half-known, or guessed by a letter bias."""

_OPTION = re.compile(r"^\s*([A-Z])\)[ \t]*(.*)$")


@dataclass(frozen=True)
class LetteredOption:
    letter: str
    text: str


@dataclass(frozen=True)
class Choice:
    """An option, and the probability of each letter."""

    option: LetteredOption
    probabilities: Mapping[str, float]


def read_options(block: str) -> Sequence[LetteredOption]:
    """The options, one `A) text` per line; a line without a letter continues the previous option."""
    options: list[LetteredOption] = []
    for line in block.splitlines():
        start = _OPTION.match(line)
        if start:
            options.append(LetteredOption(start[1], start[2].strip()))
        elif options and line.strip():
            options[-1] = LetteredOption(options[-1].letter, f"{options[-1].text} {line.strip()}")
    return options


class Subject:
    def __init__(self, world: World, settings: SimulatorSettings) -> None:
        self._world, self._settings = world, settings

    def knowledge(self, topic: Topic) -> Knowledge:
        """The same in any process for the same seed and proportions."""
        drawn = self._draw("knows", topic.subject, topic.said)
        if drawn < self._settings.known_share:
            return "known"
        return "half_known" if drawn < self._settings.known_share + self._settings.half_known_share else "unknown"

    def expected_trust_bc(self, topic: Topic, response: str) -> Literal[0, 1] | None:
        """TrustBC over ten checks of a response or claim; None for a half-known topic, where it is random."""
        knowledge = self.knowledge(topic)
        if knowledge == "half_known":
            return None
        return 1 if knowledge == "known" and _says_truth(response, topic) else 0

    def answer(self, question: str) -> str | None:
        """A whole sentence, true if the subject knows; None for a question about nothing in this world."""
        pair = self._world.pair_of(question)
        if pair is None:
            return None
        if self._knows_now(pair.topic, "answer", pair.question):
            return pair.answer
        return pair.wrong(random.Random(f"{self._settings.seed} {pair.id}"))

    def choose(self, question: str, options: Sequence[LetteredOption]) -> Choice:
        """The option that the subject believes or guesses. `options` is not empty; the last is none of the above."""
        asked = (question, *(f"{option.letter} {option.text}" for option in options))
        topic = self._topic(question, options)
        if topic is None:
            return _choice(_none_of(options), options, SURE)
        knowledge = self.knowledge(topic)
        if self._knows_now(topic, *asked):
            chosen = next((option for option in options if _says_truth(option.text, topic)), _none_of(options))
            return _choice(chosen, options, SURE if knowledge == "known" else TORN)
        return self._guess(asked, options, TORN if knowledge == "half_known" else None)

    def _guess(self, asked: Sequence[str], options: Sequence[LetteredOption], probability: float | None) -> Choice:
        biased = next((option for option in options if option.letter == self._settings.letter_bias), None)
        if biased is not None:
            return _choice(biased, options, probability or BIASED)
        chosen = options[int(self._draw("guess", *asked) * len(options))]
        return _choice(chosen, options, probability or 1 / len(options))

    def _knows_now(self, topic: Topic, *asked: str) -> bool:
        """Whether it answers this question from knowledge; for half-known topics, a coin flip per question."""
        knowledge = self.knowledge(topic)
        return knowledge == "known" or (knowledge == "half_known" and self._draw("coin", *asked) < 0.5)

    def _topic(self, question: str, options: Sequence[LetteredOption]) -> Topic | None:
        """The topic of the question, or else of the options."""
        pair = self._world.pair_of(question)
        if pair is not None:
            return pair.topic
        read = [claim for option in options if (claim := self._world.topic_of(option.text))]
        named = next((name for _, name in names_in(question[:LONGEST_CLAIM]) if name in self._world.entities), None)
        times = Counter(topic for topic, _ in read)

        def fitness(claim: tuple[Topic, str]) -> tuple[bool, bool, int, str]:
            """Substitutes sometimes speak of others, so a response's statements about its own subject come first."""
            topic, value = claim
            said = topic.claim(value)
            return topic.subject == named, said in self._world.stated, times[topic], said

        return max(read, key=fitness)[0] if read else None

    def _draw(self, *parts: str) -> float:
        """A number in [0, 1) that depends only on the seed and `parts`."""
        text = "\x00".join((str(self._settings.seed), *parts))
        digest = hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).digest()
        return (int.from_bytes(digest, "big") >> 11) / 2**53


def _says_truth(text: str, topic: Topic) -> bool:
    """Whether a text gives the right value of a topic, in a sentence or alone."""
    said = " ".join(text.split()).rstrip(". ")
    return said in (topic.value, topic.claim(topic.value).rstrip("."))


def _none_of(options: Sequence[LetteredOption]) -> LetteredOption:
    named = (option for option in options if option.text.casefold().rstrip(". ") == NONE_OF_THE_ABOVE)
    return next(named, options[-1])


def _choice(chosen: LetteredOption, options: Sequence[LetteredOption], probability: float) -> Choice:
    """Gives the chosen letter `probability`; the others share the rest."""
    others = (1.0 - probability) / max(1, len(options) - 1)
    return Choice(chosen, {option.letter: probability if option is chosen else others for option in options})
