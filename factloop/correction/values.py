"""The right value for the wrong one of a claim: what the deciding sentence has of the same attribute. Pure.

A value is a number, in figures or in words, or the words that the judge names. It is taken only where the verifier
supports the claim with it, and where no other value will do as well. A number comes with the words that make a bound of
it: of *more than 10 days* nothing is true of 10 days.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

from factloop.core.records import Claim
from factloop.correction.bounds import bounded_figure, can_replace, is_same_bound
from factloop.correction.quotes import ROW
from factloop.tools.linguistics.lexicon import FUNCTION_WORDS

Supports = Callable[[str, str], bool]
"""Whether a passage supports a claim."""

_WORDS = tuple(
    re.findall(
        r"\w+",
        "one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen "
        "eighteen nineteen twenty",
    )
)
_IN_WORDS = {word: str(number) for number, word in enumerate(_WORDS, 1)}
_FIGURES = r"(?<![\w.,])\d[\d.,]*\d(?!\w)|(?<![\w.,])\d(?!\w)"
_NUMBER = re.compile(rf"{_FIGURES}|\b(?:{'|'.join(sorted(_WORDS, key=len, reverse=True))})\b", re.IGNORECASE)
_YEAR = re.compile(r"1\d{3}|20\d{2}")
_SEGMENT = re.compile(r"[,;]\s|\s(?:and|or|but|while|whereas)\s")
_WORD = re.compile(r"[^\W\d_]{2,}")
_NAME = re.compile(r"\b[A-Z][\w’']+(?:\s+[A-Z]\w+)+|(?<=[\w,] )[A-Z]\w+")
"""Two words with capitals, or one that does not open the sentence: it may stand for *she*."""
_SIGNS = frozenset("£$€¥#")
_VOWELS = frozenset("aeioAEIO")


@dataclass(frozen=True)
class Exchange:
    """Words of a claim, and those of the source that belong in their place."""

    wrong: str
    right: str

    def stands_in(self, text: str) -> bool:
        """Whether the wrong words stand in a text."""
        return any(_places(self.wrong, text))

    def in_text(self, text: str) -> str | None:
        """The text with the right words; None where the wrong ones do not stand there once."""
        places = list(_places(self.wrong, text))
        if len(places) != 1:
            return None
        start, end = places[0]
        before, after = text[:start], text[end:]
        right = self.right
        opens = text[start].isupper() or text[start].isdigit()
        if opens and right[:1].islower() and not before.strip(" \t*_\"'“‘(-"):
            right = right[0].upper() + right[1:]
        return f"{_with_article(before, right)}{right}{after}"


def find_exchange(
    claim: Claim, text: str, quotes: Sequence[str], passages: Sequence[str], supports: Supports
) -> Exchange | None:
    """The exchange that makes a claim true, and that can be made in the text of its sentence; None unless one alone is.

    `text`: the claim as plain text. `quotes`: the sentences that decide, among the cited `passages`.
    """
    found = [(one, quote) for quote in quotes for one in _exchanges(claim, text, quote)]
    chosen = next(_judged_in_row(claim, text, found, supports), None) or _only_true(text, found, passages, supports)
    if chosen is None:
        return None
    exchange, quote = chosen
    bounded = _with_bounds(exchange, text, quote)
    if bounded is None or bounded == exchange:
        return bounded
    said = bounded.in_text(text)
    return bounded if said is not None and _is_supported(said, quote, passages, supports) else None


def _only_true(
    text: str, found: Sequence[tuple[Exchange, str]], passages: Sequence[str], supports: Supports
) -> tuple[Exchange, str] | None:
    """The exchange that makes the claim true, with its quote, where no other would do as well."""
    clear = [(one, quote) for one, quote in found if _speaks_of(one, quote, text) is None]
    likely = clear or [(one, quote) for one, quote in found if _speaks_of(one, quote, text)]
    true = [
        (one, quote)
        for one, quote in likely
        if (said := one.in_text(text)) is not None and _is_supported(said, quote, passages, supports)
    ]
    alone = [one for one, _ in true]
    rivals = [one for one, _ in clear] or [*alone, *_of_one_unit(alone, found)]
    return true[0] if true and len({_value(one.right) for one in rivals}) == 1 else None


def _is_supported(said: str, quote: str, passages: Sequence[str], supports: Supports) -> bool:
    return any(supports(said, part) for part in (quote, *(whole for whole in passages if quote in whole)))


def _with_bounds(exchange: Exchange, text: str, quote: str) -> Exchange | None:
    """The exchange of a number with what bounds it on either side; None where the bound cannot be put in."""
    if _NUMBER.fullmatch(exchange.right) is None:
        return exchange
    said = [bounded_figure(text, *place) for place in _places(exchange.wrong, text)]
    places = [bounded_figure(quote, *place) for place in _places(exchange.right, quote)]
    stated = [one for one in places if one.sign == said[0].sign] or places
    if all(is_same_bound(said[0], one) for one in stated):
        return exchange
    if any(not is_same_bound(stated[0], one) for one in stated) or not can_replace(stated[0], said[0]):
        return None
    right = stated[0].figure
    return Exchange(said[0].figure, right[0].lower() + right[1:])


def _judged_in_row(
    claim: Claim, text: str, found: Iterable[tuple[Exchange, str]], supports: Supports
) -> Iterator[tuple[Exchange, str]]:
    """The exchange that the judge names, with its row, where a row of a table decides: it has its other values under
    other columns, which the judge has told apart."""
    for one, quote in found:
        said = one.in_text(text)
        if (one.wrong, one.right) == _judged(claim) and ROW.match(quote) and said and supports(said, quote):
            yield one, quote


def _judged(claim: Claim) -> tuple[str, str]:
    """The words that the judge calls wrong, and those that it puts in their place."""
    return claim.judgement.wrong.strip(), claim.judgement.instead.strip()


def _exchanges(claim: Claim, text: str, quote: str) -> Iterator[Exchange]:
    """First the judge's words, where both are one phrase and no number, then all numbers that differ."""
    wrong, instead = _judged(claim)
    is_number = _NUMBER.search(f"{wrong} {instead}") is not None
    if wrong and instead and not is_number and any(_places(instead, quote)) and not any(_places(instead, text)):
        yield Exchange(wrong, instead)
    said, stated = _numbers(text), _numbers(quote)
    missing = _without(said, stated)
    if len({_value(number) for number in missing}) != 1:
        return
    for right in _without(stated, said):
        is_judged = (wrong, instead) == (missing[0], right)
        if (is_judged or _form(missing[0]) == _form(right)) and _agrees(missing[0], right, text):
            yield Exchange(missing[0], right)


