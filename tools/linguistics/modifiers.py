"""Takes relative clauses and appositives off a clause and makes each a claim of its own."""

from __future__ import annotations

from collections.abc import Sequence

from factloop.tools.linguistics import lexicon
from factloop.tools.linguistics.clauses import (
    PARTICIPIAL,
    find_clause,
    finite_verb,
    is_comma,
    noun_phrase_start,
    relative_close,
)
from factloop.tools.linguistics.lexicon import word_set
from factloop.tools.linguistics.mentions import find_mentions
from factloop.tools.linguistics.words import FINITE, Word, tag_words

_PLACED_BY = {
    "in": "in", "to": "in", "from": "in", "at": "at", "with": "at", "joined": "at", "entered": "at", "attended": "at",
}  # fmt: skip
"""What leads to a place, and the preposition of what happened there: *moved to A, where he died* is *he died in A*."""

_STATES = frozenset({"known", "located", "situated", "based", "headquartered", "named", "called"})
"""Participles of what still holds: their copula is that of the clause."""

_ABOUT_THE_CLAUSE = word_set(
    """
    means meant makes made allows allowed allowing led leads caused causes helped helps enables enabled resulted
    results can could may might will would explains explained
    """
)
"""Verbs after *which* whose subject is what was said before rather than the noun phrase before the comma."""


def split_relative(text: str) -> list[str]:
    """*X, who won A, lives in B* is *X lives in B* and *X won A*. Only clauses set off by a comma are taken off."""
    words = tag_words(text)
    clause = find_clause(words)
    floor = clause.subject if clause is not None else 0
    relatives = [
        index
        for index in range(2, len(words) - 2)
        if is_comma(words[index - 1]) and not words[index].enclosed and _is_set_off(words, index)
    ]
    trailing = [index for index in relatives if finite_verb(words[: index - 1], floor) is not None]
    inner = [index for index in relatives if index not in trailing]
    for index in (*reversed(trailing), *inner):  # the last one first, since it may stand inside another
        split = _take_off(text, words, index, floor, must_close=index in inner)
        if split is not None:
            main, extra = split
            return [*split_relative(main), *split_relative(extra)]
    return [text]


def _is_set_off(words: Sequence[Word], index: int) -> bool:
    kind = words[index].lower
    return kind in {"who", "whose", "where"} or (kind == "which" and words[index + 1].lower not in _ABOUT_THE_CLAUSE)


def _take_off(text: str, words: Sequence[Word], index: int, floor: int, *, must_close: bool) -> tuple[str, str] | None:
    """The sentence without the relative clause at `index`, and that clause with its noun phrase as subject."""
    start = noun_phrase_start(words, index - 1, floor)
    close = relative_close(words, index, must_close=must_close)
    if start >= index - 1 or close is None or (start > 0 and _is_cut_short(words[start - 1], words[start])):
        return None
    phrase = text[words[start].start : words[index - 2].end]
    body = text[words[index + 1].start : words[close - 1].end]
    extra = _relative_claim(words, index, start, phrase, body)
    if extra is None:
        return None
    rest = text[words[close].end :].strip() if close < len(words) and is_comma(words[close]) else ""
    return f"{text[: words[index - 2].end]} {rest}".strip(), extra


def _is_cut_short(before: Word, first: Word) -> bool:
    """Whether the noun phrase that begins after this word is only a part of what the clause is about."""
    if first.word_class == "number" or (before.lower == "to" and first.lower in lexicon.VERBS):
        return True  # *in 1960, which …*, *to calculate A, which …*
    return before.lower in {"and", "or"} or before.enclosed or (before.word_class == "mark" and not is_comma(before))


def _relative_claim(words: Sequence[Word], relative: int, start: int, phrase: str, body: str) -> str | None:
    kind, following = words[relative].lower, words[relative + 1]
    if kind == "where":
        place = words[start - 1] if start else None
        preposition = _PLACED_BY.get(place.lower) if place is not None else None
        return None if preposition is None else f"{body} {preposition} {phrase}"
    if kind == "whose":
        return f"{phrase}'s {body}"
    verb = words[relative + 2] if following.word_class == "adverb" and relative + 2 < len(words) else following
    return f"{phrase} {body}" if verb.word_class in FINITE | PARTICIPIAL | {"base"} else None


