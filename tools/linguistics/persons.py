"""Whom *he*, *she* and their forms stand for, sentence by sentence through a response.

A pronoun is given to a person only where no other fits as well. Whether a person is a *he* or a *she* is read from the
text: from titles and kinship, and from pronouns that were certain. No list of first names is needed.
"""

from __future__ import annotations

import re
from collections import Counter, deque
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Literal

from factloop.tools.linguistics.clauses import find_clause
from factloop.tools.linguistics.dictionary import is_english_word
from factloop.tools.linguistics.lexicon import word_set
from factloop.tools.linguistics.mentions import Mention
from factloop.tools.linguistics.words import FINITE, Word, WordClass, tag_words

Gender = Literal["he", "she"]
GENDER_OF: dict[str, Gender] = {"he": "he", "him": "he", "his": "he", "she": "she", "her": "she", "hers": "she"}

_PRONOUN = re.compile(rf"\b(?:{'|'.join(GENDER_OF)})\b", re.IGNORECASE)
_MALE_KIN = word_set("husband father brother son uncle grandfather nephew widower")
_FEMALE_KIN = word_set("wife mother sister daughter aunt grandmother niece widow")
_KIN = _MALE_KIN | _FEMALE_KIN
_MALE = _MALE_KIN | word_set("mr sir lord king prince emperor pope")
_FEMALE = _FEMALE_KIN | word_set("mrs ms miss lady queen princess empress")
_OTHER: dict[Gender, Gender] = {"he": "she", "she": "he"}
_AFTER_HER: frozenset[WordClass] = frozenset({"other", "name", "number", "ed", "participle", "present", "base"})
"""What follows *her* where it is hers: *her house*, but not *met her in*."""
_LOOK_BACK = 6
"""Sentences before its own that a pronoun may reach back to one who is not the topic."""
_CLEAR = 2
"""Times as often as the other that one pronoun stands in a response whose topic is taken for that from the start."""
_FEW = 3


@dataclass(eq=False, slots=True)
class Person:
    """A person of the response."""

    name: str
    gender: Gender | None = None
    maybe: Gender | None = None
    """The gender of a pronoun that may have meant this person, whose own is not known."""
    is_certain: bool = False
    """Whether something beside the capital letters says that it is a person."""
    has_name: bool = True
    """False for *her mother*, who is hardly spoken of for long."""


@dataclass(frozen=True, slots=True)
class PersonMention:
    """A person where the text speaks of them."""

    person: Person
    start: int
    is_subject: bool


@dataclass(frozen=True, slots=True)
class Referent:
    """A pronoun of a sentence, and the name of whom it stands for: None where that is not certain."""

    pronoun: str
    following: str
    """The word after it, in lower case: tells two equal pronouns of a sentence apart."""
    name: str | None


@dataclass(frozen=True, slots=True)
class ReadPersons:
    """Whom one sentence speaks of."""

    referents: tuple[Referent, ...]
    pair: tuple[str, ...]
    """The names of the two people in it; empty where it speaks of more or fewer."""


@dataclass(slots=True)
class _Reading:
    """What was read so far."""

    topic: Person | None = None
    people: dict[tuple[str, ...], Person] = field(default_factory=dict)
    before: deque[list[PersonMention]] = field(default_factory=lambda: deque(maxlen=_LOOK_BACK))


def read_persons(sentences: Iterable[tuple[str, Sequence[Mention]]], asked: Sequence[Mention]) -> Iterator[ReadPersons]:
    """The persons of each sentence, given its plain text and its mentions. Linear in their number."""
    texts = list(sentences)
    reading = _Reading(topic=_topic(texts, asked))
    if reading.topic is not None:
        reading.people[tuple(reading.topic.name.lower().split())] = reading.topic
    for text, mentions in texts:
        said: list[PersonMention] = []
        is_silent = not mentions and _PRONOUN.search(text) is None
        found = () if is_silent else tuple(_read_sentence(reading, said, tag_words(text), mentions))
        reading.before.append(said)
        names = dict.fromkeys(one.person.name for one in said)
        yield ReadPersons(found, tuple(names) if len(names) == 2 else ())