def _numbers(text: str) -> list[str]:
    return _NUMBER.findall(text)


def _without(numbers: Iterable[str], others: Iterable[str]) -> list[str]:
    """The numbers that the others have not, or not as often."""
    spare = Counter(map(_value, others))
    left = []
    for number in numbers:
        if spare[_value(number)]:
            spare[_value(number)] -= 1
        else:
            left.append(number)
    return left


def _value(number: str) -> str:
    return _IN_WORDS.get(number.lower(), number.replace(",", ""))


def _form(number: str) -> str:
    """Years are replaced by years, 12.5 by no whole number."""
    return "year" if _YEAR.fullmatch(number) else re.sub(r"\d+", "0", _value(number))


def _agrees(wrong: str, right: str, text: str) -> bool:
    """Whether the word after the number may stay as it is: *one son*, *three sons*."""
    ones = {"1"} & {_value(wrong), _value(right)}
    return not ones or re.search(rf"\b{re.escape(wrong)}\s+[^\W\d_]", text) is None


def _of_one_unit(true: Sequence[Exchange], found: Sequence[tuple[Exchange, str]]) -> list[Exchange]:
    """The other values with the unit of a true one: which of *£45 for members and £60 for others* is meant?"""
    units = {unit for one, quote in found if one in true for unit in _units(one, quote)}
    return [one for one, quote in found if units & _units(one, quote)]


def _units(exchange: Exchange, quote: str) -> set[str]:
    """The signs before, and the words after the right words: *£*, *km*."""
    around = ((quote[:start][-1:], _WORD.match(quote, end + 1)) for start, end in _places(exchange.right, quote))
    said = {unit for sign, word in around for unit in (sign, word[0].lower() if word else "")}
    return {unit for unit in said - FUNCTION_WORDS if unit.isalpha() or unit in _SIGNS} - {""}


def _speaks_of(exchange: Exchange, quote: str, text: str) -> bool | None:
    """Whether the stretch around the right words has all of the claim's but its names; None where it has no others.

    Of *adults pay £8 and seniors £6* only the second stretch speaks of nothing but the claim, where that is on seniors.
    """
    claimed = _content(text) - _content(exchange.wrong)
    said = [_content(part) for part in _SEGMENT.split(quote) if any(_places(exchange.right, part))]
    if any(words - _content(exchange.right) <= claimed for words in said):
        return None
    names = {word.lower() for name in _NAME.findall(text) for word in _WORD.findall(name)}
    return any(claimed - names <= words for words in said)


def _content(text: str) -> set[str]:
    return {word.lower() for word in _WORD.findall(text)} - FUNCTION_WORDS - set(_WORDS)


def _places(words: str, text: str) -> Iterator[tuple[int, int]]:
    """Where the words stand in a text, as words: 48 is not in 48.5, nor in 1,248."""
    for found in re.finditer(rf"(?<!\w)(?<!\d[.,]){re.escape(words)}(?!\w)(?![.,]\d)", text, re.IGNORECASE):
        yield found.span()


def _with_article(before: str, right: str) -> str:
    """What stands before, with *a* or *an* as the right words want it; *hour* and *unit* may want either."""
    article = re.search(r"\b([Aa])(n?) $", before)
    first = right[:1]
    if article is None or not first.isalpha() or first.lower() in "hu" or right.lower().startswith(("eu", "one")):
        return before
    return f"{before[: article.start()]}{article[1]}{'n' if first in _VOWELS else ''} "
