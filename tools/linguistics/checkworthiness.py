"""Tells sentences that state a fact from questions, requests, greetings, opinions and talk about the answer."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from factloop.tools.linguistics.families import Rule
from factloop.tools.linguistics.instructions import ABOUT_THE_ANSWER, DEEDS, is_instruction
from factloop.tools.linguistics.talk import is_opinion
from factloop.tools.linguistics.words import FINITE, Word

_OPENING = re.compile(
    r"(?:(?:however|additionally|furthermore|moreover|therefore|consequently|overall|similarly|likewise|finally|indeed"
    r"|nevertheless|nonetheless|besides|interestingly|notably|importantly|specifically|ultimately|in addition|in fact"
    r"|in short|in summary|in conclusion|to summarize|to sum up|as a result|for example|for instance|on the other hand"
    r"|of course|as you may know|as of my (?:last |knowledge )?[a-z ]{0,30}(?:in )?(?:\w+ )?\d{4}|yes|no|well|also"
    r"|later|afterwards|eventually|subsequently|by (?:most|all) accounts|in those (?:days|years)|at (?:that|the) time"
    r"|thus|hence)\s?[,:]\s*"
    r"|(?:please )?(?:note|remember|keep in mind|be aware|bear in mind) that\s+"
    r"|it(?: is|'s|’s) (?:also )?(?:worth|important|interesting|crucial|essential|notable)"
    r"(?: (?:to )?(?:not(?:e|ing)|mention(?:ing)?|remember(?:ing)?|point(?:ing)? out))? that\s+"
    r"|(?:and|but|so)\s+(?=(?:he|she|it|they|the|this|in)\b))",
    re.IGNORECASE,
)
_META = re.compile(
    r"(?:(?:sure|certainly|absolutely|great|okay|ok|hello|hi|hey|sorry|welcome|good (?:morning|evening|question|luck))"
    r"(?=\s?[,.!:—–]|\sthere\b|$)|dear \w+,|thanks\b|thank you\b|i apologi[sz]e\b|happy to help"
    r"|here(?: is|'s|’s| are)\b.{0,200}(?::|overview|summary|list|answer)"
    r"|here you go|let me\b|let's\b|i hope\b|i would\b|i'd\b|i can\b|i can't\b|i cannot\b|i could\b|i will\b|i'll\b"
    r"|i (?:do not|don't|don’t) (?:know|have)|i am\b|i'm\b|i’m\b|i have no\b|i was unable\b|i recommend\b"
    r"|as an? (?:ai|language)\b"
    r"|please\b|feel free\b|if you (?:have|need|want|would|'d)\b"
    r"|for (?:more|further|the most up-to-date)\b.{0,80}\b(?:i recommend|see|visit|consult|refer)\b"
    r"|in this (?:article|answer|essay|response|overview|section)\b|the following\b.{0,60}:$|below (?:is|are)\b"
    r"|(?:in conclusion|overall|to summarize)[,:]? (?:let me|i hope|if you|feel free)"
    r"|(?:in|based on) my (?:training|knowledge|data)\b|there(?: is|'s) no (?:information|record)s? available to me)",
    re.IGNORECASE,
)
_OPINION = re.compile(
    r"\b(?:i (?:personally )?(?:think|believe|feel|guess|suppose|suspect|doubt|love|like|prefer|assume)"
    r"|in my (?:humble )?(?:opinion|view)|imo|to me,|arguably|it seems to me|must-see|must-read)\b",
    re.IGNORECASE,
)
_ADVICE = re.compile(
    r"it(?: is|'s|’s) (?:always |also )?"
    r"(?:important|essential|crucial|advisable|recommended|best|difficult|hard|unclear|unknown)\b"
    r"[^,]{0,20} to\b|more research is needed",
    re.IGNORECASE,
)
_IMPERATIVES = ABOUT_THE_ANSWER | DEEDS


_BAR = re.compile(r"[^\W_][^\w|]*\|[^\w|]*[^\W_]")
_FULL_SENTENCE = 4
"""Words from which a line with a full stop counts as a sentence although no rule knows its verb."""


def drop_opening(text: str) -> str:
    """The sentence without connectives and without *Note that …*: what is left is what it states."""
    for _ in range(3):
        found = _OPENING.match(text)
        if found is None or found.end() >= len(text):
            break
        text = text[found.end() :]
    return text[:1].upper() + text[1:]


@dataclass(frozen=True, slots=True)
class Line:
    """A sentence as plain text, and its words without marks."""

    text: str
    plain: tuple[Word, ...]

    @property
    def first(self) -> str:
        return self.plain[0].lower if self.plain else ""

    @property
    def is_of_another_script(self) -> bool:
        """Whether nothing here can tell what it says, so that it is kept."""
        return not self.text.isascii() and not any("a" <= character <= "z" for character in self.text)

    @property
    def has_detail(self) -> bool:
        """Whether it has a number, or a name beyond the subject: something that can be looked up."""
        verb = next((i for i, word in enumerate(self.plain) if word.word_class in FINITE), 0)
        return any(word.word_class == "number" and word.text[0].isdigit() for word in self.plain) or any(
            word.word_class == "name" for word in self.plain[verb + 1 :]
        )


Silencer = Callable[[Line], bool]


def is_checkable(text: str, words: Sequence[Word], silences: tuple[Rule[Silencer], ...] | None = None) -> bool:
    """Whether plain text states a fact that a source could confirm or refute. In doubt it does."""
    line = Line(text, tuple(word for word in words if word.word_class != "mark"))
    return not any(rule.apply(line) for rule in (SILENCES if silences is None else silences))


def _is_question(line: Line) -> bool:
    """A question mark inside a closing quotation counts only where the whole sentence is quoted."""
    text = line.text
    body = text.strip("\"“”'‘’ ") if text.startswith(('"', "“", "'", "‘")) else text
    return body.endswith(("?", "？", "؟"))


def _is_talk(line: Line) -> bool:
    return _META.match(line.text) is not None


def _is_opinion(line: Line) -> bool:
    return is_opinion(line.text)


def _is_request(line: Line) -> bool:
    return line.first in _IMPERATIVES and not line.has_detail and _is_imperative(line.plain) and not _instructs(line)


def _is_belief(line: Line) -> bool:
    """Whether it says what the writer thinks, without a detail or of the writer alone."""
    if not _OPINION.search(line.text):
        return False
    return not line.has_detail or line.first == "i" or "my" in {word.lower for word in line.plain[:3]}


def _is_advice(line: Line) -> bool:
    return _ADVICE.match(line.text) is not None and not any(word.word_class == "number" for word in line.plain)


def _is_verbless(line: Line) -> bool:
    if line.is_of_another_script:
        return False
    has_verb = any(word.word_class in FINITE or word.word_class in {"ed", "base"} for word in line.plain)
    is_sentence = len(line.plain) >= _FULL_SENTENCE and line.text.endswith(".")
    return not has_verb and not is_sentence and not _is_fragment(line.text, line.plain) and not _instructs(line)


def _instructs(line: Line) -> bool:
    """Whether it tells to do something: whether that is the way, sources tell. A lead tells it of what follows."""
    return not line.text.endswith(":") and is_instruction(line.plain, is_sentence=line.text.endswith((".", "!")))


def _is_imperative(plain: Sequence[Word]) -> bool:
    """A base form first and no verb of its own right after it: *List three …*, but not *Name changes were common*."""
    if len(plain) < 2:
        return True
    following = plain[1]
    return following.word_class in {"determiner", "possessive", "number", "preposition", "pronoun", "adverb"} or (
        following.lower in {"sure", "more"} or not any(word.word_class in FINITE for word in plain[1:4])
    )


def _is_labelled_value(text: str) -> bool:
    """*Born: 1879*, *Capital: Bern*."""
    label, colon, value = text.partition(":")
    return bool(colon) and 0 < len(label.split()) <= 4 and bool(value.strip()) and not value.strip().startswith("//")


def _is_row(text: str) -> bool:
    """Cells with bars between them, however tight."""
    return _BAR.search(text) is not None


def _is_fragment(text: str, plain: Sequence[Word]) -> bool:
    """A list item or table row without a verb that still says something: a number, or a label with a value."""
    return _is_labelled_value(text) or _is_row(text) or any(word.text[0].isdigit() for word in plain)


SILENCES: tuple[Rule[Silencer], ...] = (
    Rule("questions", _is_question),
    Rule("talk about the answer", _is_talk),
    Rule("opinions", _is_opinion),
    Rule("requests", _is_request),
    Rule("beliefs", _is_belief),
    Rule("advice", _is_advice),
    Rule("lines without a verb", _is_verbless),
)
