"""Tells parts of a response that state nothing from those that may: before any model is asked, so in doubt they may."""

from __future__ import annotations

import re
from typing import Literal

from factloop.tools.linguistics.checkworthiness import is_checkable
from factloop.tools.linguistics.markup import plain_text
from factloop.tools.linguistics.outline import Part
from factloop.tools.linguistics.words import tag_words

Silence = Literal["heading", "question", "remark"]

_LONGEST_REMARK = 200
_INTERJECTION = r"(?:sure(?: thing)?|certainly|absolutely|of course|great(?: question)?|okay|ok|no problem)"
_REMARK = re.compile(
    rf"(?:{_INTERJECTION}[,.!]*"
    r"|(?:hello|hi|hey|dear)(?: [\w.-]+){0,3}[,.!]*"
    rf"|(?:{_INTERJECTION}[,.!–—-]* )?"
    r"(?:here(?: is|'s|’s| are)|below (?:is|are)|the following (?:is|are)) [^:.!?]*[:.!]?:"
    rf"|(?:{_INTERJECTION}[,.!–—-]* )?here(?: is|'s|’s) (?:an?|my|the) (?:\w+ ){{0,3}}"
    r"(?:overview|summary|answer|list|outline|explanation|table|comparison)\b[^:.!?]*[:.!]?"
    r"|i hope (?:this|that|it) (?:helps|answers|clarifies|is helpful|was helpful)\b[^.!?]*[.!]?"
    r"|(?:please )?(?:let me know|feel free to|don(?:'|’)t hesitate to)\b[^.!?]*[.!]?"
    r"|if you(?:(?:'|’)d| would)? (?:have|need|like|want) (?:any|more|further|other|additional|me to)\b[^.!?]*[.!]?"
    r"|(?:thank you|thanks)(?: (?:so|very) much)?"
    r"(?: for (?:contacting|reaching|your|asking|the question)\b[^.!?]*)?[.!]*"
    r"|i(?:(?:'|’)m| am) (?:happy|glad) to help\b[^.!?]*[.!]?|(?:glad|happy) to help[.!]*)",
    re.IGNORECASE,
)
"""Greetings, offers and announcements: talk between writer and reader."""
_FIGURE = re.compile(r"\d")


def silence_of(part: Part) -> Silence | None:
    """Why a part states nothing: it is a heading, a question or a remark; None where it may state something.

    A heading with a verb, a remark with a figure, and advice may; so may a question within a sentence that says more.
    """
    if part.kind == "head":
        return "heading"
    if part.kind == "code":
        return None
    text = plain_text(part.text)
    if part.kind == "heading":
        return None if is_checkable(text, tag_words(text)) else "heading"
    if part.kind == "row":
        return None
    if text.strip("\"“”'‘’ ").endswith(("?", "？", "؟")):
        return "question"
    is_remark = len(text) <= _LONGEST_REMARK and not _FIGURE.search(text) and _REMARK.fullmatch(text) is not None
    return "remark" if is_remark else None
