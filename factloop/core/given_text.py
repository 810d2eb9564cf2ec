"""Validates the caller's text before any calls are made."""

from __future__ import annotations

from collections.abc import Sequence

from factloop.core.errors import DataError
from factloop.core.files.rows import shown


def check_given(name: str, text: object) -> None:
    """Raises DataError unless `text` is a non-blank string that can be encoded as UTF-8."""
    if not isinstance(text, str) or not text.strip():
        raise DataError(f"{name} must be non-empty text, not {shown(text)}")
    check_whole(name, text)


def check_whole(name: str, text: object) -> None:
    """Raises DataError unless `text` is a string, possibly blank, that can be encoded as UTF-8."""
    if not isinstance(text, str):
        hint = " (pass its .text)" if hasattr(text, "text") else ""
        raise DataError(f"{name} must be a string, not {type(text).__name__}{hint}")
    try:
        text.encode()
    except UnicodeEncodeError as error:
        said = f"{name} contains half a character (a lone surrogate) at position {error.start}"
        if "\udc80" <= text[error.start] <= "\udcff":  # Python's representation of an undecodable byte in an argument
            said += "; if the text came from the terminal, set LC_ALL=C.UTF-8"
        raise DataError(said) from error


def check_spans(text: str, spans: Sequence[tuple[int, int]]) -> None:
    """Raises DataError if a span is empty, outside the text or out of order."""
    reached = 0
    for number, (start, end) in enumerate(spans, 1):
        if not reached <= start < end <= len(text):
            raise DataError(f"span {number} ({start} to {end}) must be within the text and after the previous span")
        reached = end
