"""What *it* and *they* may stand for, from the sentences before it, its own sentence and the prompt."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Literal

from factloop.tools.linguistics import lexicon
from factloop.tools.linguistics.clauses import PARTICIPIAL, Clause, find_clause
from factloop.tools.linguistics.dictionary import is_english_word
from factloop.tools.linguistics.discourse import Context, ReadSentence
from factloop.tools.linguistics.lexicon import word_set
from factloop.tools.linguistics.mentions import GENERIC_NOUNS, Mention
from factloop.tools.linguistics.questions import nouns_after
from factloop.tools.linguistics.words import NOMINAL, Word, tag_words

Number = Literal["it", "they"]
NUMBER_OF: dict[str, Number] = {"it": "it", "its": "it", "they": "they", "their": "they"}
_DID = re.compile(r"\b(?:did|does|do|had|has|have)\s+$", re.IGNORECASE)
_OPENS_CASE = re.compile(r"(?:if|unless|when|where)\b", re.IGNORECASE)
_OF_TOPIC = re.compile(
    r"the (?:\w+ )?(?:dose|dosage|price|cost|fee|size|length|height|width|weight|depth|age|speed|rate|limit|maximum"
    r"|minimum|level|temperature|volume|capacity|number|amount|colou?r|name|title|shape|duration|effect)",
    re.IGNORECASE,
)
"""What a thing has: *the dose* is that of the drug which was spoken of."""
_OPENS_PERSONAL = re.compile(r"(?:he|she|his|her)\b", re.IGNORECASE)
_IRREGULAR_PLURALS = frozenset({"people", "police", "men", "women", "children", "feet", "teeth", "mice", "those"})
_NO_PLURALS = word_set(
    """
    hundreds thousands millions billions seconds minutes hours days weeks months years decades centuries times
    metres meters kilometres kilometers miles feet grams kilograms tonnes tons pounds litres liters
    euros dollars degrees points volts watts revolutions
    diabetes rabies measles lens gas series species news
    """
)
"""Measures, which nothing more is said of, and words in -s that are no plurals."""
_MODIFIERS = 3
"""Words that a question may have between *the* and a name."""
_BEFORE_BIDDING = frozenset({"always", "do", "don't", "never", "not", "please"})
_LONGEST_PHRASE = 8
"""Words of a subject that is repeated; a longer one would read badly."""


def find_antecedents(number: Number, context: Context) -> tuple[str, ...]:
    """What a subject or possessive pronoun may stand for. One: resolved; several: equally good; none: nothing fits, or
    *they* may mean others than the subject of a sentence: a pair of people, or what it acted upon.

    What is said of one case only is no new topic, nor is what the topic has: after *If they fail, the dose is halved*
    and *The dose is raised*, *it* may be the dose or the subject before.
    """
    before, of_a_case = _said_before(number, context), tuple[str, ...]()
    for said in reversed(before):
        if number == "it" and _OPENS_PERSONAL.match(said.text):
            return ()  # the topic is a person: whatever `it` is, it stands in the middle of a sentence
        if number == "it" and _may_be_other(said, context):
            return _only_object(said, context) if said is before[0] else ()
        fitting = (*of_a_case, *_candidates(said, number, context))
        if number == "they" and _may_be_others(said, fitting):
            return ()
        if not of_a_case and number == "it" and (_OPENS_CASE.match(said.text) or _are_of_topic(fitting)):
            of_a_case = fitting
        elif len(fitting) > len(of_a_case):
            return tuple(dict.fromkeys(fitting))
    if of_a_case and not _are_of_topic(of_a_case):
        return of_a_case
    topics = _topics(number, context)
    return (*of_a_case, *topics) if topics else ()


def _are_of_topic(phrases: Sequence[str]) -> bool:
    return any(_OF_TOPIC.fullmatch(phrase) for phrase in phrases)


def _topics(number: Number, context: Context) -> tuple[str, ...]:
    """The title that the text stands under, else what the question asks about."""
    titles = (title for said in reversed(context.before) for title in _titles(said, number, context.about_person))
    title = next(titles, None)
    asked = (
        _phrase_of(mention, context.asked.text)
        for mention in context.asked.mentions
        if _may_be_asked(mention, number, context)
    )
    return tuple(dict.fromkeys(asked)) if title is None else (title,)


def find_pair(context: Context) -> tuple[str, ...]:
    """The two people whom *they* means: those of the nearest sentence that does not go on with them, unless something
    in it fits as well."""
    for said in reversed(_said_before("they", context)):
        words = tag_words(said.text)
        clause = find_clause(words)
        if clause is not None and words[clause.subject].lower in NUMBER_OF:
            continue
        return () if clause is not None and any(_acted_upon(words, clause)) else said.pair
    return ()


def _said_before(number: Number, context: Context) -> tuple[ReadSentence, ...]:
    """The sentences before, and what the own one says before its pronoun: *The effects are mild; they pass.*"""
    own = context.own
    words = () if own is None else tag_words(own.text)
    place = next((i for i, word in enumerate(words) if NUMBER_OF.get(word.lower) == number and not word.enclosed), 0)
    if own is None or not place or find_clause(words[:place]) is None:
        return context.before
    end = words[place - 1].end
    return (*context.before, replace(own, text=own.text[:end], mentions=tuple(m for m in own.mentions if m.end <= end)))


def _may_be_others(said: ReadSentence, fitting: Sequence[str]) -> bool:
    """Whether *they* in a later sentence may be others than what fits in this one: its two people, what it acted upon,
    or, where nothing fits, any plural in it."""
    words = tag_words(said.text)
    clause = find_clause(words)
    if clause is None:
        return not fitting and not said.is_item and any(_is_plural_noun(word) for word in words)
    if fitting:
        return not any(map(is_plural, fitting)) and any(_acted_upon(words, clause))
    goes_on = words[clause.subject].lower == "they"
    return not goes_on and (bool(said.pair) or any(_is_plural_noun(word) for word in words))


def _acted_upon(words: Sequence[Word], clause: Clause) -> Iterator[Word]:
    """The plurals after the verb that no preposition governs: *engines* of *ordered 212 engines for its boats*."""
    governed = False
    for word in words[clause.main + 1 :]:
        governed = word.word_class == "preposition" or (governed and word.word_class in NOMINAL)
        if not governed and _is_plural_noun(word):
            yield word


def _is_plural_noun(word: Word) -> bool:
    is_noun = word.word_class == "other" and not word.enclosed and word.lower not in _NO_PLURALS
    return is_noun and is_plural(word.lower)


def _titles(said: ReadSentence, number: Number, about_person: bool) -> Iterator[str]:
    """The thing that a heading is the name of."""
    if said.is_item and len(said.mentions) == 1:
        (mention,) = said.mentions
        if said.text.strip(" .:") == mention.text and _fits(mention, number, about_person):
            yield mention.text


def _phrase_of(mention: Mention, text: str) -> str:
    """What a question calls a thing: *the third Eddystone tower* of which *Eddystone* is the name in it."""
    words = tag_words(text)
    first = next(index for index, word in enumerate(words) if word.start >= mention.start)
    last = max(index for index, word in enumerate(words) if word.start < mention.end)
    if last + 1 < len(words) and words[last + 1].lower in GENERIC_NOUNS:
        last += 1
    opens = next((i for i in range(first - 1, max(-1, first - 1 - _MODIFIERS), -1) if words[i].lower == "the"), None)
    if opens is not None and all(word.word_class in {"number", "other"} for word in words[opens + 1 : first]):
        first = opens
    if words[first].lower == "the":
        last += nouns_after(words, first, last)
    return text[words[first].start : max(words[last].end, mention.end)].removesuffix("'s")


def is_plural(phrase: str) -> bool:
    """Whether the head of a noun phrase looks like a plural; names are singular."""
    head = re.split(r" (?:of|in|for|from|by|with|on|at|that|located|called)\b", phrase)[0].split()
    if " and " in phrase:
        return True
    last = head[-1] if head else ""
    if last.lower() in _IRREGULAR_PLURALS:
        return True
    if last[:1].isupper() and head[0].lower() != "the" and not (len(head) == 1 and is_english_word(last.lower())):
        return False  # a name, but not *Admins* that opens a sentence
    return last.endswith("s") and not last.endswith(("ss", "us", "is", "'s"))


def _fits(mention: Mention, number: Number, about_person: bool) -> bool:
    if is_plural(mention.text) != (number == "they"):
        return False
    return mention.kind != "person" and not (about_person and mention.may_be_person)


def _may_be_asked(mention: Mention, number: Number, context: Context) -> bool:
    """Whether a mention of the question may be what *it* or *they* means."""
    return _fits(mention, number, context.about_person) and not _is_doer(mention, context.asked.text)


def _is_doer(mention: Mention, text: str) -> bool:
    """Whether the question is what a person did: *What did John Smeaton build?*"""
    return mention.may_be_person and _DID.search(text[: mention.start]) is not None


def _bears_a_surname(mention: Mention) -> bool:
    """Whether its last word is no word of the dictionary: *John Smeaton*, but not *Acme Robotics*."""
    return mention.may_be_person and not is_english_word(mention.names[-1])


def _candidates(said: ReadSentence, number: Number, context: Context) -> Iterator[str]:
    """What the sentence offers: its subject where that fits, else the persons or things it names."""
    sentence, mentions = said.text, said.mentions
    words = tag_words(sentence)
    clause = find_clause(words)
    if clause is None:
        if not said.is_item:
            yield from _told_to_act_on(sentence, words, number)
        return
    span = (words[clause.subject].start, words[clause.verb - 1].end)
    head = words[clause.subject]
    if head.lower in lexicon.PRONOUNS or head.word_class == "possessive":
        return  # the same topic goes on: look further back
    in_subject = [m for m in mentions if span[0] <= m.start < span[1]]
    subject = _noun_phrase(sentence, words, clause.subject, clause.verb)
    persons = [m for m in in_subject if m.kind == "person" or (context.about_person and _may_name_person(m, context))]
    if subject is None or (number == "it" and persons):
        return
    verb = words[clause.verb].lower
    plural = verb in {"are", "were", "have"} or (verb not in {"is", "was", "has"} and is_plural(subject))
    is_organisation = any(m.kind == "thing" and m.start == span[0] for m in in_subject)
    if plural == (number == "they") or (number == "they" and is_organisation):
        yield subject


def _told_to_act_on(sentence: str, words: Sequence[Word], number: Number) -> Iterator[str]:
    """What an instruction says to do something with: *the tablets* of *Store the tablets in a refrigerator.*"""
    verb = next((place for place, word in enumerate(words) if word.lower not in _BEFORE_BIDDING), 0)
    article = next(
        (place for place in (verb + 1, verb + 2) if words[place : place + 1] and words[place].lower == "the"), 0
    )
    if not article:
        return
    end = article + 1
    while end < len(words) and words[end].word_class in NOMINAL:
        end += 1
    phrase = sentence[words[article].start : words[end - 1].end]
    if end > article + 1 and is_plural(phrase) == (number == "they"):
        yield phrase


def _may_be_other(said: ReadSentence, context: Context) -> bool:
    """Whether *it* in the next sentence may be what a person here acted upon, or the topic rather than a person."""
    words = tag_words(said.text)
    clause = find_clause(words)
    if clause is None or not _names_person(said.mentions, words[clause.subject], context):
        return False
    topics = (mention for mention in context.asked.mentions if _may_be_asked(mention, "it", context))
    return _direct_object(words, clause) is not None or any(topics)


def _only_object(said: ReadSentence, context: Context) -> tuple[str, ...]:
    """What a person acted upon, where the sentence names nothing else and the question no other thing."""
    words = tag_words(said.text)
    clause = find_clause(words)
    found = None if clause is None else _direct_object(words, clause)
    if clause is None or found is None or any(_may_be_asked(one, "it", context) for one in context.asked.mentions):
        return ()
    if not any(one.start == words[clause.subject].start and _bears_a_surname(one) for one in said.mentions):
        return ()
    start, end = found
    others = (
        word for word in (*words[clause.verb : clause.main], *words[end:]) if word.word_class in {"other", "name"}
    )
    phrase = said.text[words[start].start : words[end - 1].end]
    return () if any(others) or words[start].lower != "the" or is_plural(phrase) else (phrase,)


def _names_person(mentions: Sequence[Mention], head: Word, context: Context) -> bool:
    """Whether the name that begins with this word may be a person's. One that the prompt asks about in other words than
    *who* is not."""
    things = (one for one in context.asked.mentions if not (context.about_person or _is_doer(one, context.asked.text)))
    asked = {mention.names for mention in things}
    return any(m.start == head.start and m.names not in asked and _may_name_person(m, context) for m in mentions)


def _direct_object(words: Sequence[Word], clause: Clause) -> tuple[int, int] | None:
    """First word of the noun phrase right after the verb, and the word after its last; None for persons and plurals."""
    start = end = clause.main + 1
    if start >= len(words) or words[start].lower not in {"the", "a", "an"}:
        return None
    while end < len(words) and words[end].word_class in NOMINAL | PARTICIPIAL and not words[end].enclosed:
        end += 1
    is_bare = end == len(words) or words[end].lower not in {"of", "that", "which", "who"}
    return (start, end) if end > start + 1 and is_bare else None


def _may_name_person(mention: Mention, context: Context) -> bool:
    """Whether it may be a person's name, be it a part of it: *Whitcombe* after *Clara Whitcombe*."""
    is_short = mention.kind == "unknown" and len(mention.names) == 1
    known = (full.names for full in context.full_names if is_short and full.may_be_person)
    return mention.may_be_person or any(mention.names[0] in (names[0], names[-1]) for names in known)


def _noun_phrase(sentence: str, words: Sequence[Word], subject: int, verb: int) -> str | None:
    """The subject without trailing adverbs, appositive, parenthesis or clause of its own (*the letter she wrote*); None
    where it is too long to repeat."""
    if words[subject].word_class not in {"determiner", "name", "number", "other"}:
        return None
    end = subject
    while end < verb and not _ends_noun_phrase(words[end]):
        end += 1
    if not 0 < end - subject <= _LONGEST_PHRASE or words[end - 1].word_class == "determiner":
        return None
    if words[subject].lower in {"this", "these", "that", "those", "there", "another"}:
        return None
    return sentence[words[subject].start : words[end - 1].end]


def _ends_noun_phrase(word: Word) -> bool:
    return word.word_class in {"relative", "adverb", "pronoun", "subordinator"} or word.text in {",", "(", "I"}
