"""Bounded views of a long response: a prompt must not grow with the text under check."""

from __future__ import annotations

CUT = " […] "


def before(response: str, start: int, *, most: int) -> str:
    """What precedes a sentence: all of it if it has at most `most` characters, else its opening and its end.

    The opening usually names the subject, the end holds what pronouns point to.
    """
    text = response[:start].strip()
    if len(text) <= most:
        return text
    opening = most // 3
    return f"{_until_space(text[:opening])}{CUT}{_from_space(text[-(most - opening) :])}"


def around(response: str, start: int, end: int, *, most: int) -> str:
    """The response if it has at most `most` characters, else its opening and the surroundings of `start:end`."""
    if len(response) <= most:
        return response
    third = most // 3
    after = response[end : end + third]
    return f"{before(response, start, most=third)} {response[start:end]} {_until_space(after)}{CUT}".strip()


def _until_space(text: str) -> str:
    return text.rsplit(None, 1)[0] if " " in text.strip() else text


def _from_space(text: str) -> str:
    parts = text.split(None, 1)
    return parts[1] if len(parts) > 1 else text
