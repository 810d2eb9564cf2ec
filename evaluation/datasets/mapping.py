"""Reads JSON Lines, CSV, Parquet or a JSON array into records. A mapping assigns columns to fields."""

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
from factloop.core.records import Count, Record

T = TypeVar("T", bound=TableItem)

Spans = tuple[tuple[Count, Count], ...]
"""The start and end of each span, in characters."""
UNKNOWN_SYSTEM = "unknown"
"""Audits exclude this system's claims from all per-system figures."""


_SPELLED: dict[str, Literal[0, 1]] = {"0": 0, "1": 1}


def binary_label(value: Any) -> Literal[0, 1]:
    """Parses a label of 0 or 1, given as an integer or as text. Raises ValueError for anything else."""
    text = str(value).strip() if type(value) in (int, str) else ""
    if text not in _SPELLED:
        raise ValueError("a label must be 0 or 1")
    return _SPELLED[text]


BinaryLabel = Annotated[Literal[0, 1], BeforeValidator(binary_label)]
"""1 if the claim is attributable (supported, consistent), otherwise 0."""


MaybeName = Annotated[
    Identifier | None, BeforeValidator(lambda given: None if isinstance(given, str) and not given.strip() else given)
]
"""Blank text, as in an empty CSV cell, becomes None."""


def _one_text(given: Any) -> Any:
    is_texts = isinstance(given, list) and all(isinstance(one, str) for one in given)
    return "\n".join(given) if is_texts else given


class ClaimRow(TableItem):
    dataset: str = ""
    system: str = ""
    response_id: MaybeName = None
    prompt_id: MaybeName = None
    task: MaybeName = None
    claim: NotBlank


class LabelledClaim(ClaimRow):
    """A claim with a human label and, if available, the text that it was judged against."""

    document: Annotated[str | None, BeforeValidator(_one_text)] = None
    document_id: Identifier | None = None
    label: BinaryLabel
    marked: Spans | None = None
    """The spans that annotators marked as not supported by the document. None if spans were not marked at all."""

    def labelled_claims(self) -> Iterator[LabelledClaim]:
        yield self


class ColumnMapping(Record):
    """Maps a record's fields to a file's columns. Fields without an entry use their own names."""

    columns: Mapping[str, str] = Field(default_factory=dict)
    """Maps fields to columns. `stance|label` is the first of these columns that a row has, and `meta.id` is a field
    inside an object."""
    labels: Mapping[str, int] = Field(default_factory=dict)
    """Maps the file's labels, as text, to 0 or 1. If empty, the file must use 0 and 1."""
    constants: Mapping[str, str] = Field(default_factory=dict)
    """Fields that have the same value in all rows, such as `dataset`."""
    label_field: str = "label"


def load_mapped(place: str | Path, mapping: ColumnMapping, kind: type[T]) -> Iterator[T]:
    """Yields the rows as records of `kind`, such as `LabelledClaim`. Ids default to line numbers.

    Raises DataError during iteration if a mapped column is missing, a value is invalid, a label is not mapped, or an id
    is repeated. The error gives the column's name in the file.
    """
    return (item for _, item in placed_items(place, mapping, kind))


def placed_items(
    place: str | Path, mapping: ColumnMapping, kind: type[T], *, refuses_misspelt: bool = False
) -> Iterator[tuple[Row, T]]:
    strangers = {*mapping.columns, *mapping.constants} - set(kind.model_fields)
    if strangers:
        raise DataError(f"cannot map columns to {sorted(strangers)[0]!r}: {kind.__name__} has no such field")
    ids: dict[str, int] = {}
    for found in read_rows(place):
        if refuses_misspelt:
            refuse_misspelt(found, kind.model_fields)
        fields = _renamed(found, mapping, kind)
        row = found.renamed(fields, {name: _column(found, mapping, name) for name in mapping.columns}).numbered()
        item = row.read_as(kind)
        first = ids.setdefault(item.id, row.line)
        if first != row.line:
            raise row.error(f"line {first} has the same id, {item.id!r}", "id")
        yield row, item


def _renamed(row: Row, mapping: ColumnMapping, kind: type[TableItem]) -> dict[str, Any]:
    fields: dict[str, Any] = dict(mapping.constants)
    for name in kind.model_fields:
        found = _found(row.fields, mapping.columns.get(name, name))
        if found is not None and name not in mapping.constants:
            fields[name] = found[0]
        elif name in mapping.columns:
            raise row.error("there is no such column", mapping.columns[name])
    if mapping.labels and mapping.label_field in fields:
        fields[mapping.label_field] = _label(row, mapping, fields[mapping.label_field])
    return fields


def _found(fields: Mapping[str, Any], column: str) -> tuple[Any] | None:
    """Returns the column's value, which may be None, in a tuple. Returns None if there is no such column."""
    if column in fields:
        return (fields[column],)
    for one in column.split("|"):
        outer, dot, inner = one.partition(".")
        place = fields.get(outer) if dot else fields
        if isinstance(place, Mapping) and (inner or one) in place:
            return (place[inner or one],)
    return None


def _column(row: Row, mapping: ColumnMapping, field: str) -> str:
    column = mapping.columns.get(field, field)
    return next((one for one in column.split("|") if one in row.fields), column)


def _label(row: Row, mapping: ColumnMapping, value: object) -> int:
    text = value if isinstance(value, str) else str(value)
    if text not in mapping.labels:
        known = ", ".join(sorted(mapping.labels))
        column = _column(row, mapping, mapping.label_field)
        raise row.error(f"add {text[:40]!r} to the mapping, which contains only the labels {known}", column)
    return mapping.labels[text]


_SEPARATOR = re.compile(r"[^a-z0-9]+")


def refuse_misspelt(row: Row, known: Collection[str]) -> None:
    """Raises DataError if a column's name looks like a misspelling of a known column that the row lacks."""
    for name in row.fields:
        for near in sorted(known):
            if name not in known and near not in row.fields and _is_near(name, near):
                raise row.error(f"there is no such column; did you mean {near!r}? Rename or remove the column", name)


@lru_cache(maxsize=1024)
def _is_near(name: str, known: str) -> bool:
    """Whether the names, ignoring case and punctuation, are equal or differ only by one missing or extra letter, or by
    two swapped letters. A single wrong letter does not count, because it usually makes a different word (*store*
    instead of *score*)."""
    letters, wanted = (_SEPARATOR.sub("", one.lower()) for one in (name, known))
    for _ in range(2):  # removes the common prefix and then, with both reversed, the common suffix
        n_same = len([*takewhile(lambda pair: pair[0] == pair[1], zip(letters, wanted, strict=False))])
        letters, wanted = letters[n_same:][::-1], wanted[n_same:][::-1]
    is_swapped = len(letters) == 2 and letters == wanted[::-1]
    return is_swapped or len(letters + wanted) == 0 or (len(letters + wanted) == 1 and not letters.isdigit())
