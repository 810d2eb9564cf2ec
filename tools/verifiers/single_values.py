"""Relations that admit one value: one is born in one place, and a country has one capital. Another value contradicts.

A closed list. What may have several values is left out: one may study in two towns, and win a prize twice. Read from
the words of single sentences, since the sentences that say such things are short and alike.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from factloop.tools.linguistics.lexicon import FUNCTION_WORDS, SUBJECT_PRONOUNS
from factloop.tools.verifiers.terms import sentence_texts
from factloop.tools.verifiers.wording import COUNTRIES, NAMES_OF_ONE

_NAME = r"[A-ZÀ-ÖØ-Þ][\w'’.-]*"
_NAMES = rf"{_NAME}(?: (?:(?:of|upon|de|la|le|del|von|am|the) )?{_NAME}){{0,4}}"
_PLACE = rf"(?P<value>{_NAMES})"
_ROLE = r"president|prime minister|chancellor|mayor|governor|ceo|chief executive(?: officer)?|secretary[- ]general|pope"
_FIELDS = (
    r"(?P<value>physics|chemistry|(?:physiology or )?medicine|physiology|literature|peace|economics|economic sciences)"
)


@dataclass(frozen=True)
class _Relation:
    """A pattern over a sentence; groups named alike: `value`, and what must agree, `subject` or `of`."""

    patterns: tuple[re.Pattern[str], ...]
    is_place: bool = False
    by_year: bool = False
    """Whether it has one value a year alone."""
    of: bool = False
    """Whether what it is a relation of stands in the pattern, so that the subject of the sentence is the value."""


def _of(*patterns: str) -> tuple[re.Pattern[str], ...]:
    return tuple(map(re.compile, patterns))


_RELATIONS = (
    _Relation(_of(rf"\b[Bb]orn(?: on [^,.;]{{1,30}})?,? (?:in|at) {_PLACE}"), is_place=True),
    _Relation(_of(rf"\b(?:died|dies|death)\b[^,.;]{{0,40}}? (?:in|at) {_PLACE}"), is_place=True),
    _Relation(_of(rf"\b(?:buried|interred) (?:in|at) {_PLACE}"), is_place=True),
    _Relation(_of(rf"\b(?:headquartered|[Hh]eadquarters (?:is|are)|has its headquarters) in {_PLACE}"), is_place=True),
    _Relation(
        _of(
            r"\b(?:died|dies|death)\b.{0,80}?\b(?:at the age of|at age|aged) (?P<value>\d{1,3})\b",
            r"\b(?:[Aa]t the age of|[Aa]ged) (?P<value>\d{1,3}),? (?:he|she|[A-Z][\w. ]{1,40}) died\b",
        )
    ),
    _Relation(
        _of(
            rf"\bNobel (?:Memorial )?Prize (?:in|for) (?i:{_FIELDS})",
            r"\bNobel (?P<value>Peace) Prize",
        ),
        by_year=True,
    ),
    _Relation(
        _of(
            rf"\b[Tt]he capital(?: city)? of (?P<of>{_NAMES}) is {_PLACE}",
            rf"^{_PLACE} is the capital(?: city)? of (?P<of>{_NAMES})",
        ),
        is_place=True,
        of=True,
    ),
    _Relation(
        _of(
            rf"^{_PLACE} is (?:the |currently the )?(?P<role>(?i:{_ROLE})) of (?:the )?(?P<of>{_NAMES})",
            rf"\b[Tt]he (?:current )?(?P<role>(?i:{_ROLE})) of (?:the )?(?P<of>{_NAMES}) is {_PLACE}",
        ),
        of=True,
    ),
)
_IN_DOUBT = re.compile(
    r"\b(?:not|never|no|or|either|perhaps|possibly|probably|(?-i:may)|might|reportedly|allegedly|disputed|legend|claim(?:s|ed)?"
    r"|if|nearly|almost|about|likely|former|formerly|was the|once)\b|n['’]t\b|\?",
    re.IGNORECASE,
)
_YEAR = re.compile(r"\b1[0-9]{3}\b|\b20[0-9]{2}\b")
_HEAD = re.compile(rf"(?:(?:In|On|By) [^,A-Z]{{1,30}},? )?(?:The )?({_NAMES})")
"""After when it was: *In 1911 Ada Brisk …*."""
_MONTHS = re.compile(
    r"(?:January|February|March|April|May|June|July|August|September|October|November|December)\b", re.IGNORECASE
)
_WORD = re.compile(r"[^\W_]+")


@dataclass(frozen=True)
class OtherValue:
    """What a passage says in the place of a claim's value."""

    passage: int
    sentence: str
    wrong: str
    instead: str


