"""Inserts a substitute into a response with the case, article and possessive of the original."""

from __future__ import annotations

import re
from typing import NamedTuple

from factloop.agents.trustscore.distractors.base import Target
from factloop.tools.names.inflection import indefinite_article, plural

_ARTICLE = re.compile(r"(?<!\w)(the|an?)(\s+)$", re.IGNORECASE)
_THE = re.compile(r"^the\s+(?=\S)", re.IGNORECASE)
_POSSESSIVE = re.compile(r"['’](?:s(?!\w))?")
_TAKES_THE = re.compile(
    r"(?:.*\s)?(?:netherlands|philippines|bahamas|maldives|seychelles|gambia|congo|vatican|alps|hague|"
    r"(?:united|federated) states(?:\sof\s.*)?|united kingdom|united arab emirates|soviet union|european union|"
    r"\w+ (?:republic|islands|kingdom|federation|emirates)|republic of .*|isle of .*|kingdom of .*)",
    re.IGNORECASE,
)


class Insertion(NamedTuple):
    """Replaces `response[start:end]` with `by`. The span is the target, with its article or possessive ending if that
    changes: *an apple* becomes *a pear*.
    """

    text: str
    start: int
    end: int
    by: str


def insert(response: str, target: Target, substitute: str) -> Insertion:
    given = substitute.strip()
    bare = _THE.sub("", given, count=1) if target.kind == "entity" else given
    is_singular = target.kind == "noun" and target.tag == "NNS" and not bare.endswith("s")
    by = _cased(response, target, plural(bare) if is_singular else bare)
    start, end = target.start, target.end
    article = _ARTICLE.search(response, max(0, start - 8), start)
    has_the = takes_the(bare) or bare != given
    if article:
        start, by = _with_article(target, article, by, has_the)
    elif has_the and not takes_the(target.text) and _stands_in_sentence(response, target):
        before = response[:start]
        opens = not before.rstrip(" \t\"'“‘([") or before.rstrip()[-1] in ".!?\n"
        by = f"The {by}" if opens else f"{given[: -len(bare)] or 'the '}{by}"
    end, by = _with_possessive(response, target, end, by)
    return Insertion(response[:start] + by + response[end:], start, end, by)


def takes_the(name: str) -> bool:
    """Whether the name takes *the* in a sentence: *the Netherlands*."""
    return bool(_TAKES_THE.fullmatch(name))


def _cased(response: str, target: Target, substitute: str) -> str:
    original = target.text
    if target.kind in {"date", "number"}:
        return substitute
    if original.isupper() and len(original) > 1:
        is_shouted = not any(letter.islower() for letter in response) and len(response) > len(original)
        return substitute.upper() if is_shouted or original.lower() == original.upper() else _capital(substitute)
    if original == original.lower():
        return substitute.lower() if target.kind == "entity" or not substitute.isupper() else substitute
    if " " in original and original.istitle() and substitute.islower():
        return " ".join(map(_capital, substitute.split(" ")))
    is_symbol = target.start > 0 and target.kind != "entity" and not original.istitle()  # *B lymphocytes*
    return _capital(substitute) if original[:1].isupper() and not is_symbol else substitute


def _capital(word: str) -> str:
    return word[:1].upper() + word[1:]


def _with_article(target: Target, article: re.Match[str], by: str, has_the: bool) -> tuple[int, str]:
    own, gap = article[1], article[2]
    if own.lower() != "the":
        wanted = indefinite_article(by)
        return (target.start, by) if own.lower() == wanted else (article.start(), own[0] + wanted[1:] + gap + by)
    if target.kind == "entity" and takes_the(target.text) and not has_the:
        return article.start(), _capital(by) if own[0].isupper() else by
    return target.start, by


def _stands_in_sentence(response: str, target: Target) -> bool:
    return target.kind == "entity" and bool(re.search(r"\w", response[: target.start] + response[target.end :]))


def _with_possessive(response: str, target: Target, end: int, by: str) -> tuple[int, str]:
    """*James'* becomes *Edward's*, and *children's* becomes *girls'*."""
    mark = _POSSESSIVE.match(response, end)
    if mark is None:
        return end, by
    if len(mark[0]) == 2:
        return (mark.end(), by + mark[0][0]) if target.tag == "NNS" and by.endswith("s") else (end, by)
    closes = response.count(mark[0], 0, end) % 2  # the mark ends a quotation
    if target.kind != "entity" or not target.text.endswith("s") or by.endswith("s") or closes:
        return end, by
    return mark.end(), f"{by}{mark[0]}s"
