"""A claim of a table's row, held against the rows of the sources: same subject and column, the same value or another.

Rows are lines of `name: value` between semicolons, as documents are read and as the offline engine words them.
"""

from __future__ import annotations

import re
from collections.abc import Container, Iterator, Mapping, Sequence
from functools import lru_cache

from factloop.tools.linguistics.english import in_figures
from factloop.tools.verifiers.base import SupportReading
from factloop.tools.verifiers.passage_index import kept_by_passage
from factloop.tools.verifiers.terms import FUNCTION_WORDS, NEGATIONS
from factloop.tools.verifiers.wording import JOINING, NO_CELLS, UNITS, YES_CELLS

SAID, OTHERWISE = 0.95, 0.05
"""Scores of what a row says as the claim has it, and otherwise. Too rare in labelled data to be calibrated."""

_BETWEEN = "; "
_CELL = re.compile(r"([^:;]{1,80}): (.{1,300})")
_TOKEN = re.compile(r"\d+(?:[.,]\d+)*|[^\W\d_]+|[€$£¥%]")
_SAME = {
    "€": "eur",
    "euro": "eur",
    "euros": "eur",
    "$": "usd",
    "dollar": "usd",
    "dollars": "usd",
    "£": "gbp",
    "%": "percent",
    "one": "1",  # the reader of number words leaves these as they stand
    "two": "2",
}
_CURRENCIES = frozenset({"eur", "usd", "gbp"})
_IN_BRACKETS = re.compile(r"[(\[]([^()\[\]]{1,20})[)\]]")
"""After the name of a column: its unit, mostly."""
_TELLING_NOTHING = FUNCTION_WORDS | NEGATIONS | {"yes", "none", "n/a"}
"""Cells that many a claim holds as words."""
_COUNTS = re.compile(r"[a-z]{2}(?<![isu])s\Z")
"""A column named by a plural."""
_NUMBER = re.compile(r"\d[\d,]*|one|two", re.IGNORECASE)
_ANSWERING = re.compile(r"\A(?:no|yes),\s+", re.IGNORECASE)
_SPELT = re.compile(r"[^\W_]+(?:['’]t)?")
_UNTOLD = frozenset({"a", "an", "the", "per", "of", "in", "each", "for"})

Cells = Mapping[str, str]
Cell = tuple[str, str]
"""The name of a column, and what stands under it."""


def verify_row(claim: str, passages: Sequence[str]) -> SupportReading | None:
    """What the sources' rows say of the claim's row.

    None where the claim is not a row, or where no row of the sources has its subject and column.

    Several rows of one subject that disagree say nothing against it: then its first cell is no key.
    """
    cells = _cells(claim.removesuffix("."))
    if len(cells) < 2:
        return None
    subject, *said = cells.items()
    rows = [
        (number, line, held)
        for number, line, row in rows_in(passages)
        for held in [_held(said, row)]
        if held is not None and _is_of(row, subject)
    ]
    if not rows:
        return None
    for number, line, held in rows:
        if all(_agree((name, cell), held[name]) for name, cell in said):
            return SupportReading("supported", SAID, (number,), f"Borne out by: “{line}”", line)
    if len({tuple(held.values()) for _, _, held in rows}) > 1:
        return None
    number, line, held = rows[0]
    wrong, instead = next((cell, held[name][1]) for name, cell in said if not _agree((name, cell), held[name]))
    rationale = f'The source says "{instead}", the claim "{wrong}": “{line}”'
    return SupportReading("contradicted", OTHERWISE, (number,), rationale, line, wrong, instead)


def verify_answer(claim: str, passages: Sequence[str]) -> SupportReading | None:
    """What the *yes* or *no* of one cell says of a sentence that says no more than its column: *The walk is open*.

    None where no row has the sentence's subject and such a cell, or where rows disagree.
    """
    claim = _ANSWERING.sub("", claim)
    asked, denials = _words_without_denials(claim), sum(_denies(token) for token in _SPELT.findall(claim.lower()))
    if denials > 1 or claim.rstrip().endswith("?"):
        return None
    found = {
        (answer, number, line)
        for number, line, row in rows_in(passages)
        for name, cell in list(row.items())[1:]
        for answer in [_answer(cell)]
        if answer is not None and _is_all(asked, next(iter(row.items())), name)
    }
    if len({answer for answer, _, _ in found}) != 1:
        return None
    answer, number, line = min(found)
    if answer == (denials == 0):
        return SupportReading("supported", SAID, (number,), f"Borne out by: “{line}”", line)
    return SupportReading("contradicted", OTHERWISE, (number,), f"The source answers otherwise: “{line}”", line)


def _words_without_denials(claim: str) -> frozenset[str]:
    """The words of a sentence that are no denial."""
    tokens = [token for token in _SPELT.findall(claim.lower()) if not _denies(token)]
    return frozenset(token if token in JOINING else token.removesuffix("s") for token in tokens)


def _denies(token: str) -> bool:
    return token in NEGATIONS or token.endswith(("n't", "n’t"))


def _is_all(asked: frozenset[str], subject: Cell, column: str) -> bool:
    """Whether a subject and a column are all that is asked, but for what joins them and the name of the subject's own
    column: *the Starter plan*. A figure alone is no subject."""
    kind, one, two = words_of(subject[0]), words_of(subject[1]), words_of(column)
    names_column = bool(two) and (bool(two - JOINING) or two <= asked)
    is_subject = bool(one - two - JOINING) and not subject[1].strip()[0].isdigit()
    said = (one | two) - JOINING
    return names_column and is_subject and said <= asked and asked - JOINING <= said | kind


