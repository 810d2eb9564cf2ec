"""Reading comprehension: what a claim says, what a passage says of the same thing, and what to search for it.

The reader knows the language (which wordings mean the same) and nothing of the world: no function here looks at the
true value of a topic. Whatever is decided is decided by the passages.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import count
from typing import Literal

from tests.simulator.blocks import Block
from tests.simulator.world import Topic, World

LONGEST_CLAIM = 400
"""Characters of an unknown sentence that are repeated as its claim."""

_WORD = re.compile(r"\w+")
_VALUE = re.compile(r"[^.,]{1,80}(?=[.,])")
_PERSONAL = re.compile(r"\b(?:I|I'm|me|my|we|our|you|your|please|perhaps)\b", re.IGNORECASE)
_NAMED = re.compile(r"[A-Z\d]")


@dataclass(frozen=True)
class ReadClaim:
    """A claim understood: what it is about, and the value it gives."""

    topic: Topic
    value: str


@dataclass(frozen=True)
class Finding:
    """What the passages say of a claim, and which passage says it."""

    stance: Literal["supported", "contradicted", "insufficient"]
    cited: tuple[int, ...] = ()
    found: str = ""
    """The value that the cited passage gives."""


def read_claim(world: World, claim: str) -> ReadClaim | None:
    """The claim in parts; None for one about nothing in this world, or in words that nobody here uses."""
    entity = world.first_entity(claim[:LONGEST_CLAIM])
    if entity is None or not claim.startswith(entity.name + " "):
        return None
    rest = claim.removeprefix(entity.name + " ").rstrip(". \n")
    for topic in world.topics[entity.name]:
        if rest.startswith(topic.said + " "):
            return ReadClaim(topic, rest.removeprefix(topic.said + " "))
    return None


def weigh(claim: ReadClaim | None, evidence: Sequence[Block]) -> Finding:
    """What the first passage that speaks of the same subject and relation says of the claim."""
    if claim is None:
        return Finding("insufficient")
    for place, passage in enumerate(evidence, 1):
        found = _stated_value(claim.topic, passage.text)
        if found is not None:
            number = int(passage.id) if passage.id.isdigit() else place
            return Finding("supported" if found == claim.value else "contradicted", (number,), found)
    return Finding("insufficient")


def _stated_value(topic: Topic, passage: str) -> str | None:
    start = f"{topic.subject} {topic.written} "
    place = passage.find(start)
    value = _VALUE.match(passage, place + len(start)) if place >= 0 else None
    return value[0] if value else None


def next_query(claim: str, read: ReadClaim | None, asked: Sequence[str]) -> str:
    """The first wording of the question that was not asked yet."""
    before = {" ".join(query.casefold().split()) for query in asked}
    wordings = _of_topic(read.topic) if read else _of_words(claim)
    return next(query for query in wordings if query.casefold() not in before)


def _of_topic(topic: Topic) -> Iterator[str]:
    for query in (
        f"{topic.subject} {topic.noun} {topic.key}",
        f"{topic.subject} {topic.written}",
        f"{topic.noun} {topic.key} register {topic.subject}",
        f"{topic.key} {topic.subject} letters",
        f"{topic.subject} {topic.key} {topic.noun} records",
        f"{topic.subject} {topic.key} survey",
    ):
        yield " ".join(query.split())
    for number in count(2):
        yield " ".join(f"{topic.subject} {topic.noun} {topic.key} source {number}".split())


def _of_words(claim: str) -> Iterator[str]:
    words = " ".join(_WORD.findall(claim[:LONGEST_CLAIM])[:8])
    yield words
    for number in count(2):
        yield f"{words} source {number}"


def is_statement(sentence: str) -> bool:
    """Whether a sentence from outside this world states something: no question, no talk between writer and reader."""
    text = sentence[:LONGEST_CLAIM].strip()
    if text.endswith("?") or _PERSONAL.search(text) or not _NAMED.search(text):
        return False
    return len(_WORD.findall(text)) >= 3