def _topic(texts: Sequence[tuple[str, Sequence[Mention]]], asked: Sequence[Mention]) -> Person | None:
    """The one person whom the question names, or with whom the response begins; with a gender where that is clear."""
    counts = Counter(GENDER_OF[found.lower()] for text, _ in texts for found in _PRONOUN.findall(text))
    opening = [mention for _, mentions in texts[:1] for mention in mentions if mention.start == 0]
    name = _only(one for one in asked if one.may_be_person) or _only(one for one in opening if one.may_be_person)
    name = name or _only(filter(_is_name, asked)) or _only(filter(_is_name, opening))
    if not counts or name is None:
        return None
    clear = (g for g, o in _OTHER.items() if counts[g] >= _FEW and counts[g] >= _CLEAR * counts[o])
    return Person(name, next(clear, None))


def _only(mentions: Iterable[Mention]) -> str | None:
    """The name that all of them have, if it is one."""
    named = {mention.names: mention.text for mention in mentions}
    return next(iter(named.values())) if len(named) == 1 else None


def _is_name(mention: Mention) -> bool:
    """Whether it may be a person's only name, which no dictionary has: *Plato*, but not *Women*, and not *NASA*."""
    is_one = mention.kind == "unknown" and not mention.text.isupper()
    return is_one and not is_english_word(mention.text.lower())


def _read_sentence(
    reading: _Reading, said: list[PersonMention], words: Sequence[Word], mentions: Sequence[Mention]
) -> Iterator[Referent]:
    at = {mention.start: mention for mention in mentions}
    clause = find_clause(words)
    head = words[clause.verb - 1].end if clause is not None else 0
    for index, word in enumerate(words):
        gender = GENDER_OF.get(word.lower)
        if gender is not None:
            person = None if word.enclosed else _meant(reading, said, words, index, gender)
            following = words[index + 1].lower if index + 1 < len(words) else ""
            yield Referent(word.lower, following, None if person is None else person.name)
            if person is not None:
                said.append(PersonMention(person, word.start, _is_subject(words, index, index, head)))
            kin = _kin(words, index, person)
            if kin is not None:
                said.append(PersonMention(kin, word.start, _is_subject(words, index, index + 1, head)))
        elif word.start in at:
            mention = at[word.start]
            last = _last_index(words, mention)
            person = _person(reading, words, index, mention)
            if person is not None:
                said.append(PersonMention(person, word.start, _is_subject(words, index, last, head)))


def _meant(
    reading: _Reading, said: Sequence[PersonMention], words: Sequence[Word], index: int, gender: Gender
) -> Person | None:
    """The person that the pronoun stands for; None where it fits several, or none."""
    coordinated = _right_before_and(said, words, index)
    if coordinated is not None and coordinated.gender in {gender, None}:
        coordinated.gender = gender
        return coordinated
    topic = reading.topic
    if topic is not None and topic.gender == gender:
        rival = _rival(reading, said, words, index, topic)
        if rival is None:
            return topic
        rival.maybe = gender
        return None
    fitting = _fitting(said, reading.before, gender)
    persons = {id(one.person): one.person for one in fitting}
    subjects = {id(one.person): one.person for one in fitting if one.is_subject}
    choice = list((persons if len(persons) == 1 else subjects).values())
    if not persons and topic is not None and topic.gender is None:
        choice = [topic]  # the question is about this person, and the response names no other
    if len(choice) != 1:
        return None
    choice[0].gender, choice[0].is_certain = gender, True
    return choice[0]


def _right_before_and(said: Sequence[PersonMention], words: Sequence[Word], index: int) -> Person | None:
    """*Konrad Marwen and his wife*: the possessor stands right before."""
    if index < 2 or words[index - 1].lower != "and" or words[index].word_class != "possessive" or not said:
        return None
    last = said[-1]
    return last.person if words[index - 2].start >= last.start and _is_one_name(words, last, index - 1) else None


def _is_one_name(words: Sequence[Word], last: PersonMention, end: int) -> bool:
    return all(word.word_class == "name" for word in words[:end] if word.start > last.start)


def _fitting(
    said: Sequence[PersonMention], before: Iterable[Sequence[PersonMention]], gender: Gender
) -> list[PersonMention]:
    """Those who may be meant, in the nearest sentence that has any: those who are surely persons before others."""
    for nearest in (said, *reversed(list(before))):
        found = [one for one in nearest if one.person.gender in {gender, None}]
        sure = [one for one in found if one.person.gender == gender or one.person.is_certain or one.is_subject]
        if found:
            return sure or found
    return []