@dataclass(frozen=True)
class _Reading:
    value: str
    of: str
    years: frozenset[str]


def find_other_value(claim: str, passages: Sequence[str]) -> OtherValue | None:
    """Another value of a single-valued relation of the same subject; None where none, or where any passage has this.

    Linear in the passages. Most claims state no such relation, and cost one look at the claim.
    """
    for relation in _RELATIONS:
        said = _read(relation, claim)
        if said is None:
            continue
        others = list(_others(relation, said, claim, passages))
        if others and all(other is not None for other in others):
            return others[0]
    return None


def _others(relation: _Relation, said: _Reading, claim: str, passages: Sequence[str]) -> Iterator[OtherValue | None]:
    """What each sentence says that has the relation of the same subject; None where it may be the same."""
    for number, passage in enumerate(passages):
        before = ""
        for sentence, _ in sentence_texts(passage):
            text = sentence.strip()
            found = _read(relation, text)
            if found is not None and _is_of_same(relation, said, found, claim, text, before):
                differs = _differ(relation, said.value, found.value) and not _words(said.value) & _words(text)
                yield OtherValue(number, text, said.value, found.value) if differs else None
            before = text if _names_someone(text) else f"{before} {text}"


def _read(relation: _Relation, text: str) -> _Reading | None:
    found = next((match for pattern in relation.patterns if (match := pattern.search(text)) is not None), None)
    if found is None or _MONTHS.match(found["value"]) or _IN_DOUBT.search(text):
        return None
    groups = found.groupdict()
    of = f"{groups.get('role') or ''} {groups.get('of') or ''}".strip()
    return _Reading(found["value"].removesuffix("'s").rstrip(".,"), of, frozenset(_YEAR.findall(text)))


def _is_of_same(relation: _Relation, said: _Reading, found: _Reading, claim: str, text: str, before: str) -> bool:
    if relation.of:
        return _words(said.of) == _words(found.of)
    if relation.by_year and (len(said.years) != 1 or said.years != found.years):
        return False
    subject = _subject(claim)
    if not subject:
        return False
    own = _words(_head(text))
    first = text.split()[0].lower() if text.split() else ""
    if first in SUBJECT_PRONOUNS or first in {"his", "her", "its"}:
        return subject[-1] in _words(before)
    return subject[-1] in own and (len(subject) == 1 or not (own - _words(claim)) or subject[0] in own)


def _subject(claim: str) -> list[str]:
    """The words of the name that is the claim's subject; empty where none is."""
    words = _head(claim).lower().split()
    return [] if not words or words[0] in FUNCTION_WORDS else words


def _head(text: str) -> str:
    """The name that is the subject of a sentence; empty where none is, and for *Ada's mother*."""
    found = _HEAD.match(text)
    return "" if found is None or found[1].endswith(("'s", "’s")) else found[1]


def _names_someone(text: str) -> bool:
    """Whether a sentence opens with a name of its own, so that the next pronoun is likely to mean that."""
    head = _head(text).split()
    return bool(head) and head[0].lower() not in FUNCTION_WORDS


def _differ(relation: _Relation, one: str, other: str) -> bool:
    """Whether two values exclude each other: of a country and a town one may lie in the other."""
    if _words(one) & _words(other) or NAMES_OF_ONE.get(one, one) == NAMES_OF_ONE.get(other, other):
        return False
    return not relation.is_place or (one.lower() in COUNTRIES) == (other.lower() in COUNTRIES)


def _words(text: str) -> frozenset[str]:
    found = (word.lower() for word in _WORD.findall(text.replace("'s", "").replace("’s", "")))
    return frozenset(word for word in found if word not in FUNCTION_WORDS)
