"""Reads which option a reply chooses. What is not plainly one choice is none: nothing is guessed."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from functools import lru_cache
from typing import cast

from factloop.trust_records import Letter, Option

LONGEST_READ = 20_000
"""Characters of a reply that are looked at, from its end: a reasoning model's answer comes last."""
_THINKING_ENDS = "</think>"
_OPENS = r"[\s\"'*_`(\[<{$]*(?:\\boxed\{)?[\s(]*"
_CLOSES = r"[\s\"'*_`)\]>}$]*"

_BARE = re.compile(rf"{_OPENS}(?:option\s+|letter\s+)?{_OPENS}([A-Ea-e]){_CLOSES}[.:,;!]?{_CLOSES}", re.IGNORECASE)
"""The letter and nothing else, however it is dressed."""
_LEADING = re.compile(r"[\s\"'*_`(\[]*([A-E])(?:[\"'*_`]*[):.\]]|[\"'*_`]*\s+[-–—]|[*_]+)[\"'*_`]*\s*\S")
"""A letter marked as that of an option, and words after it."""
_NAMED = re.compile(
    r"(?:\b(?:answer|choice|option|selection|pick)(?:\s+(?:is|would\s+be|should\s+be|must\s+be))?"
    r"|\bI(?:\s+would|\s+will|'ll)?\s+(?:choose|pick|select|go\s+with)|\b(?:therefore|thus|hence|so)\b,?)"
    rf"\s*[:=]?\s*(?:the\s+)?(?:option\s+|letter\s+)?{_OPENS}(?-i:([A-E]))(?![\w'’])(?!\s*(?:,|/|&|or\b|and\b)\s*[A-E]\b)",
    re.IGNORECASE,
)
"""The letter that a sentence names as the answer."""
_ARTICLE = re.compile(r"\s+(?!because|since|as|is|for|due|given|but|and|with)[a-z]")
"""After the letter A: it was the article."""
_DENIED = re.compile(
    r"\b(?:not|isn't|isn’t|cannot|can't|can’t|never|neither|nor|wrong|incorrect|unlikely)\b", re.IGNORECASE
)
_LABELLED = re.compile(r"(?<![\w'’])\(?([A-E])(?:\)|\.(?=\s|$)|:(?=\s))")
_WORD = re.compile(r"\w+")


def read_choice(reply: str, options: Sequence[Option]) -> Letter | None:
    """The letter of the one option that the reply chooses; None for several, for none, and for a refusal.

    Read are the letter alone, in any dress ("C", "(c)", "**C**"); the letter before text ("C) King Solomon", whatever
    follows, unless it is another option's); the text of an option without its letter; and reasoning whose last line or
    last named answer is one letter ("... so the answer is C.").
    """
    text = _body(reply)
    if not text:
        return None
    letters = {option.letter for option in options}
    found = (
        _bare(text)
        or _leading(text, options)
        or _by_text(text, options)
        or _concluded(text)
        or _last_line(text, options)
    )
    return found if found in letters else None


def _body(reply: str) -> str:
    """What is said after any thinking."""
    return reply.rpartition(_THINKING_ENDS)[2][-LONGEST_READ:].strip()


def _letter(match: re.Match[str] | None) -> Letter | None:
    return cast(Letter, match[1].upper()) if match else None


def _bare(text: str) -> Letter | None:
    return _letter(_BARE.fullmatch(text))


def _leading(text: str, options: Sequence[Option]) -> Letter | None:
    """The letter that opens a reply of one choice: no other option's letter or text comes after it."""
    found = _letter(_LEADING.match(text))
    if found is None:
        return None
    others = {letter for letter in _LABELLED.findall(text) if letter != found}
    named = {option.letter for option in options if _holds(text, option.text)}
    if others or named - {found}:
        return None
    return found


def _by_text(text: str, options: Sequence[Option]) -> Letter | None:
    """The option whose words the reply is, or the only one whose whole text it holds, where it names no letter."""
    said = _plain(text)
    same = [option.letter for option in options if _plain(option.text) == said]
    if len(same) == 1:
        return same[0]
    if _LABELLED.search(text) or _NAMED.search(text) or _DENIED.search(text):
        return None
    held = [option.letter for option in options if _holds(text, option.text)]
    return held[0] if len(held) == 1 else None


def _concluded(text: str) -> Letter | None:
    """The letter that the reply names as its answer, if it names one only."""
    letters = {match[1] for match in _NAMED.finditer(text) if _is_named(text, match)}
    return cast(Letter, letters.pop()) if len(letters) == 1 else None


def _is_named(text: str, match: re.Match[str]) -> bool:
    if match[1] == "A" and _ARTICLE.match(text, match.end(1)):
        return False
    sentence = max(text.rfind(mark, 0, match.start()) for mark in ".!?\n") + 1
    return _DENIED.search(text, sentence, match.end()) is None


def _last_line(text: str, options: Sequence[Option]) -> Letter | None:
    """The choice in the last line of a longer reply, where the lines before it make none."""
    *before, last = [line for line in text.splitlines() if line.strip()]
    if not before or _NAMED.search("\n".join(before)) or any(_bare(line) for line in before):
        return None
    if any(_LEADING.match(line) for line in before):  # the question again, or a remark on each option
        return _bare(last)
    return _bare(last) or _leading(last, options)


def _holds(text: str, option: str) -> bool:
    plain = _plain(option)
    return bool(plain) and f" {plain} " in f" {_plain(text)} "


@lru_cache(maxsize=512)
def _plain(text: str) -> str:
    """Words in lower case with single spaces; no marks."""
    return " ".join(_WORD.findall(unicodedata.normalize("NFKC", text).casefold()))
