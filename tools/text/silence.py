"""Recognizes parts of a response that make no claim and need not be checked. If in doubt, a part is checked."""

from __future__ import annotations

import re
from typing import Literal

from factloop.tools.text.abstentions import is_abstention
from factloop.tools.text.markup import plain_text
from factloop.tools.text.outline import Part
from factloop.tools.text.words import content_words

Silence = Literal["abstention", "heading", "question", "remark"]

_FINITE = re.compile(
    r"\b(?:is|are|was|were|am|has|have|had|does|did|can|could|will|would|may|might|must|shall|should|cannot)\b|n['’]t\b",
    re.IGNORECASE,
)
_NUMBERING = re.compile(r"^\W*(?:[^\W\d_]+\s)?\(?\d{1,2}(?:(?:\.\d{1,2}){1,3}[.):]?(?:\s|$)|[.):]\s|\s[–—-]\s|\W*$)")
"""Matches numbering, as opposed to figures that may be wrong: *3.2 The early years*, *Step 1: Unpack*, *Chapter 3*."""
_ENDS_SENTENCE = (".", "!")
_QUESTION_MARKS = ("?", "？", "؟")
_ASKING = re.compile(
    r"(?:(?:so|and|but|or|then|now|well),? )?(?:who|whom|whose|what|where|when|which|how|why|am|is|are|was|were|do|does"
    r"|did|has|have|had|can|could|will|would|shall|should|may|might|want|need)\b",
    re.IGNORECASE,
)
_TELLS = re.compile(
    r"[;:–—(]|\b(?:know|that|who|because|not|never|how about|what about|whether)\b(?!\W*$)|n['’]t\b"
    r"|, (?!and|or)\w+ \w+",
    re.IGNORECASE,
)
"""Signs of a statement inside a question or small talk: *Did you know ...?*, *It cures cancer, doesn't it?*"""
_READER = re.compile(r"\b(?:you|your|i|me|let's)\b", re.IGNORECASE)
_TALK = re.compile(
    r"(?:(?:i|we)(?:['’]d| would| am|['’]m| are|['’]re)? (?:hope|happy|glad|sorry|be happy|can (?:also )?help)"
    r"|hope this|happy to|(?:just |please )?let me know|(?:please )?feel free"
    r"|(?:let me|i(?:['’]ll| will)) (?:check|look|search|find)\b(?: (?:that|this|it)\b)?"
    r"|if you (?:have|need|want|would|like)\b.{0,80}\b(?:let me know|ask|reach out|contact)"
    r"|(?:is there|would you like|do you (?:want|have|need)|can i)\b|here(?:['’]s| is| are)\b"
    r"|(?:good luck|take care|enjoy|best|kind|yours|apologies|sorry|sure|certainly|of course|great question)\b"
    r"|(?:thank you|thanks|hello|hi|dear|you(?:['’]re| are) welcome)\b)",
    re.IGNORECASE,
)
"""Phrases that writers use to address the reader. With `_READER` or a final colon, they show small talk."""
_CRY = re.compile(r"(?:what|how|it|this|that|so|wow)\b", re.IGNORECASE)
_OPINION = re.compile(r"(?:i|in my (?:opinion|view)|to me)\b", re.IGNORECASE)
_SHORT_TALK, _LONGEST_TALK = 4, 14
"""Maximum number of words in a greeting, and in an offer or question. Longer ones usually state something."""


def silence_of(part: Part) -> Silence | None:
    """Returns why a part makes no claim, or None if it may make one.

    A heading with a verb or number may make a claim. So may a question with a number: *Did you know that 9 in 10 ...?*
    """
    if part.kind == "head":
        return "heading"
    if part.kind in ("code", "row"):
        return None
    text = plain_text(part.text)
    if only_asks(text):
        return "question"
    if part.kind == "heading":
        return "heading" if _is_title(text) else None
    if is_abstention(text):
        return "abstention"
    if is_talk(text):
        return "remark"
    return "heading" if _is_lead(text) else None


def states_nothing(text: str) -> bool:
    """Whether a sentence is only a question, small talk or an opinion. `text` must be plain text."""
    return only_asks(text) or is_talk(text) or _is_opinion(text)


def _is_opinion(text: str) -> bool:
    """Whether the text is an opinion or exclamation without a name or number, such as *What a life!* or *I love it.*"""
    words = text.split()
    is_named = any(word[:1].isupper() and word.rstrip(".,!’'") != "I" for word in words[1:])
    says_so = _OPINION.match(text) is not None or (text.endswith("!") and _CRY.match(text) is not None)
    return says_so and not is_named and not _may_tell(text)


def only_asks(text: str) -> bool:
    """Whether the text is a question without a number. What a question presupposes hardly ever needs checking."""
    stripped = text.strip("\"“”'‘’ ")
    asked = _ASKING.match(stripped)
    if not stripped.endswith(_QUESTION_MARKS) or _may_tell(stripped[asked.end() if asked else 0 :]):
        return False
    return asked is not None or _READER.search(stripped) is not None


def is_talk(text: str) -> bool:
    """Whether the text only addresses the reader with an offer, greeting or announcement, and contains no number."""
    opened = _TALK.match(text)
    if opened is None or _may_tell(text[opened.end() :].rstrip(":")):
        return False
    return text.endswith(":") or _READER.search(text) is not None or len(text.split()) <= _SHORT_TALK


def _may_tell(text: str) -> bool:
    is_long = len(text.split()) > _LONGEST_TALK
    return is_long or any(map(str.isdigit, text)) or _TELLS.search(text) is not None


def _is_title(text: str) -> bool:
    if text.endswith(_ENDS_SENTENCE) and len(text.split()) > 1:
        return False
    rest = _NUMBERING.sub("", text)
    return (not any(map(str.isdigit, rest)) and _FINITE.search(rest) is None) or not content_words(rest)


def _is_lead(text: str) -> bool:
    is_short = len(content_words(text)) <= _SHORT_TALK and not any(map(str.isdigit, text))
    return text.endswith(":") and is_short and _FINITE.search(text) is None
