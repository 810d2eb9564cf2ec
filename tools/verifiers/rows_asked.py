"""Sentences that one column of a table decides: *Blue Hut has more beds than Stone Hut*, *Team costs 24 euros*."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from decimal import Decimal
from operator import gt, lt
from typing import NamedTuple

from factloop.tools.linguistics.english import in_figures
from factloop.tools.verifiers.base import SupportReading
from factloop.tools.verifiers.rows import OTHERWISE, SAID, rows_in, tokens_of, words_of
from factloop.tools.verifiers.terms import MAX_SENTENCE_CHARS

# The forms take the square of a text's length: they are for sentences.
_HAS = r"(?:has|have|had|offers?|holds?|includes?|comes? with|contains?)"
_IS = r"(?:is|are|was|were)"
_COMPARED = re.compile(rf"(?P<one>.+?) {_HAS} (?P<degree>more|fewer|less) (?P<column>.+?) than (?P<other>.+)")
_MOST = re.compile(
    rf"(?P<one>.+?) {_HAS} the (?P<degree>most|fewest|least|highest|lowest|largest|biggest|greatest|smallest|longest"
    r"|shortest) (?P<column>.+)"
)
_ADJECTIVES = {
    "cheaper": ("price cost fee", -1),
    "more expensive": ("price cost fee", 1),
    "dearer": ("price cost fee", 1),
    "heavier": ("weight mass", 1),
    "lighter": ("weight mass", -1),
    "taller": ("height", 1),
    "higher": ("height altitude elevation", 1),
    "longer": ("length", 1),
    "shorter": ("length", -1),
    "faster": ("speed", 1),
    "slower": ("speed", -1),
    "deeper": ("depth", 1),
    "shallower": ("depth", -1),
    "wider": ("width", 1),
    "narrower": ("width", -1),
    "larger": ("size area", 1),
    "bigger": ("size area", 1),
    "smaller": ("size area", -1),
}
_SUPERLATIVES = {
    f"most {word[5:]}" if word.startswith("more ") else f"{word[:-2]}est": meaning
    for word, meaning in _ADJECTIVES.items()
}
_COMPARATIVE = re.compile(rf"(?P<one>.+?) {_IS} (?P<degree>{'|'.join(_ADJECTIVES)}) than (?P<other>.+)")
_COSTS = re.compile(r"(?P<one>.+?) (?:costs?|cost) (?P<degree>more|less) than (?P<other>.+)")
_DEGREE = rf"(?P<degree>{'|'.join(_SUPERLATIVES)})"
_AMONG = r"(?: (?P<noun>[^\W\d]+))?(?: of (?P<among>(?:the|all)\b[^,;:]*))?"
_BEST = (
    re.compile(rf"(?P<one>.+?) {_IS} the {_DEGREE}{_AMONG}"),
    re.compile(rf"[Tt]he {_DEGREE}{_AMONG} {_IS} (?P<one>.+)"),
)
_DEGREES = {
    **dict.fromkeys(("more", "most", "highest", "largest", "biggest", "greatest", "longest"), 1),
    **dict.fromkeys(("fewer", "less", "fewest", "least", "lowest", "smallest", "shortest"), -1),
}

_FIGURE = r"(?P<figure>\d[\d,]*(?:\.\d+)?)"
_VALUES = (
    (
        re.compile(rf"(?P<one>.+?) (?:costs?|{_IS} priced at) (?P<before>[€$£]?) ?{_FIGURE}(?P<after>.*)"),
        "price cost fee",
    ),
    (re.compile(rf"(?P<one>.+?) weighs? (?P<before>){_FIGURE}(?P<after>.*)"), "weight mass"),
    (re.compile(rf"(?P<one>.+?) {_HAS} (?P<before>){_FIGURE} (?P<column>[^\d,;:]+)(?P<after>)"), ""),
    (
        re.compile(rf"[Tt]he (?P<column>.+?) of (?P<one>.+?) {_IS} (?P<before>[€$£]?) ?{_FIGURE}(?P<after>.*)"),
        "",
    ),
)
_ONE_FIGURE = re.compile(r"\D*(\d[\d,]*(?:\.\d+)?)\D*")
_NOT_SURELY = re.compile(
    r"[<>≤≥~±]|\d ?\+|(?<!\w)[-–−] ?\d"
    r"|\b(?:up to|at (?:least|most)|over|under|above|below|(?:more|less|fewer) than|about|around|nearly|almost|not"
    r"|approx|circa|ca|max|min|maximum|minimum|from)\b",
    re.IGNORECASE,
)
"""What makes the one number of a cell a bound, a rough or a negative one: *up to 60*, *30+*."""
_PERIODS = frozenset({"hour", "day", "week", "month", "year", "night", "person", "user", "seat", "piece", "agent"})
_BY_PERIOD = {
    **{f"{period}ly": period for period in ("hour", "night", "week", "month", "year")},
    "daily": "day",
    "annual": "year",
}
_COUNTING = frozenset({"number", "total", "count", *_BY_PERIOD})


class _Asked(NamedTuple):
    """A row of the sources with the number in the column that a claim speaks of."""

    passage: int
    line: str
    subject: str
    key: str
    columns: tuple[str, ...]
    column: str
    cell: str
    number: Decimal


def verify_comparison(claim: str, passages: Sequence[str]) -> SupportReading | None:
    """What the cells of one column say of a comparison of two rows, or of *the most* or *the heaviest* among all.

    None for other claims, and where the rows or the column are not there or not alike. Equal cells make nothing more.
    """
    text = claim.strip().rstrip(".")
    forms = (_COMPARED, _COMPARATIVE, _COSTS, _MOST, *_BEST) if len(text) <= MAX_SENTENCE_CHARS else ()
    found = next((one for form in forms if (one := form.fullmatch(text))), None)
    if found is None:
        return None
    column, sign = _asked_column(found)
    rows = list(_asked(column, passages))
    ours = [row for row in rows if _is_subject(found["one"], row)]
    if len(ours) != 1:
        return None
    like = [row for row in rows if row != ours[0] and _are_alike(row, ours[0])]
    here = [row for row in like if row.passage == ours[0].passage]
    if found.re is _MOST or found.re in _BEST:
        is_decided = len(here) + 1 == _n_rows(ours[0], passages) and _are_all(found, ours[0], len(here) + 1)
        return _of_most(ours[0], like, sign) if like and is_decided else None
    others = [row for row in here if _is_subject(found["other"], row)]
    return _of_two(ours[0], others[0], sign) if len(others) == 1 else None


def verify_value(claim: str, passages: Sequence[str]) -> SupportReading | None:
    """The contradiction of a figure by the one cell of its subject's row and its column; None for everything else."""
    text = claim.strip().rstrip(".")
    for form, columns in _VALUES if len(text) <= MAX_SENTENCE_CHARS else ():
        found = form.fullmatch(text)
        if found is None:
            continue
        names = frozenset(columns.split()) or words_of(found["column"])
        rows = [row for row in _asked(names, passages) if _is_subject(found["one"], row)]
        ours = _number(found["figure"])
        if len({row.number for row in rows}) != 1 or ours is None or ours == rows[0].number:
            return None
        if not all(_has_unit(found["before"] + found["after"], row) for row in rows):
            return None
        row, figure = rows[0], _ONE_FIGURE.fullmatch(rows[0].cell)
        instead = row.cell if figure is None else figure[1]
        rationale = f'The source says "{instead}", the claim "{found["figure"]}": “{row.line}”'
        return SupportReading("contradicted", OTHERWISE, (row.passage,), rationale, row.line, found["figure"], instead)
    return None


