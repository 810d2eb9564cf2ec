"""Claims about a named thing that the answer calls *it*, where a passage calls it by its noun: *the bakery*."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

from factloop.tools.linguistics.dictionary import is_english_word
from factloop.tools.linguistics.lexicon import word_set
from factloop.tools.linguistics.sentences import split_sentences
from factloop.tools.linguistics.words import capitalised, tag_words

_PRONOUN = re.compile(r"its?\b", re.IGNORECASE)
_NAMED = re.compile(r"(?:\b(?P<article>[Tt]he )|\b)(?P<names>(?:[A-Z][\w’-]*(?:'s)? ){1,4})(?P<noun>[A-Za-z]{3,30})\b")
_NARROWED = re.compile(r"(?: [a-z]+)? (?:in|at|of|on|near|from|by|called|named|known as) (?:the )?[A-Z]")
"""After a noun: which one of several it is, *the bakery in York*."""
_LONGEST_NAME = 40
"""Characters before a word in which the word before it is looked for."""
_WORD_BEFORE = re.compile(r"([\w’'-]+)\W{1,3}$")
_DATES = word_set(
    """
    january february march april may june july august september october november december
    monday tuesday wednesday thursday friday saturday sunday
    mondays tuesdays wednesdays thursdays fridays saturdays sundays
    """
)
_WORD = re.compile(r"[\w’-]+")


@dataclass(frozen=True)
class NamedThing:
    """A thing with a name, as the claim calls it: *the Bramley bakery*."""

    names: tuple[str, ...]
    noun: str
    """In small letters."""
    span: tuple[int, int]

    @property
    def pattern(self) -> re.Pattern[str]:
        """The noun, also as a plural, wherever it stands."""
        plural = f"{self.noun[:-1]}ies" if self.noun.endswith("y") else f"{self.noun}(?:s|es)"
        return re.compile(rf"\b(?:{self.noun}|{plural})\b", re.IGNORECASE)


@dataclass(frozen=True)
class NounClaim:
    """A claim with the noun alone in place of the name."""

    claim: str
    noun: str
    passages: tuple[int, ...]
    """Indices of the passages that it may be held against."""


def by_noun_alone(
    claim: str, sentence: str, passages: Sequence[str], others: Callable[[], Iterable[str] | None]
) -> NounClaim | None:
    """The claim with *the bakery* in place of *the Bramley bakery*, and the passages that it may be held against; None
    where there are none.

    The sentence that it is from says *it* or *its* in its place, so that it is no person. All passages together, these
    and the `others` that could be found (None: not known), name the thing in full, and no other of its kind; one that
    may be taken speaks of *the bakery*, and has no other name. The others are asked for only where one may be taken.
    """
    for thing in _put_in(claim, sentence):
        said = [_calls_of(thing, passage) for passage in passages]
        known = {word.lower() for word in _WORD.findall(claim)}
        taken = tuple(
            place
            for place, calls in enumerate(said)
            if calls and "noun" in calls and "full" not in calls and not _names_others(passages[place], known)
        )
        if None not in said and taken and _is_only_one(thing, said, others()):
            start, end = thing.span
            article = "The" if start == 0 else "the"
            return NounClaim(f"{claim[:start]}{article} {thing.noun}{claim[end:]}", thing.noun, taken)
    return None


def _is_only_one(thing: NamedThing, said: Sequence[set[str] | None], others: Iterable[str] | None) -> bool:
    """Whether the thing is named in full, and no other of its kind anywhere."""
    all_said = None if others is None else [*said, *(_calls_of(thing, passage) for passage in others)]
    return all_said is not None and None not in all_said and any(calls and "full" in calls for calls in all_said)


def _put_in(claim: str, sentence: str) -> Iterator[NamedThing]:
    """The named things of the claim of which its sentence says no word."""
    own = {word.lower() for word in _WORD.findall(sentence)}
    for found in _NAMED.finditer(claim):
        start = found.start()
        if claim[:start].lower() != sentence[:start].lower() or not _PRONOUN.match(sentence, start):
            continue
        names = tuple(found["names"].removeprefix("The ").split())
        ends = [(names, found["noun"], found.end())] if found["article"] or found["noun"][0].isupper() else []
        if len(names) > 1:
            ends.append((names[:-1], names[-1], found.start("names") + len(found["names"].rstrip())))
        for named, noun, end in ends:
            if named and noun.isalpha() and not own & {word.lower() for word in (*named, noun)}:
                yield NamedThing(named, noun.lower(), (found.start(), end))


def _calls_of(thing: NamedThing, passage: str) -> set[str] | None:
    """Whether a passage calls the thing by its full name or by its noun; None where it speaks of another one, too."""
    calls = set[str]()
    full = f"{' '.join(thing.names)} ".lower()
    for found in thing.pattern.finditer(passage):
        before = _WORD_BEFORE.search(passage[max(0, found.start() - _LONGEST_NAME) : found.start()])
        name_at = max(0, found.start() - len(full))
        is_named = passage[name_at : found.start()].lower() == full
        is_bare = before is not None and before[1].lower() == "the" and found[0].islower()
        if found[0].lower() != thing.noun or not (is_named or is_bare):
            return None
        if is_named and _has_other_name(passage[max(0, name_at - _LONGEST_NAME) : name_at]):
            return None
        if is_bare and _NARROWED.match(passage, found.end()):
            return None
        calls.add("full" if is_named else "noun")
    return calls


def _has_other_name(before: str) -> bool:
    """Whether the name before a noun is the end of a longer one: *Upper Bramley bakery*."""
    word = _WORD_BEFORE.search(before)
    return word is not None and before.endswith(" ") and word[1][0].isupper() and word[1].lower() != "the"


def _names_others(passage: str, known: set[str]) -> bool:
    """Whether a passage has a name that the claim has not; an English word that opens a sentence is none."""
    return any(
        capitalised(word.text) and word.lower not in known and not (place == 0 and is_english_word(word.lower))
        for sentence in split_sentences(passage)
        for place, word in enumerate(tag_words(sentence.text))
        if word.lower not in _DATES
    )
