"""Decides whether a claim has to do with what was asked: SAFE's relevance rule without a model.

A claim is relevant unless all the evidence is against it: it is about a name that no chain of sentences connects to
the topic, and nothing in it refers back to what was said.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

from factloop.tools.linguistics.anaphora import refers_back
from factloop.tools.linguistics.antecedents import is_plural
from factloop.tools.linguistics.clauses import Clause, find_clause
from factloop.tools.linguistics.discourse import Discourse, read_discourse
from factloop.tools.linguistics.english import is_known
from factloop.tools.linguistics.lexicon import FUNCTION_WORDS, word_set
from factloop.tools.linguistics.lists import names_profession
from factloop.tools.linguistics.mentions import GENERIC_NOUNS, Mention, find_mentions
from factloop.tools.linguistics.words import Word, content_words, tag_words

if TYPE_CHECKING:
    from spacy.language import Language

_REQUEST_WORDS = word_set(
    """
    question answer tell give write list describe explain provide please bio biography who what when where why how
    which details detail many possible specific examples example information know known overview summary facts fact
    short long discuss summarize me let find name happened significance about as
    """
)
_STEM = 6
"""Words that agree in their first six letters count as the same: *physics*, *physicist*."""

_MAX_NAMESAKES = 50
"""Words of full names that a short one may stand for; more would connect everything."""

_CONTRAST = re.compile(r",\s+(?:while|whereas)\s+")
"""What follows may be about something else: it connects to the topic by its own words only."""

_GENERAL_VERBS = frozenset({"are", "have", "do"})


@dataclass(frozen=True, slots=True)
class _Topic:
    """What a response connects to the question."""

    asked: frozenset[str]
    """Stems of the words of the question."""
    connected: frozenset[str]
    """Words of the names that are connected to it, in lower case."""
    attested: frozenset[str]
    """Words written with a capital inside a sentence: names, and not only the first word of a sentence."""
    full_names: Mapping[str, frozenset[str]]
    """What tells the full names apart that end in a word: of *Berg* the words of *Otto Berg* and *Ann Berg*."""
    about_person: bool
    """Of a person a truth about things of a kind says nothing; of a drug or a product it may be what was asked."""
    can_judge: bool
    """False where the question names nothing, or the response never takes up its words."""


def is_relevant(claim: str, *, prompt: str | None, response: str, nlp: Language | None = None) -> bool:
    """Whether the subjects of claim and question are related, judging by the response (True without a question).

    `claim` has its references resolved. The response is read once, whatever the number of its claims.
    """
    topic = _read_topic(response, prompt, nlp)
    if not topic.can_judge or topic.asked & {_stem(word) for word in content_words(claim)}:
        return True
    words = tag_words(claim)
    clause = find_clause(words)
    if clause is None or refers_back(words):
        return True
    mentions = find_mentions(claim, nlp)
    subject = next((mention for mention in mentions if mention.start == words[clause.subject].start), None)
    digresses = topic.about_person and subject is not None and _is_general(subject, words, clause)
    if subject is None or not (_is_name(subject, topic) or digresses):
        return True
    return not topic.connected.isdisjoint(_name_words(mentions, topic.full_names))


@lru_cache(maxsize=128)
def _read_topic(response: str, prompt: str | None, nlp: Language | None) -> _Topic:
    discourse = read_discourse(response, prompt, nlp)
    asked = _asked(discourse)
    full_names = _full_names(discourse)
    clauses = list(_clauses(discourse, full_names, nlp))
    stated = [frozenset(_stem(word) for word in content_words(text)) for text, _, _ in clauses]
    linked = {
        number
        for number, (text, _, is_item) in enumerate(clauses)
        if is_item or number == 0 or asked & stated[number] or refers_back(tag_words(text))
    }
    return _Topic(
        asked=asked,
        connected=_spread(linked, [names for _, names, _ in clauses]),
        attested=frozenset(_attested(discourse)),
        full_names=full_names,
        about_person=discourse.asked.is_personal or any(said.is_personal for said in discourse.sentences),
        can_judge=_names_topic(discourse, asked) and any(asked & words for words in stated),
    )


def _clauses(
    discourse: Discourse, full_names: Mapping[str, frozenset[str]], nlp: Language | None
) -> Iterator[tuple[str, frozenset[str], bool]]:
    """Text, words of names, and whether it is a list item, for each sentence, or each side of a contrast in it."""
    for said in discourse.sentences:
        for text in _CONTRAST.split(said.text):
            mentions = said.mentions if text == said.text else find_mentions(text, nlp)
            yield text, frozenset(_name_words(mentions, full_names)), said.is_item


def _spread(linked: Iterable[int], names: list[frozenset[str]]) -> frozenset[str]:
    """The names of the linked clauses, of the clauses that share a name with them, and so on. Linear in all names."""
    holders: defaultdict[str, list[int]] = defaultdict(list)
    for number, found in enumerate(names):
        for name in found:
            holders[name].append(number)
    queue = list(linked)
    seen, connected = set(queue), set[str]()
    while queue:
        for name in names[queue.pop()] - connected:
            connected.add(name)
            fresh = [number for number in holders[name] if number not in seen]
            seen.update(fresh)
            queue.extend(fresh)
    return frozenset(connected)


def _asked(discourse: Discourse) -> frozenset[str]:
    """The question's words of content. Of *Merrow House* without *house*: other houses are not meant."""
    words = {word for word in content_words(discourse.asked.text) if word not in _REQUEST_WORDS}
    kinds = {word for mention in discourse.asked.mentions for word in set(mention.names) - _telling(mention)}
    return frozenset(_stem(word) for word in (words - kinds or words))