def _asked_column(found: re.Match[str]) -> tuple[frozenset[str], int]:
    """The words of the column that a comparison speaks of (any of them), and 1 for more, -1 for less."""
    groups = found.groupdict()
    if "column" in groups:
        return words_of(groups["column"]), _DEGREES[groups["degree"]]
    if found.re is _COSTS:
        return frozenset({"price", "cost", "fee"}), _DEGREES[groups["degree"]]
    columns, sign = (_SUPERLATIVES if found.re in _BEST else _ADJECTIVES)[groups["degree"]]
    return frozenset(columns.split()), sign


def _n_rows(ours: _Asked, passages: Sequence[str]) -> int:
    """How many rows the table of this one has, be their cells numbers or not."""
    return sum(number == ours.passage and tuple(row) == ours.columns for number, _, row in rows_in(passages))


def _are_all(found: re.Match[str], ours: _Asked, n_rows: int) -> bool:
    """Whether a claim of *the heaviest* is of all rows of a table, as *model* and *of the three models* are where its
    subjects are models and three."""
    groups = found.groupdict()
    words = words_of(in_figures(f"{groups.get('noun') or ''} {groups.get('among') or ''}")) - {"all"}
    counts = {"2" if word == "two" else word for word in words if word == "two" or word.isdigit()}
    named = words - {"two", *counts} - words_of(ours.key) - {"row", "table"}
    return not named and counts <= {str(n_rows)}