def split_subject_appositive(text: str) -> list[str]:
    """*X, a physicist from Y, won Z* is *X won Z* and *X was a physicist from Y*; also *X, born in A, …*."""
    words = tag_words(text)
    clause = find_clause(words)
    if clause is None:
        return [text]
    inner = [i for i, word in enumerate(words) if is_comma(word) and clause.subject < i < clause.verb]
    if len(inner) < 2 or inner[-1] < clause.verb - 2:
        return [text]
    return _subject_appositive(text, words, clause.subject, inner[0], inner[-1], clause.verb)


def split_final_appositive(text: str) -> list[str]:
    """*X lives in A, a town in Bavaria* is *X lives in A* and *A is a town in Bavaria*."""
    words = tag_words(text)
    clause = find_clause(words)
    if clause is None:
        return [text]
    later = [i for i, word in enumerate(words) if is_comma(word) and i > clause.verb]
    if later and _is_final_appositive(words, later[-1], clause.subject):
        return _final_appositive(text, words, later[-1], clause.subject, clause.verb)
    return [text]


def _subject_appositive(text: str, words: Sequence[Word], subject: int, first: int, last: int, verb: int) -> list[str]:
    opener = words[first + 1]
    phrase = text[words[subject].start : words[first - 1].end]
    body = text[opener.start : words[last - 1].end]
    inside = words[first + 1 : last]
    opener = next(
        (word for word in inside if word.word_class != "adverb" and word.lower not in {"more", "better", "best"}),
        opener,
    )
    is_reduced = opener.word_class in PARTICIPIAL and _is_governing(words, opener)
    starts_right = is_reduced or opener.lower in {"a", "an", "the", "his", "her", "its", "their", "born", "known"}
    if not starts_right or any(word.lower in {"and", "or", "nor"} or word.word_class in FINITE for word in inside):
        return [text]
    if any(word.lower == "and" or word.word_class == "preposition" for word in words[subject:first]):
        return [text]
    is_event = (is_reduced and opener.lower not in _STATES) or opener.lower == "born"
    copula = "was" if is_event else _copula(words, verb)
    return [f"{text[: words[first - 1].end]} {text[words[last + 1].start :]}", f"{phrase} {copula} {body}"]


def _is_governing(words: Sequence[Word], participle: Word) -> bool:
    """Whether a preposition follows: *designed by A*, *born in B*."""
    index = words.index(participle) + 1
    return index < len(words) and words[index].word_class == "preposition"


def _full_name_start(text: str, words: Sequence[Word], end: int) -> int | None:
    """Index at which the name of two or more words that ends before `end` begins; initials are among them."""
    for mention in find_mentions(text):
        if mention.end == words[end - 1].end and len(mention.names) > 1:
            return next(index for index, word in enumerate(words) if word.start == mention.start)
    return None


def _is_final_appositive(words: Sequence[Word], comma: int, subject: int) -> bool:
    if comma + 2 >= len(words) or words[comma + 1].lower not in {"a", "an"} or words[comma - 1].word_class != "name":
        return False
    tail = words[comma + 1 :]
    is_list = any(word.lower in {"and", "or"} for word in words[comma - 6 if comma > 6 else 0 : comma + 2])
    return not is_list and finite_verb(tail, 0) is None and noun_phrase_start(words, comma, subject) < comma


def _final_appositive(text: str, words: Sequence[Word], comma: int, subject: int, verb: int) -> list[str]:
    start = _full_name_start(text, words, comma)
    if start is None:
        start = noun_phrase_start(words, comma, subject)
    phrase = text[words[start].start : words[comma - 1].end]
    return [text[: words[comma - 1].end], f"{phrase} {_copula(words, verb)} {text[words[comma + 1].start :]}"]


def _copula(words: Sequence[Word], verb: int) -> str:
    word = words[verb]
    is_past = word.word_class in {"past", "ed"} or word.lower in {"was", "were", "had", "did"}
    return "was" if is_past else "is"
