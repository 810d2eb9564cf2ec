"""The papers' tables as data: what they print, digit by digit, in CSV files beside this module.

The first columns of a file name its rows, the others hold figures. Evaluators have the names of `EVALUATORS`; a chunked
one is `NAME@500`, as in predictions. An empty cell is one that the paper leaves empty.
"""

from __future__ import annotations

import csv
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal
from functools import cache
from importlib.resources import files

from factloop.core.errors import ConfigError

NAME_HEADS = frozenset({"Calibration system", "Coefficient", "Data set", "Evaluator", "Pairs", "System"})
EVALUATORS = ("gpt-4-turbo", "gpt-3.5-turbo", "Bespoke-7B", "Bespoke-7B@500", "MiniCheck-FT5", "MiniCheck-Rbta")
HEADROOM, AVERAGE, LABELS = "Headroom", "Average", "labels"
Names = tuple[str, ...]
_ALL_EVALUATORS = 3
"""Number of a table with a row for every evaluator of the paper."""


@dataclass(frozen=True)
class PublishedTable:
    """A table as the paper prints it."""

    heads: Names
    """What the names of a row are."""
    columns: tuple[str, ...]
    rows: Mapping[Names, Mapping[str, Decimal]]

    def value(self, names: Names, column: str) -> float:
        """Raises KeyError where the paper has no such figure."""
        return float(self.rows[names][column])

    def places(self) -> Iterator[tuple[Names, str, Decimal]]:
        """Every figure with its row and column, in the order of the paper."""
        for names, cells in self.rows.items():
            for column, printed in cells.items():
                yield names, column, printed

    @property
    def datasets(self) -> tuple[str, ...]:
        """The data sets of its rows, in the order of the paper."""
        place = self.heads.index("Data set")
        return tuple(dict.fromkeys(names[place] for names in self.rows))


def decimals_of(printed: Decimal) -> int:
    """How many digits after the point the paper prints."""
    exponent = printed.as_tuple().exponent
    return -exponent if isinstance(exponent, int) else 0


@cache
def published_table(number: int) -> PublishedTable:
    """A table of "Verify with Caution" by its number. Raises FileNotFoundError for one without figures."""
    head, *lines = _lines(number)
    n_names = sum(1 for column in head if column in NAME_HEADS)
    columns = head[n_names:]
    rows = {
        tuple(line[:n_names]): {
            column: Decimal(cell) for column, cell in zip(columns, line[n_names:], strict=True) if cell
        }
        for line in lines
    }
    return PublishedTable(tuple(head[:n_names]), tuple(columns), rows)


def find_evaluator(name: str) -> str:
    """The paper's name of an evaluator, as it is or with `@N` for chunks of N words. Raises ConfigError."""
    known = [names[0] for names in published_table(_ALL_EVALUATORS).rows]
    whole, mark, n_words = name.partition("@")
    if name not in known and not (mark and whole in known and n_words.isdecimal()):
        raise ConfigError(f"the paper has no evaluator {name!r}; it has {', '.join(known)}")
    return name


@cache
def published_words(number: int) -> Mapping[str, Mapping[str, str]]:
    """A table of words, such as Table 2: a row by its first column, and in it each other column's text."""
    head, *lines = _lines(number)
    return {line[0]: dict(zip(head[1:], line[1:], strict=True)) for line in lines}


def _lines(number: int) -> list[list[str]]:
    place = files(__package__).joinpath("published", f"vwc-table-{number}.csv")
    return list(csv.reader(place.read_text(encoding="utf-8").splitlines()))