def _names_topic(discourse: Discourse, asked: frozenset[str]) -> bool:
    """Whether the question asks about something that has a name, be it written small in the question."""
    if discourse.asked.mentions:
        return True
    names = {mention.names for said in discourse.sentences for mention in said.mentions if len(mention.names) > 1}
    return any(all(_stem(word) in asked for word in words) for words in names)


def _attested(discourse: Discourse) -> Iterator[str]:
    for said in (discourse.asked, *discourse.sentences):
        for mention in said.mentions:
            if mention.start > 0:
                yield from mention.names


def _is_name(subject: Mention, topic: _Topic) -> bool:
    """A single word that opens a sentence is a name only if no dictionary knows it or the response uses it as one."""
    name = subject.names[0] if subject.names else ""
    return len(subject.names) > 1 or name in topic.attested or not _is_word(name)


def _is_general(subject: Mention, words: tuple[Word, ...], clause: Clause) -> bool:
    """*Bananas are rich in potassium*: a truth about things of a kind, but not what *historians think*."""
    verb = words[clause.verb]
    is_present = verb.lower in _GENERAL_VERBS or verb.word_class == "base"
    return is_present and is_plural(subject.text.lower()) and not names_profession(subject.text)


def _name_words(mentions: Iterable[Mention], full_names: Mapping[str, frozenset[str]]) -> set[str]:
    """The words that tell the names apart; for a short name also those of the full names it may stand for."""
    found: set[str] = set()
    for mention in mentions:
        telling = _telling(mention)
        found |= telling
        if len(mention.names) == 1:
            found |= full_names.get(next(iter(telling), ""), frozenset())
    return found


def _full_names(discourse: Discourse) -> dict[str, frozenset[str]]:
    found: defaultdict[str, set[str]] = defaultdict(set)
    for said in (discourse.asked, *discourse.sentences):
        for mention in said.mentions:
            if len(mention.names) > 1 and len(found[mention.names[-1]]) < _MAX_NAMESAKES:
                found[mention.names[-1]] |= _telling(mention)
    return {last: frozenset(words) for last, words in found.items()}


def _telling(mention: Mention) -> set[str]:
    """The words of a name that tell which one it is: *tower* in *Eiffel Tower* connects to no other tower."""
    names = [name.removesuffix("'s").removesuffix("’s").strip(".,") for name in mention.names]
    is_kind = len(names) > 1 and mention.kind != "person" and _is_word(names[-1])
    telling = set(names[:-1] if is_kind else names) - FUNCTION_WORDS
    return telling - GENERIC_NOUNS or telling


@lru_cache(maxsize=4096)
def _is_word(name: str) -> bool:
    return is_known(name)


def _stem(word: str) -> str:
    return word.rstrip("s")[:_STEM] if len(word) > 3 else word
