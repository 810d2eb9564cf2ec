"""Puts a short answer into its question, so that a verifier has a statement to hold against passages."""

from __future__ import annotations

import re

from factloop.tools.linguistics.lexicon import PREPOSITIONS, VERBS

_BE, _DO = "is|are|was|were", "did|does|do"
_ASKED_FOR = r"(?:when|where|(?:in |on |at |from )?(?:what|which) [\w-]+)"
_BEING = re.compile(rf"{_ASKED_FOR} ({_BE}) (?:(.+) )?(\S+)", re.IGNORECASE)
"""*When was the tower built*, *in which year was the tower built*."""
_DOING = re.compile(rf"(?:{_ASKED_FOR}|whom?|what) ({_DO}) (.+)", re.IGNORECASE)
"""*Where did Voss die*, *whom did Voss marry*."""
_WHAT_IS = re.compile(rf"what(?:'s| ({_BE})) (.+)", re.IGNORECASE)
_WHO = re.compile(r"(?:who|what) (\S+ .+)", re.IGNORECASE)
_OF_PLACE_OR_TIME = re.compile(
    r"when|where|in |on |at |(?:what|which) (?:year|month|day|date|century|decade)", re.IGNORECASE
)


def statement_of(question: str, answer: str) -> str:
    """*When did Voss die?* and *1958* say *Voss did die in 1958.* Where no rule reads the question, it stays before."""
    asked, said = question.strip().rstrip("?. "), answer.strip().rstrip(".")
    if found := _BEING.fullmatch(asked):
        subject, rest = found[2] or found[3], f" {found[3]}" if found[2] else ""
        return f"{subject} {found[1]}{rest} {_placed(asked, said)}."
    if (found := _DOING.fullmatch(asked)) and (verb := _verb(found[2])) is not None:
        words = found[2].split()
        return f"{' '.join([*words[:verb], found[1], *words[verb:]])} {_placed(asked, said)}."
    if found := _WHAT_IS.fullmatch(asked):
        return f"{found[2]} {found[1] or 'is'} {said}."
    if found := _WHO.fullmatch(asked):
        return f"{said} {found[1]}."
    return f"{question} {answer}"


def _verb(text: str) -> int | None:
    """The place of the first verb after the first word, which is of the subject."""
    return next((place for place, word in enumerate(text.split()) if place and word in VERBS), None)


def _placed(asked: str, answer: str) -> str:
    """An answer of a place or time with a preposition, unless it has one."""
    first = answer.split(" ", 1)[0].lower()
    return f"in {answer}" if _OF_PLACE_OR_TIME.match(asked) and first not in PREPOSITIONS else answer
