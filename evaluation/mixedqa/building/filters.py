"""Which questions are open-ended, and which responses answer them (Zheng et al. 2024, appendix A.3, steps 1 and 3).

The paper names what its scripts leave out, by examples, and publishes no script; the rules here are ours. Of what
the paper kept they leave out no question, and 14 of 3,000 responses, all of one system, which say the question again.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from enum import StrEnum


class NotOpen(StrEnum):
    """Why a question is not open-ended."""

    YES_NO = "yes_no"
    COMPARISON = "comparison"
    """It asks which of the things that it names is so, or is multiple choice: the answer stands in the question."""


class NoAnswer(StrEnum):
    """Why a response holds nothing to verify."""

    BLANK = "blank"
    REPETITIVE = "repetitive"
    ECHO = "echo"
    """It is the question again, word for word."""
    INCONCLUSIVE = "inconclusive"
    """It says that it does not know, or that the question does not tell."""


_AUXILIARIES = (
    "is", "are", "was", "were", "am", "do", "does", "did", "has", "have", "had", "can", "could", "will", "would",
    "shall", "should", "may", "might", "must",
)  # fmt: skip
_AUXILIARY = rf"(?:{'|'.join(_AUXILIARIES)})(?:n['’]t)?"
_ASKS = r"(?:who|whom|whose|what|which|where|when|why|how)"
_YES_NO = re.compile(rf"^\W*(?:(?!{_ASKS}\b)[^?,]{{1,80}},\s*)?{_AUXILIARY}\s+(?!{_ASKS}\b)\w", re.IGNORECASE)
"""An auxiliary first, or after an opening such as "In 1990, ..."."""
_NAME_FIRST = re.compile(rf"^\W*(?:May|Will)\s+(?:\d|[A-Z]).*\b{_ASKS}\b")
"""A month or a person, and the question later: "Will Smith starred in which film?" """
_BOTH = re.compile(rf"^(?!.*\b{_ASKS}\b).*\b(?:are|were|is|was)\s+both\b", re.IGNORECASE)
"""Statements with a question mark: "Ferocactus and Silene are both types of plant?" """
_COMPARED = re.compile(
    r"\b(?:earlier|later|first|last|older|oldest|younger|youngest|bigger|larger|largest|smaller|taller|higher|longer|"
    r"shorter|closer|nearer|farther|further|greater|more|most|fewer|less|both|same|between|either)\b.*\bor\b",
    re.IGNORECASE,
)
"""A comparison, then an alternative: "Which was started first, Emma or Virginia?" """
_LISTED = re.compile(r"[,:]\s*[^,?]+,?\s+or\s+[^,?]+\?*\s*$", re.IGNORECASE)
"""Things to choose from at the end: ", a plant or an animal?" """
_IN_BRACKETS = re.compile(r"\([^()]*\)|\[[^\[\]]*\]")
_WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)*")
_SAME_WORD = re.compile(r"\b(\w+)(?:\W+\1\b){3,}", re.IGNORECASE)
"""One word four times in a row."""
_SAME_PHRASE = re.compile(r"\b(\w+(?:\W+\w+){1,11})(?:\W+\1\b){2,}", re.IGNORECASE)
"""Two to twelve words three times in a row."""
_LONG, _FEWEST_DISTINCT = 30, 0.3
"""Words of a response from which on so small a share of distinct ones is repetition."""
_INCONCLUSIVE = re.compile(
    r"\bI(?:\s+a|['’])m\s+(?:not\s+(?:sure|certain|able|aware|familiar)|unsure|unable|sorry)\b"
    r"|\bI\s+(?:really\s+)?(?:do\s+not|don['’]t|cannot|can\s?not|can['’]t)\s+(?:know|have|find|recall|answer|provide|determine)\b"
    r"|\bI\s+have\s+no\s+(?:idea|information|knowledge)\b"
    r"|\b(?:is|are|was|were)\s+not\s+(?:provided|specified|mentioned|stated|publicly\s+available|available|clear)\b"
    r"|\b(?:no|not\s+enough|insufficient)\s+(?:\w+\s+){0,2}information\b"
    r"|\b(?:it|that|this)\s+is\s+(?:unclear|unknown|uncertain)\b|\b(?:is|are|remains?)\s+unknown\b"
    r"|\b(?:cannot|can['’]t|could\s+not)\s+be\s+(?:determined|answered|verified)\b"
    r"|\b(?:more|additional|further|without)\s+(?:\w+\s+){0,2}(?:context|information)\b|\bas\s+an\s+AI\b",
    re.IGNORECASE,
)


def why_not_open(question: str, answers: Sequence[str] = (), *, is_comparison: bool = False) -> NotOpen | None:
    """Why the question is not open-ended; None where it is.

    `answers` are its reference answers: yes or no alone make it a yes-no question. `is_comparison` is what its own data
    set says of it, as HotpotQA does.
    """
    given = {answer.strip().strip(".!").casefold() for answer in answers}
    if given and given <= {"yes", "no"}:
        return NotOpen.YES_NO
    if is_comparison or _offers_a_choice(question):
        return NotOpen.COMPARISON
    if _NAME_FIRST.search(question):
        return None
    return NotOpen.YES_NO if _YES_NO.search(question) or _BOTH.search(question) else None


def _offers_a_choice(question: str) -> bool:
    plain = _IN_BRACKETS.sub(" ", question)
    return any(pattern.search(plain) for pattern in (_COMPARED, _LISTED))


def why_no_answer(question: str, response: str) -> NoAnswer | None:
    """Why the response holds nothing to verify; None where it answers, rightly or wrongly."""
    words = _words(response)
    if not words:
        return NoAnswer.BLANK
    if _SAME_WORD.search(response) or _SAME_PHRASE.search(response):
        return NoAnswer.REPETITIVE
    if len(words) >= _LONG and len(set(words)) < _FEWEST_DISTINCT * len(words):
        return NoAnswer.REPETITIVE
    if words == _words(question):
        return NoAnswer.ECHO
    return NoAnswer.INCONCLUSIVE if _INCONCLUSIVE.search(response) else None


def _words(text: str) -> list[str]:
    return [word.casefold() for word in _WORD.findall(text)]
