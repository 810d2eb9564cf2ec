"""Makes untrusted text safe to display: characters that move the cursor or reorder a line become visible symbols."""

from __future__ import annotations

import logging
import re
import unicodedata
from typing import Literal
from urllib.parse import urlsplit

# C0 except tab and newline, DEL and C1 (terminals obey them); lone surrogates (encoders reject them); bidirectional
# embeddings, overrides and isolates (they reorder the surrounding text). The weak marks LRM, RLM and ALM are kept:
# legitimate Hebrew and Arabic text needs them, and they only affect their own line.
_UNSAFE = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")

_WEB_ADDRESS = re.compile(
    r"""https?://[^\s<>"'`\\\x00-\x1f\x7f-\x9f\u200e\u200f\u061c\u202a-\u202e\u2066-\u2069]+""", re.I
)

_CONTROL_PICTURES = 0x2400
_DELETE, _DELETE_PICTURE = "\x7f", "\u2421"


def _symbol(found: re.Match[str]) -> str:
    character = found.group()
    if character < " ":
        return chr(_CONTROL_PICTURES + ord(character))
    return _DELETE_PICTURE if character == _DELETE else "\ufffd"


def visible(text: str) -> str:
    """Replaces each unsafe character with its Unicode control picture or, if it has none, with U+FFFD. Windows line
    endings become newlines, and other carriage returns become visible. Takes linear time."""
    return _UNSAFE.sub(_symbol, text.replace("\r\n", "\n"))


class VisibleLines(logging.Formatter):
    """Formats log records as visible text, because a message may quote a server's error."""

    def format(self, record: logging.LogRecord) -> str:
        return visible(super().format(record))


def web_address(source: str) -> str | None:
    """Returns `source` if it is an http or https URL that is safe to link to, or else None."""
    if not _WEB_ADDRESS.fullmatch(source):
        return None
    try:
        return source if urlsplit(source).hostname else None
    except ValueError:
        return None


def direction(text: str) -> Literal["ltr", "rtl"]:
    """The writing direction of the first character that has one, or left to right by default."""
    for character in text:
        strength = unicodedata.bidirectional(character)
        if strength in ("R", "AL"):
            return "rtl"
        if strength == "L":
            return "ltr"
    return "ltr"
