"""Builds the invented world from a seed: entities, true facts about them, and articles."""

from __future__ import annotations

import random
import zlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache

from tests.simulator.names import Names
from tests.simulator.relations import CARGOES, KINDS, RELATIONS, SUBJECTS, Kind, Pool
from tests.simulator.world import Entity, Passage, Response, Topic, World, other_value
from tests.simulator.writing import Misleading, Writer, prompt_about

POPULATION: dict[Kind, int] = {"person": 80, "institute": 36, "town": 60, "river": 30, "ship": 36, "work": 40}
N_AWARDS = 20
KEYS_OF_SUBJECTS, KEYS_OF_OTHERS = 10, 1
"""Statements a keyed relation yields for entities that responses are about, and for all others."""
SHORTEST_PASSAGE, LONGEST_PASSAGE = 25, (37, 45)
"""In words; each passage draws how long it may become. They come to 35 on average."""


@lru_cache(maxsize=4)
def build_world(seed: int = 20) -> World:
    """The same seed gives the same world in any process. Takes about 0.1 s the first time."""
    rng = random.Random(seed)
    names = Names(rng)
    entities = [
        Entity(names.of(kind), kind, rng.choice(("She", "He")) if kind == "person" else "It")
        for kind in KINDS
        for _ in range(POPULATION[kind])
    ]
    pools = _pools(rng, names, entities)
    sizes = (43, *(round(26 + index * 38 / 19) for index in range(20)))
    subjects = [_nth_of_kind(entities, index) for index in range(len(sizes))]
    topics = {
        entity.name: _topics(rng, entity, pools, KEYS_OF_SUBJECTS if entity in subjects else KEYS_OF_OTHERS)
        for entity in entities
    }
    persons = [entity.name for entity in subjects if entity.kind == "person"]
    callings = dict(zip(persons[::2], CALLINGS, strict=False))
    gold: dict[Topic, Passage] = {}
    for entity in entities:
        gold.update(_article(rng, entity, topics[entity.name], callings.get(entity.name)))
    misled, misleading = _mislead(rng, subjects, topics, pools, callings)
    by_name = {entity.name: entity for entity in entities}
    writer = Writer(rng, by_name, topics, pools, gold, Misleading(callings, misled))
    responses = tuple(writer.response(entity, size) for entity, size in zip(subjects, sizes, strict=True))
    return World(
        seed=seed,
        entities=by_name,
        topics=topics,
        passages=tuple(dict.fromkeys(gold.values())),
        gold=gold,
        misleading=misleading,
        responses=responses,
        claim_free=Response(prompt_about(entities[0]), entities[0].name, " ".join(_NO_CLAIMS), _NO_CLAIMS, ()),
        pools={pool: tuple(values) for pool, values in pools.items()},
    )


_NO_CLAIMS = (
    "I'm sorry, but I don't know much about that.",
    "I would rather not guess!",
    "Perhaps somebody else could help you?",
)


