"""Validates the texts that a caller wants scored before any calls are made."""

from __future__ import annotations

from collections.abc import Sequence

from factloop.core.errors import DataError
from factloop.core.files.rows import shown


def check_given(name: str, text: object) -> None:
    """Raises DataError for anything but text, for blank text, and for text that cannot be saved in a report."""
    if not isinstance(text, str) or not text.strip():
        raise DataError(f"{name}: must be non-empty text, not {shown(text)}")
    check_whole(name, text)


def check_whole(name: str, text: object) -> None:
    """Raises DataError for anything but text, or for text that cannot be saved in a report; it may be blank."""
    if not isinstance(text, str):
        hint = " (pass its .text)" if hasattr(text, "text") else ""
        raise DataError(f"{name}: must be a string, not {type(text).__name__}{hint}")
    try:
        text.encode()
    except UnicodeEncodeError as error:
        said = f"{name}: half a character (a lone surrogate) at position {error.start}"
        if "\udc80" <= text[error.start] <= "\udcff":  # Python's form of an undecodable byte of an argument
            said += "; if the terminal gave it, set LC_ALL=C.UTF-8"
        raise DataError(said) from error


def check_spans(text: str, spans: Sequence[tuple[int, int]]) -> None:
    """Raises DataError for spans that are empty, outside the text or out of order."""
    reached = 0
    for number, (start, end) in enumerate(spans, 1):
        if not reached <= start < end <= len(text):
            raise DataError(f"span {number}: {start} to {end} must lie in the text, after the span before it")
        reached = end