def _rival(
    reading: _Reading, said: Sequence[PersonMention], words: Sequence[Word], index: int, topic: Person
) -> Person | None:
    """Another person of the same gender who is the nearer subject, or may act in the same sentence; else None."""
    is_object = words[index].lower in {"him", "her"} and not is_possessive(words, index)
    for one in reversed(said):
        if one.person is topic:
            return None
        fits = one.person.gender == topic.gender or (one.person.gender is None and one.is_subject)
        if fits and one.is_subject and is_object:
            continue  # what a clause's subject does to *her* it does to another person
        if fits:
            return one.person
    for distance, earlier in enumerate(reversed(reading.before)):
        for one in reversed(earlier):
            if one.person is topic:
                return None
            if one.is_subject and _may_go_on(one.person, topic, distance, is_first=one is earlier[0]):
                return one.person
    return None


def _may_go_on(person: Person, topic: Person, distance: int, *, is_first: bool) -> bool:
    """Whether a pronoun of the topic's gender may mean the subject of a sentence so many before the last.

    Of one whose gender is not known, where the sentence begins with them, the next one may speak, and those after it
    while that is not settled.
    """
    if person.gender is None:
        return is_first and (distance == 0 or person.maybe == topic.gender)
    return person.gender == topic.gender and (person.has_name or distance == 0)


def is_possessive(words: Sequence[Word], index: int) -> bool:
    """Whether this pronoun says whose something is: *her house*, but not *met her in*."""
    if words[index].lower == "his":
        return True
    following = words[index + 1] if index + 1 < len(words) else None
    if words[index].lower != "her" or following is None:
        return False
    return following.word_class in _AFTER_HER or following.lower in {"only", "first", "last", "own", "once"}


def _kin(words: Sequence[Word], index: int, owner: Person | None) -> Person | None:
    """*Her mother*, as a person without a name; None where a name follows."""
    if index + 1 >= len(words) or words[index + 1].lower not in _KIN or not is_possessive(words, index):
        return None
    if index + 2 < len(words) and words[index + 2].word_class == "name":
        return None
    kin = words[index + 1].lower
    whose = f"{owner.name}'s" if owner is not None else words[index].text
    return Person(f"{whose} {kin}", "he" if kin in _MALE else "she", is_certain=True, has_name=False)


def _person(reading: _Reading, words: Sequence[Word], index: int, mention: Mention) -> Person | None:
    """The person that a name stands for; None where it is no person's."""
    known = _known(reading, mention.names)
    if known is None and not mention.may_be_person:
        return None
    if known is None:
        known = reading.people[mention.names] = Person(mention.text)
    for word in (words[index - 1].lower if index else "", mention.text.lower().split()[0].rstrip(".")):
        if word in _MALE | _FEMALE:
            known.gender, known.is_certain = known.gender or ("he" if word in _MALE else "she"), True
    return known


def _known(reading: _Reading, names: tuple[str, ...]) -> Person | None:
    """Who bears that name, or the one whose name begins or ends so; the topic before its namesakes."""
    if names in reading.people:
        return reading.people[names]
    if len(names) != 1:
        return None
    fitting = {id(person): person for full, person in reading.people.items() if names[0] in (full[0], full[-1])}
    if reading.topic is not None and id(reading.topic) in fitting:
        return reading.topic
    return next(iter(fitting.values())) if len(fitting) == 1 else None


def _last_index(words: Sequence[Word], mention: Mention) -> int:
    return max(index for index, word in enumerate(words) if word.start < mention.end)


def _is_subject(words: Sequence[Word], first: int, last: int, head: int) -> bool:
    """Whether what these words name is a subject: of the sentence, or of a verb that follows."""
    is_owner = (first == last and is_possessive(words, first)) or words[last].text.endswith(("'s", "’s"))
    if is_owner or (first > 0 and words[first - 1].word_class == "preposition"):
        return False
    if words[last].end <= head:
        return True
    following = next((word for word in words[last + 1 :] if word.word_class != "adverb"), None)
    return following is not None and following.word_class in FINITE | {"ed"}