def _nth_of_kind(entities: Sequence[Entity], index: int) -> Entity:
    kind = KINDS[index % len(KINDS)]
    return [entity for entity in entities if entity.kind == kind][index // len(KINDS)]


def _pools(rng: random.Random, names: Names, entities: Sequence[Entity]) -> dict[Pool, list[str]]:
    pools: dict[Pool, list[str]] = {kind: [item.name for item in entities if item.kind == kind] for kind in KINDS}
    pools["year"] = [str(year) for year in range(1701, 1990)]
    pools["subject"], pools["cargo"] = list(SUBJECTS), list(CARGOES)
    pools["award"] = [names.award() for _ in range(N_AWARDS)]
    pools["count"] = [f"{count} volumes" for count in rng.sample(range(40, 990), 200)]
    return pools


def _topics(rng: random.Random, entity: Entity, pools: Mapping[Pool, Sequence[str]], n_keys: int) -> tuple[Topic, ...]:
    topics = []
    for relation in RELATIONS[entity.kind]:
        others = [key for key in pools[relation.key] if key != entity.name] if relation.key else [""]
        for key in rng.sample(others, min(n_keys, len(others))):
            value = other_value(rng, pools[relation.value], {entity.name, key})
            # One of the article's two wordings, the same for the same topic in every process.
            worded = relation.written[zlib.crc32(f"{entity.name} {relation.said} {key}".encode()) % 2]
            said, written = (one.replace("{key}", key) for one in (relation.said, worded))
            topics.append(Topic(entity.name, said, written, relation.noun, key, relation.value, value))
    rng.shuffle(topics)
    return tuple(topics)


_FRAMES = (
    "{}.",
    "{}.",
    "According to the register, {}.",
    "Several letters confirm that {}.",
    "{}, as a later survey confirmed.",
    "Local records state that {}.",
)
_COLOPHON = (
    "This entry was compiled from parish books, ledgers and newspapers, and any reader may propose a correction to it."
)
PRONOUN_SHARE, YEAR_FIRST_SHARE, OUTDATED_SHARE = 0.2, 0.25, 0.06
CALLINGS = ("painter", "printer")
NAMESAKE_OF = {"painter": "surveyor", "printer": "weaver"}  # what another of the same name was
_MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")


def _article(
    rng: random.Random, entity: Entity, topics: Sequence[Topic], calling: str | None
) -> Iterator[tuple[Topic, Passage]]:
    title = f"{entity.name} ({calling}) - Open Almanac" if calling else f"{entity.name} - Open Almanac"
    url = f"https://almanac.example/{entity.name.lower().replace(' ', '-')}"
    date = f"{rng.choice(_MONTHS)} {rng.randint(1, 28)}, {rng.randint(2004, 2024)}"
    told = [(topic, _told(rng, entity, topic)) for topic in topics]
    for part in _parts(rng, told):
        text = " ".join(sentence for _, sentence in part)
        passage = Passage(title, url, date, text if len(text.split()) >= SHORTEST_PASSAGE else f"{text} {_COLOPHON}")
        yield from ((topic, passage) for topic, _ in part)


def _told(rng: random.Random, entity: Entity, topic: Topic) -> str:
    """A topic as a sentence of an article, which may leave its subject to the title or begin with the year."""
    spoken = entity.pronoun if rng.random() < PRONOUN_SHARE else entity.name
    frame = rng.choice(_FRAMES)
    if topic.pool == "year" and topic.key and topic.written.endswith(" in") and rng.random() < YEAR_FIRST_SHARE:
        inside = spoken.lower() if spoken == entity.pronoun else spoken
        return f"In {topic.value}, {inside} {topic.written.removesuffix(' in')}."
    inside = spoken.lower() if spoken == entity.pronoun and not frame.startswith("{}") else spoken
    return frame.format(f"{inside} {topic.written} {topic.value}")


def _mislead(
    rng: random.Random,
    subjects: Sequence[Entity],
    topics: Mapping[str, Sequence[Topic]],
    pools: Mapping[Pool, Sequence[str]],
    callings: Mapping[str, str],
) -> tuple[Mapping[Topic, str], tuple[Passage, ...]]:
    """False values of topics, and passages that state them: articles on namesakes, and older records."""
    values: dict[Topic, str] = {}
    passages: list[Passage] = []
    for entity in subjects:
        share = 1.0 if entity.name in callings else OUTDATED_SHARE
        chosen = [topic for topic in topics[entity.name] if rng.random() < share]
        false = {
            topic: replace(topic, value=other_value(rng, pools[topic.pool], {topic.value, topic.subject, topic.key}))
            for topic in chosen
        }
        values.update({topic: other.value for topic, other in false.items()})
        if entity.name in callings:
            told = _article(rng, entity, list(false.values()), NAMESAKE_OF[callings[entity.name]])
            passages += dict.fromkeys(passage for _, passage in told)
        else:
            passages += [_outdated(other) for other in false.values()]
    return values, tuple(passages)


def _outdated(topic: Topic) -> Passage:
    title, url = (
        f"{topic.subject} - Old Register",
        "https://register.example/" + topic.subject.lower().replace(" ", "-"),
    )
    text = f"An older register had it that {topic.article_sentence}. {_COLOPHON}"
    return Passage(title, url, "Jan 2, 1993", text)


def _parts(rng: random.Random, told: Sequence[tuple[Topic, str]]) -> Iterator[list[tuple[Topic, str]]]:
    """Groups of sentences, each about as long as a search engine's snippet."""
    part: list[tuple[Topic, str]] = []
    n_words, limit = 0, rng.randint(*LONGEST_PASSAGE)
    for topic, sentence in told:
        n_next = len(sentence.split())
        if n_words >= SHORTEST_PASSAGE and n_words + n_next > limit:
            yield part
            part, n_words, limit = [], 0, rng.randint(*LONGEST_PASSAGE)
        part.append((topic, sentence))
        n_words += n_next
    if part:
        yield part