def _asked(words: frozenset[str], passages: Sequence[str]) -> Iterator[_Asked]:
    """The rows with one column of this name that holds a number."""
    for passage, line, row in rows_in(passages):
        cells = list(row.items())
        named = [(name, cell) for name, cell in cells[1:] if _is_named(name, words)]
        number = _number(named[0][1]) if len(named) == 1 else None
        if number is not None:
            yield _Asked(passage, line, cells[0][1], cells[0][0], tuple(row), *named[0], number)


def _is_named(name: str, words: frozenset[str]) -> bool:
    """Whether a column has this name, or one of these where they mean one thing: *price*, *cost*."""
    own = words_of(re.sub(r"[(\[].*?[)\]]", "", name)) - _COUNTING - _PERIODS
    return bool(own) and (own == words - _COUNTING - _PERIODS or (len(own) == 1 and own <= words <= _MEANING_ONE))


_MEANING_ONE = frozenset(word for columns, _ in _ADJECTIVES.values() for word in columns.split())


def _is_subject(phrase: str, row: _Asked) -> bool:
    """Whether a phrase names the subject of a row: *the Vale branch*, where *Branch* is the name of its column."""
    key, asked, subject = words_of(row.key), words_of(phrase), words_of(row.subject)
    return bool(subject) and (asked == subject or (bool(subject - key) and asked - key == subject - key))


def _number(cell: str) -> Decimal | None:
    """The one number of a cell; None without one, for several, and for a bound."""
    found = _ONE_FIGURE.fullmatch(in_figures(cell))
    return None if found is None or _NOT_SURELY.search(cell) else Decimal(found[1].replace(",", ""))


def _are_alike(row: _Asked, other: _Asked) -> bool:
    """Whether two rows have the columns of one table and give their numbers in one unit."""
    one, two = (sorted(token for token in tokens_of(cell) if not token[0].isdigit()) for cell in (row.cell, other.cell))
    return (row.columns, one) == (other.columns, two)


def _has_unit(said: str, row: _Asked) -> bool:
    """Whether what a claim says around its figure stands with the cell, be it in the column's name."""
    ours, there = _units(tokens_of(said)), _units((*tokens_of(row.cell), *tokens_of(row.column)))
    lacking = ours - there
    return not lacking or (lacking <= _PERIODS and not there & _PERIODS)


def _units(tokens: Iterable[str]) -> frozenset[str]:
    """Words as their singulars, and a period for the adjective of it: *month* for *monthly*."""
    return frozenset(_BY_PERIOD.get(token, token.removesuffix("s")) for token in tokens)


def _of_two(ours: _Asked, other: _Asked, sign: int) -> SupportReading:
    is_so = (gt if sign > 0 else lt)(ours.number, other.number)
    return _decided((ours, other), is_so=is_so)


def _of_most(ours: _Asked, others: Sequence[_Asked], sign: int) -> SupportReading:
    """A row of another passage that has more may be of the same table, which goes on there, or of another one."""
    first = (max if sign > 0 else min)(others, key=lambda row: row.number)
    read = _of_two(ours, first, sign)
    if first.number == ours.number or (read.label == "contradicted" and first.passage != ours.passage):
        said = "as much" if first.number == ours.number else "more" if sign > 0 else "less"
        rationale = f"Another row has {said}: “{first.line}”"
        return SupportReading("insufficient", OTHERWISE, (first.passage,), rationale, first.line)
    return read


def _decided(rows: Sequence[_Asked], *, is_so: bool) -> SupportReading:
    """The reading of a claim that two cells bear out or not."""
    lines = " and ".join(f"“{row.line}”" for row in rows)
    cited = tuple(dict.fromkeys(row.passage for row in rows))
    if is_so:
        return SupportReading("supported", SAID, cited, f"Borne out by: {lines}", rows[0].line)
    return SupportReading("contradicted", OTHERWISE, cited, f"The source gives other figures: {lines}", rows[0].line)
