"""Puts a substitute into a response in the form of what it replaces: case, number, article."""

from __future__ import annotations

import re
from dataclasses import dataclass

from factloop.agents.trustscore.distractors.base import Target
from factloop.tools.vocabulary.inflections import agree

_ARTICLE = re.compile(r"(?<!\w)(the|an?)(\s+)$", re.IGNORECASE)
_THE = re.compile(r"^the\s+(?=\S)", re.IGNORECASE)
_POSSESSIVE = re.compile(r"['’](?:s(?!\w))?")
_PLURAL_NOUNS = frozenset({"NNS", "NNPS"})

_TAKES_THE = re.compile(
    r"(?:.*\s)?(?:netherlands|philippines|bahamas|maldives|seychelles|gambia|congo|vatican|alps|hague|"
    r"(?:united|federated) states(?:\sof\s.*)?|united kingdom|united arab emirates|soviet union|european union|"
    r"\w+ (?:republic|islands|kingdom|federation|emirates)|republic of .*|isle of .*|kingdom of .*)",
    re.IGNORECASE,
)
_VOWEL_LETTERS = "aeiou"
_VOWEL_SOUND = re.compile(r"(?:hour|hono[u]?r|honest|heir)", re.IGNORECASE)
_CONSONANT_SOUND = re.compile(
    r"(?:uni(?!n|mp|mag|d)|unanim|u[stkbr][aeiou]|ukr|eu|ewe|ufo|once\b|one\b|one-|oui|ouija)", re.IGNORECASE
)
_SPELT_OUT_WITH_VOWEL = frozenset("AEFHILMNORSX")
_EIGHT = re.compile(r"(?:8\d*|1[18](?:\d{3}|\d{6})?)(?!\d)")


@dataclass(frozen=True, slots=True)
class Insertion:
    """`text` is the response with `response[start:end]` replaced by `by`.

    The span is the target's, with its article where that changes, too: *an apple* becomes *a pear*."""

    text: str
    start: int
    end: int
    by: str


def insert(response: str, target: Target, substitute: str) -> Insertion:
    """The response with the target replaced, all else as it was."""
    bare = _THE.sub("", substitute.strip(), count=1) if target.kind == "entity" else substitute.strip()
    by = _agreed(_cased(response, target, bare), target)
    start, end = target.start, target.end
    article = _ARTICLE.search(response, max(0, start - 8), start)
    has_the = takes_the(bare) or bare != substitute.strip()
    if article:
        start, by = _with_article(target, article, by, has_the)
    elif has_the and not takes_the(target.text) and _stands_in_sentence(response, target):
        by = f"The {by}" if _opens_sentence(response, start) else f"the {by}"
    end, by = _with_possessive(response, target, end, by)
    return Insertion(response[:start] + by + response[end:], start, end, by)


def takes_the(name: str) -> bool:
    """Whether a name stands with an article in a sentence: *the Netherlands*."""
    return bool(_TAKES_THE.fullmatch(name))


def indefinite_article(phrase: str) -> str:
    """*a* or *an*, by the sound of the first word: *an hour*, *a university*, *an FBI agent*, *an 18th*."""
    word = re.sub(r"^[^\w]+", "", phrase).split(maxsplit=1)[0] if re.search(r"\w", phrase) else ""
    if word[:1].isdigit():
        return "an" if _EIGHT.match(word.replace(",", "")) else "a"
    is_spelt_out = word.isupper() and (len(word) == 1 or not re.search(r"[AEIOU]", word[:4]) or len(word) <= 3)
    if is_spelt_out:
        return "an" if word[0] in _SPELT_OUT_WITH_VOWEL else "a"
    starts_with_vowel = word[:1].lower() in _VOWEL_LETTERS and word != ""
    return "an" if _VOWEL_SOUND.match(word) or (starts_with_vowel and not _CONSONANT_SOUND.match(word)) else "a"


def _cased(response: str, target: Target, substitute: str) -> str:
    if target.kind in {"date", "number"}:
        return substitute
    original = target.text
    if original.isupper() and len(original) > 1:
        is_shouted = not any(letter.islower() for letter in response) and len(response) > len(original)
        return substitute.upper() if is_shouted or original.lower() == original.upper() else _capital(substitute)
    if original[:1].islower() and original == original.lower():
        return substitute.lower() if target.kind == "entity" or not substitute.isupper() else substitute
    if original[:1].isupper() and " " in original and original.istitle() and substitute.islower():
        return " ".join(map(_capital, substitute.split(" ")))
    return _capital(substitute) if original[:1].isupper() else substitute


def _capital(word: str) -> str:
    return word[:1].upper() + word[1:]


def _agreed(by: str, target: Target) -> str:
    """One word for one word: a plural noun for a plural one."""
    if target.kind != "noun" or " " in by or target.tag not in {"NN", *_PLURAL_NOUNS}:
        return by
    agreed = agree(by.lower(), target.tag)
    return by if agreed is None or agreed == by.lower() else _like(by, agreed)


def _like(original: str, word: str) -> str:
    return (
        word.upper() if original.isupper() and len(original) > 1 else _capital(word) if original[:1].isupper() else word
    )


def _with_article(target: Target, article: re.Match[str], by: str, has_the: bool) -> tuple[int, str]:
    """The start of the replaced words, and their replacement, with the right article before the target."""
    own, gap = article[1], article[2]
    if own.lower() != "the":
        wanted = indefinite_article(by)
        if own.lower() == wanted:
            return target.start, by
        return article.start(), _case_of(own, wanted) + gap + by
    if target.kind == "entity" and takes_the(target.text) and not has_the:
        return article.start(), _capital(by) if own[0].isupper() else by
    return target.start, by


def _case_of(own: str, wanted: str) -> str:
    return wanted.upper() if own.isupper() and len(own) > 1 else _capital(wanted) if own[0].isupper() else wanted


def _stands_in_sentence(response: str, target: Target) -> bool:
    return target.kind == "entity" and bool(re.search(r"\w", response[: target.start] + response[target.end :]))


def _opens_sentence(response: str, start: int) -> bool:
    before = response[:start].rstrip(" \t\"'“‘([")
    return not before or before[-1] in ".!?\n"


def _with_possessive(response: str, target: Target, end: int, by: str) -> tuple[int, str]:
    """*James'* becomes *Edward's*, *children's* becomes *girls'*."""
    mark = _POSSESSIVE.match(response, end)
    if mark is not None and len(mark[0]) == 2 and target.tag == "NNS" and by.endswith("s"):
        return mark.end(), by + mark[0][0]
    is_bare = mark is not None and len(mark[0]) == 1 and target.text.endswith("s") and target.kind == "entity"
    closes = response.count(response[end], 0, end) % 2 if is_bare else 0
    if mark is None or not is_bare or closes or by.endswith("s"):
        return end, by
    return mark.end(), f"{by}{mark[0]}s"