def without_columns(claim: str) -> str | None:
    """The cells of a row without columns, since running text calls a price what *costs*; None for other claims."""
    cells = _cells(claim.removesuffix("."))
    return f"{' | '.join(_alone(name, cell) for name, cell in cells.items())}." if len(cells) > 1 else None


def _alone(name: str, cell: str) -> str:
    """A cell; a bare number with what its column counts: *10 seats*, which are no 10 euros."""
    return f"{cell} {name.lower()}" if _COUNTS.search(name) and _NUMBER.fullmatch(in_figures(cell)) else cell


def of_subject(claim: str, passages: Sequence[str]) -> Sequence[str]:
    """The passages without the rows of others, where the claim names the subject of a row, which is its first cell.

    What a row says of *Tarn 8* tells nothing of *Tarn 2*.
    """
    rows = {line: next(iter(row.values())) for _, line, row in rows_in(passages)}
    named = {cell for cell in set(rows.values()) if _names(claim, cell)}
    others = {line for line, cell in rows.items() if cell not in named} if named else set()
    return [_without(passage, others) for passage in passages] if others else passages


def _names(claim: str, cell: str) -> bool:
    is_telling = len(cell) > 1 and cell.lower() not in _TELLING_NOTHING
    return is_telling and re.search(rf"(?<!\w){re.escape(cell)}(?!\w)", claim, re.IGNORECASE) is not None


def _without(passage: str, lines: Container[str]) -> str:
    return "\n".join(line for line in passage.splitlines() if line.strip() not in lines)


def rows_in(passages: Sequence[str]) -> Iterator[tuple[int, str, Cells]]:
    """Each row of the passages: the number of its passage, its line and its cells."""
    return ((number, line, cells) for number, passage in enumerate(passages) for line, cells in _rows_of(passage))


@kept_by_passage
def _rows_of(passage: str) -> Sequence[tuple[str, Cells]]:
    """The rows of a passage, each with its line."""
    lines = ((line.strip(), _cells(line)) for line in passage.splitlines() if ": " in line)
    return [(line, cells) for line, cells in lines if len(cells) > 1]


def _cells(line: str) -> Cells:
    """The cells of a row by the names of their columns; empty where a part of the line has no name."""
    found = [_CELL.fullmatch(part.strip()) for part in line.split(_BETWEEN)]
    return {one[1].strip(): one[2].strip() for one in found if one is not None} if all(found) else {}


def _held(said: Sequence[Cell], row: Cells) -> Mapping[str, Cell] | None:
    """The cells of a row by the columns of the claim; None where it lacks one."""
    held = {name: _alike(row, name) for name, _ in said}
    return {name: cells[0] for name, cells in held.items()} if all(len(cells) == 1 for cells in held.values()) else None


def _is_of(row: Cells, subject: Cell) -> bool:
    """Whether a row is the subject's: by the column that is called alike, or by its first cell."""
    cells = (*_alike(row, subject[0]), next(iter(row.items())))
    return any(tokens_of(cell) == tokens_of(subject[1]) for _, cell in cells)


def _alike(row: Cells, name: str) -> list[Cell]:
    """The cells of the columns that are called alike; those of the very words, where there are any: *Agents* is not
    *Price per agent*."""
    words = words_of(name)
    same = [(other, cell) for other, cell in row.items() if words and words == words_of(other)]
    alike = ((other, cell) for other, cell in row.items() if words <= words_of(other) or words_of(other) <= words)
    return same or ([one for one in alike if words_of(one[0])] if words else [])


def words_of(name: str) -> frozenset[str]:
    """The words of a column's name, each as its singular, without those that tell nothing."""
    return frozenset(token.removesuffix("s") for token in _TOKEN.findall(name.lower())) - _UNTOLD


def _agree(one: Cell, other: Cell) -> bool:
    """Whether two cells say one thing: the same figures do, too, where one of them has its unit nowhere."""
    answers = _answer(one[1]), _answer(other[1])
    if None not in answers:
        return answers[0] == answers[1]
    ours, theirs = (sorted([*tokens_of(cell), *_unit_of(name, cell)]) for name, cell in (one, other))
    if not ours and not theirs:  # two cells of marks that are no words
        return one[1] == other[1]
    figures, others = ([token for token in tokens if token[0].isdigit()] for tokens in (ours, theirs))
    return ours == theirs or (bool(figures) and figures == others and (ours == figures or theirs == others))


def _answer(cell: str) -> bool | None:
    """The yes or no that a whole cell says, be it a word or a mark; None for any other cell."""
    said = cell.strip().rstrip(".").replace("\ufe0f", "").lower()
    return True if said in YES_CELLS else False if said in NO_CELLS else None


def _unit_of(name: str, cell: str) -> list[str]:
    """The unit that the column gives for a bare figure: *Capacity (l)*."""
    tokens = tokens_of(cell)
    if not tokens or not all(token[0].isdigit() for token in tokens):
        return []
    known = {short for _, short in UNITS.values()} | _CURRENCIES | {"percent"}
    return [token for inside in _IN_BRACKETS.findall(name) for token in tokens_of(inside) if token in known]


@lru_cache(maxsize=4096)
def tokens_of(cell: str) -> tuple[str, ...]:
    """The words and figures of a cell in an order of their own: `5 €` and `€5` are one, and so are `ten` and `10`."""
    tokens = (_SAME.get(token, token) for token in _TOKEN.findall(in_figures(cell.lower())))
    return tuple(sorted(_spelt(token) for token in tokens if token not in _UNTOLD))


def _spelt(token: str) -> str:
    """A figure without its commas, and a unit by its short name."""
    unit = UNITS.get(token) or UNITS.get(token.removesuffix("s"))
    return token.replace(",", "") if unit is None else unit[1]
