"""Reads the tables of "Verify with Caution" from the CSV files next to this module. Digits are as printed.

The first columns name the rows, and the others contain figures. A chunked evaluator is named `NAME@500`, as in
predictions. Cells that are empty in the paper are empty in the file.
"""

from __future__ import annotations

import csv
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from functools import cache
from importlib.resources import files

NAME_HEADS = frozenset({"Calibration system", "Coefficient", "Data set", "Evaluator", "Pairs", "System"})
EVALUATORS = ("gpt-4-turbo", "gpt-3.5-turbo", "Bespoke-7B", "Bespoke-7B@500", "MiniCheck-FT5", "MiniCheck-Rbta")
HEADROOM, AVERAGE, LABELS = "Headroom", "Average", "labels"
Names = tuple[str, ...]


@dataclass(frozen=True)
class PublishedTable:
    heads: Names
    columns: tuple[str, ...]
    rows: Mapping[Names, Mapping[str, Decimal]]

    def value(self, names: Names, column: str) -> float:
        """Raises KeyError if the paper has no such figure."""
        return float(self.rows[names][column])

    @property
    def datasets(self) -> tuple[str, ...]:
        """The data sets in the paper's order."""
        place = self.heads.index("Data set")
        return tuple(dict.fromkeys(names[place] for names in self.rows))

    def systems(self, dataset: str) -> list[Names]:
        """Returns the row names of a data set's systems, without the headroom row."""
        return [names for names in self.rows if names[0] == dataset and names[1] != HEADROOM]

    @property
    def evaluators(self) -> list[str]:
        return [one for one in EVALUATORS if one in self.columns]


def decimals_of(printed: Decimal) -> int:
    exponent = printed.as_tuple().exponent
    return -exponent if isinstance(exponent, int) else 0


@cache
def published_table(number: int) -> PublishedTable:
    """Raises FileNotFoundError if the table contains no figures."""
    head, *lines = _lines(number)
    n_names = sum(1 for column in head if column in NAME_HEADS)
    columns = tuple(head[n_names:])
    rows = {
        tuple(line[:n_names]): {
            column: Decimal(cell) for column, cell in zip(columns, line[n_names:], strict=True) if cell
        }
        for line in lines
    }
    return PublishedTable(tuple(head[:n_names]), columns, rows)


@cache
def published_words(number: int) -> Mapping[str, Mapping[str, str]]:
    """Reads a table of words, such as Table 2. Maps each row's first cell to its other cells, by column."""
    head, *lines = _lines(number)
    return {line[0]: dict(zip(head[1:], line[1:], strict=True)) for line in lines}


def _lines(number: int) -> list[list[str]]:
    place = files(__package__).joinpath("published", f"vwc-table-{number}.csv")
    return list(csv.reader(place.read_text(encoding="utf-8").splitlines()))
