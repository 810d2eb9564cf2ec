"""Reads any JSON Lines, CSV, Parquet or JSON array as factloop's records, by a mapping of columns to fields."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from functools import lru_cache
from itertools import takewhile
from pathlib import Path
from typing import Annotated, Any, Literal, TypeVar

from pydantic import BeforeValidator, Field

from factloop.core.errors import DataError
from factloop.core.files.rows import Identifier, NotBlank, Row
from factloop.core.files.tables import TableItem, read_rows
from factloop.core.records import Record

T = TypeVar("T", bound=TableItem)

UNKNOWN_SYSTEM = "unknown"
"""Of claims whose system is not known: audits leave them out of all that is taken by system."""


_SPELLED: dict[str, Literal[0, 1]] = {"0": 0, "1": 1}


def binary_label(value: Any) -> Literal[0, 1]:
    """0 or 1, as a whole number or, as CSV has it, as a text. Raises ValueError for everything else."""
    text = str(value).strip() if type(value) in (int, str) else ""
    if text not in _SPELLED:
        raise ValueError("a label is 0 or 1")
    return _SPELLED[text]


BinaryLabel = Annotated[Literal[0, 1], BeforeValidator(binary_label)]
"""1 where the claim is attributable (supported, consistent), 0 where it is not."""


class LabelledClaim(TableItem):
    """A claim that people judged, with the text it was judged against where there is one."""

    dataset: str = ""
    system: str = ""
    """The system that made the claim."""
    response_id: Identifier | None = None
    prompt_id: Identifier | None = None
    task: str | None = None
    claim: NotBlank
    document: str | None = None
    document_id: Identifier | None = None
    """Its document's id, where upstream keeps documents apart from claims."""
    label: BinaryLabel

    def labelled_claims(self) -> Iterator[LabelledClaim]:
        """The claim itself, as an item of a data set."""
        yield self


class ColumnMapping(Record):
    """A mapping of a record's fields to a file's columns. A field that is not named stands under its own name."""

    columns: Mapping[str, str] = Field(default_factory=dict)
    """Field of the record to column of the file."""
    labels: Mapping[str, int] = Field(default_factory=dict)
    """What the file calls the labels, as text, to 0 or 1; without it the file has 0 and 1 itself."""
    constants: Mapping[str, str] = Field(default_factory=dict)
    """Fields that are the same in all rows, such as `dataset`."""
    label_field: str = "label"


def load_mapped(place: str | Path, mapping: ColumnMapping, kind: type[T]) -> Iterator[T]:
    """The rows as records of `kind`, one at a time, such as `LabelledClaim`; ids default to the number of the line.

    Raises DataError, when it gets there, naming the file's own column: for one that the mapping names and the file
    lacks, a value that does not fit, a label that the mapping does not know, and an id that came before.
    """
    return (item for _, item in placed_items(place, mapping, kind))


def placed_items(
    place: str | Path, mapping: ColumnMapping, kind: type[T], *, refuses_misspelt: bool = False
) -> Iterator[tuple[Row, T]]:
    """Loads as `load_mapped`, each item with the row that it was made of, for loaders that look at several rows."""
    strangers = {*mapping.columns, *mapping.constants} - set(kind.model_fields)
    if strangers:
        raise DataError(f"{kind.__name__} has no field {sorted(strangers)[0]!r}")
    ids: dict[str, int] = {}
    for found in read_rows(place):
        if refuses_misspelt:
            refuse_misspelt(found, kind.model_fields)
        row = found.renamed(_renamed(found, mapping, kind), mapping.columns).numbered()
        item = row.read_as(kind)
        first = ids.setdefault(item.id, row.line)
        if first != row.line:
            raise row.error(f"line {first} has the same id, {item.id!r}", "id")
        yield row, item


def _renamed(row: Row, mapping: ColumnMapping, kind: type[TableItem]) -> dict[str, Any]:
    fields: dict[str, Any] = dict(mapping.constants)
    for name in kind.model_fields:
        column = mapping.columns.get(name, name)
        if column in row.fields and name not in mapping.constants:
            fields[name] = row.fields[column]
        elif name in mapping.columns:
            raise row.error("it is missing", column)
    if mapping.labels and mapping.label_field in fields:
        fields[mapping.label_field] = _label(row, mapping, fields[mapping.label_field])
    return fields


def _label(row: Row, mapping: ColumnMapping, value: object) -> int:
    text = value if isinstance(value, str) else str(value)
    if text not in mapping.labels:
        known = ", ".join(sorted(mapping.labels))
        column = mapping.columns.get(mapping.label_field, mapping.label_field)
        raise row.error(f"the mapping has the labels {known}, but not {text[:40]!r}", column)
    return mapping.labels[text]


_SEPARATOR = re.compile(r"[^a-z0-9]+")


def refuse_misspelt(row: Row, known: Collection[str]) -> None:
    """Raises DataError for a column that is spelt nearly as a known one which the row has not."""
    for name in row.fields:
        for near in sorted(known):
            if name not in known and near not in row.fields and _is_near(name, near):
                raise row.error(f"there is no such column; did you mean {near!r}? Rename it, or leave it out", name)


@lru_cache(maxsize=1024)
def _is_near(name: str, known: str) -> bool:
    """Whether the letters are the same but for one that is missing or too many, or two that are swapped.

    A wrong letter mostly makes another word: *store* is no *score*.
    """
    letters, wanted = (_SEPARATOR.sub("", one.lower()) for one in (name, known))
    for _ in range(2):  # cuts off the same start, and then, both turned, the same end
        n_same = len([*takewhile(lambda pair: pair[0] == pair[1], zip(letters, wanted, strict=False))])
        letters, wanted = letters[n_same:][::-1], wanted[n_same:][::-1]
    is_swapped = len(letters) == 2 and letters == wanted[::-1]
    return is_swapped or len(letters + wanted) == 0 or (len(letters + wanted) == 1 and not letters.isdigit())
