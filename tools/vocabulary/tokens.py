"""Finds the words, numbers and marks of a text, in any script."""

from __future__ import annotations

import re

from factloop.tools.linguistics.abbreviations import NEVER_FINAL

_MARKS = "\u0300-\u036f\u0483-\u0489\u0591-\u05bd\u05bf-\u05c7\u0610-\u061a\u064b-\u065f\u0670\u06d6-\u06ed\u200c\u200d"
"""Accents and vowel signs that stand for themselves and that `\\w` leaves out: Latin, Cyrillic, Hebrew, Arabic."""
_INDIC = "\u0900-\u0963\u0966-\u0e3a\u0e40-\u0e4e\u0e50-\u0e59\u0e81-\u0ed9\u0f71-\u0f84\u1000-\u1049\u17b4-\u17d3"
"""Scripts from Devanagari to Khmer, whose vowel signs stand among the letters."""

_LETTER = rf"(?:[^\W_]|[{_MARKS}{_INDIC}])"
_CLITIC = r"(?:['’](?:s|d|m|ll|re|ve)|n['’]t)\b"
_TITLES = "|".join(short.title() for short in sorted(NEVER_FINAL) if short.isalpha() and len(short) > 1)

TOKEN = re.compile(
    rf"""
      \d+(?:[.,:/]\d+)*(?:[-–]\d+(?:[.,:/]\d+)*)*{_LETTER}*   # 1,200  12:30  1997–98  19th  1980s
    | {_CLITIC}
    | (?<!\w)(?:(?-i:[^\W\d_])\.){{2,}}                       # U.S.  J.K.  a.m.
    | (?<!\w)(?-i:[A-HJ-Z]\.(?=\s+[A-Z]))                     # Walter A. Shewhart
    | (?<!\w)(?-i:{_TITLES})\.(?=\s)                          # Dr.  St.
    | (?:(?!{_CLITIC}){_LETTER})+(?:(?!{_CLITIC})['’&.-](?:(?!{_CLITIC}){_LETTER})+)*
    | \.{{2,}}
    | \S
    """,
    re.VERBOSE | re.IGNORECASE,
)
