"""Strips emphasis, brackets, markup and odd spaces from a text, so that texts can be compared."""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache

THINKING_BEGINS, THINKING_ENDS = "<think>", "</think>"
_MARKUP = re.compile(r"</?[A-Za-z]{2,20}>|</s>|<\|[^|<>]{1,40}\|>")
"""Tags and the special tokens that some servers leave in; one letter in angle brackets is no tag."""
_LATEX = re.compile(r"\\(?:[A-Za-z]{1,20}(?=\{)|[()\[\]])")
_DRESS = str.maketrans(dict.fromkeys('"“”„«»*`_$[]{}<>', " ") | dict.fromkeys("’‘", "'"))
_UNSEEN = re.compile("[\u00ad\u061c\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufeff]")
"""Marks that show nothing: joiners, directions, soft hyphens."""
_QUOTES = re.compile(r"(?<!\w)'|'(?!\w)")
"""Apostrophes that stand in no word."""
_SPACES = re.compile(r"[^\S\n]+")
_LINES = re.compile(r" ?\n[ \n]*(?:[-•#]+ )?")
_BULLET = re.compile(r"\A[-•#]+ ")
_BEFORE_MARK = re.compile(r" ([.,:;!?)])")
_WORD = re.compile(r"\w+")


def after_thinking(reply: str) -> str:
    """The reply after any thinking; empty where the thinking does not end."""
    said = reply.rpartition(THINKING_ENDS)[2].strip()
    return "" if said.startswith(THINKING_BEGINS) else said


def undressed(text: str) -> str:
    """The text without quotes, brackets (round ones stay), emphasis, tags and bullets, in lines without empty ones.

    Never two spaces in a row, so that patterns which allow for one take linear time.
    """
    shown = _UNSEEN.sub("", unicodedata.normalize("NFKC", text))
    bare = _QUOTES.sub(" ", _LATEX.sub("", _MARKUP.sub(" ", shown)).translate(_DRESS))
    lines = _LINES.sub("\n", _SPACES.sub(" ", bare)).strip()
    return _BEFORE_MARK.sub(r"\1", _BULLET.sub("", lines))


@lru_cache(maxsize=512)
def plain_words(text: str) -> str:
    """Words in lower case with single spaces; no marks."""
    return " ".join(_WORD.findall(unicodedata.normalize("NFKC", text).casefold()))
