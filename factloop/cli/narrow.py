"""Signs of our own for a terminal that has only some characters, such as one in the C locale."""

from __future__ import annotations

import codecs
import io
from typing import IO

ERRORS = "factloop.plain"
"""Name of the error handler: our signs become plain ones, all else is escaped."""
PLAIN = {
    "✓": "+", "✗": "x", "○": "o", "·": "*", "•": "*", "×": "x", "−": "-", "–": "-", "—": "-", "’": "'", "‘": "'",
    "“": '"', "”": '"', "«": '"', "»": '"', "…": "...", "≠": "!=", "←": "<-", "▶": ">", "●": "*", "◆": "*", "■": "#",
    "→": "->", "↔": "<->", "≤": "<=", "≥": ">=", "›": ">", "─": "-", "│": "|",
}  # fmt: skip


def _plainly(error: UnicodeError) -> tuple[str | bytes, int]:
    assert isinstance(error, UnicodeEncodeError)
    signs = error.object[error.start : error.end]
    escaped = (PLAIN.get(sign) or sign.encode("ascii", "backslashreplace").decode() for sign in signs)
    return "".join(escaped), error.end


codecs.register_error(ERRORS, _plainly)


def show_plainly(*streams: IO[str] | None) -> None:
    """What a stream cannot show is no reason to fail."""
    for stream in streams:
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors=ERRORS)
