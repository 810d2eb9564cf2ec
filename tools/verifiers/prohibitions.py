"""What is forbidden to all: *Guests may not smoke in the rooms* against *Smoking is not permitted in the rooms*."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from factloop.tools.linguistics.english import lemmatize
from factloop.tools.verifiers.base import SupportReading
from factloop.tools.verifiers.rows import OTHERWISE, SAID
from factloop.tools.verifiers.terms import CONTENT, MAX_SENTENCE_CHARS, read_sentences, sentence_texts

_REST = r"(?P<rest>[^,;:.]*?)"
_FORBIDDEN = r"(?:not (?:allowed|permitted)|(?:strictly )?(?:forbidden|prohibited|banned))"
_ALLOWED = r"(?:allowed|permitted)"
_WHO, _WHAT = r"(?P<who>[^,;:.]+?)", r"(?P<what>[^,;:.]+?)"
_MAY_NOT = rf"(?:may not|must not|cannot|can['’]t|mustn['’]t|(?:is|are) {_FORBIDDEN} to)"
_TO_ALL = (
    re.compile(rf"(?P<doing>\w+ing)\b{_REST} (?:is|are) {_FORBIDDEN}\b(?P<where>[^,;:.]*)", re.IGNORECASE),
    re.compile(rf"(?:the )?(?P<deed>use) of{_REST} (?:is|are) {_FORBIDDEN}\b(?P<where>[^,;:.]*)", re.IGNORECASE),
    re.compile(rf"it is {_FORBIDDEN} to (?P<deed>\w+)\b{_REST}", re.IGNORECASE),
    re.compile(rf"no (?P<doing>\w+ing)\b{_REST}", re.IGNORECASE),
)
_TO_SOME = (
    re.compile(rf"{_WHAT} {_MAY_NOT} be (?P<deed>\w+)\b{_REST}", re.IGNORECASE),
    re.compile(rf"{_WHO} {_MAY_NOT} (?P<deed>(?!be\b)\w+)\b{_REST}", re.IGNORECASE),
)
_GIVEN = (
    re.compile(rf"(?P<doing>\w+ing)\b{_REST} (?:is|are) {_ALLOWED}\b(?P<where>[^,;:.]*)", re.IGNORECASE),
    re.compile(rf"{_WHAT} (?:may|can|(?:is|are) {_ALLOWED} to) be (?P<deed>\w+)\b{_REST}", re.IGNORECASE),
    re.compile(rf"{_WHO} (?:may|can|(?:is|are) {_ALLOWED} to) (?P<deed>(?!be\b|not\b)\w+)\b{_REST}", re.IGNORECASE),
)
_EXCEPTIONS = re.compile(r"\b(?:except|unless|only|other than|apart from|but|if|when|and|or|not necessarily)\b", re.I)
MIN_DEED = 2


class _Sentence(NamedTuple):
    passage: int
    text: str
    written: str
    """As the passage spells it."""


class _Rule(NamedTuple):
    deeds: frozenset[str]
    """The verb, in the forms that it may have."""
    who: frozenset[str]
    rest: frozenset[str]


def verify_prohibition(claim: str, passages: Sequence[str]) -> SupportReading | None:
    """What a prohibition for all says of a claim that forbids or allows the same deed; None where none decides it.

    It bears out that some may not do it, there or in a narrower place; it contradicts that they may in the same words.
    """
    text = claim.strip().rstrip(".")
    if len(text) > MAX_SENTENCE_CHARS:  # the square of its length would be looked at
        return None
    forbidden, allowed = _first((*_TO_ALL, *_TO_SOME), text), _first(_GIVEN, text)
    ours = forbidden or allowed
    if ours is None or _EXCEPTIONS.search(text):
        return None
    for sentence, rule in _prohibitions(passages, ours):
        is_same = rule.rest == ours.rest
        is_wider = bool(rule.rest) and rule.rest <= ours.rest | ours.who
        if forbidden is not None and (is_same or is_wider):
            rationale = f"Borne out by: “{sentence.text}”"
            return SupportReading("supported", SAID, (sentence.passage,), rationale, sentence.written)
        if forbidden is None and is_same and not _is_given_anywhere(passages, ours):
            rationale = f"The source forbids this: “{sentence.text}”"
            return SupportReading("contradicted", OTHERWISE, (sentence.passage,), rationale, sentence.written)
    return None


def _prohibitions(passages: Sequence[str], ours: _Rule) -> Iterator[tuple[_Sentence, _Rule]]:
    """The prohibitions of the same deed for all, without exceptions, each with its sentence."""
    for sentence in _sentences(passages):
        rule = None if _EXCEPTIONS.search(sentence.text) else _first(_TO_ALL, sentence.text.rstrip("."))
        if rule is not None and rule.deeds & ours.deeds:
            yield sentence, rule


def _is_given_anywhere(passages: Sequence[str], ours: _Rule) -> bool:
    rules = (_first(_GIVEN, sentence.text.rstrip(".")) for sentence in _sentences(passages))
    return any(rule is not None and rule.deeds & ours.deeds for rule in rules)


def _sentences(passages: Sequence[str]) -> Iterator[_Sentence]:
    for number, passage in enumerate(passages):
        yield from (_Sentence(number, text.strip(), written.strip()) for text, written in sentence_texts(passage))


def _first(forms: Sequence[re.Pattern[str]], text: str) -> _Rule | None:
    found = next((match for form in forms if (match := form.fullmatch(text)) is not None), None)
    if found is None:
        return None
    groups = found.groupdict()
    rest = _content(f"{groups['rest']} {groups.get('where') or ''} {groups.get('what') or ''}")
    deeds = _bases(groups["doing"]) if groups.get("doing") else {lemmatize(groups["deed"].lower())}
    return _Rule(frozenset(deeds), _content(groups.get("who") or ""), rest)


def _bases(doing: str) -> set[str]:
    """What a form in *-ing* may be of: *smoke* of *smoking*, *swim* of *swimming*."""
    bare = doing.lower().removesuffix("ing")
    if len(bare) < MIN_DEED:
        return set()
    return {bare, f"{bare}e", *([bare[:-1]] if bare[-1] == bare[-2] else [])}


def _content(text: str) -> frozenset[str]:
    return frozenset(term.key for one in read_sentences(text.lower()) for term in one.terms if term.kind in CONTENT)
