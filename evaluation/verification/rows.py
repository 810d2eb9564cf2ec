"""Pairs of claim and document, from any file or from a labelled data set."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from factloop.evaluation.datasets.documents import load_documents, with_documents
from factloop.evaluation.datasets.labelled_claims import labelled_claims
from factloop.evaluation.datasets.mapping import ColumnMapping, placed_items
from factloop.evaluation.verification.records import PairRow
from factloop.evaluation.verification.spool import PlacedRow


def load_pairs(place: str | Path, mapping: ColumnMapping | None = None) -> Iterator[PlacedRow]:
    """The rows of a JSON Lines, CSV, Parquet or JSON file, one at a time; `-` is standard input.

    Needed is `claim`; all other fields of `PairRow` may be missing, and other columns are passed over. Raises
    DataError, when it gets there, as `mapping.load_mapped`, and for a column that is spelt nearly as a field.
    """
    for row, item in placed_items(place, mapping or ColumnMapping(), PairRow, refuses_misspelt=mapping is None):
        yield row.line, item


def load_dataset_pairs(
    name: str, part: str, place: str | Path, documents: str | Path | None = None
) -> Iterator[PlacedRow]:
    """The claims of a labelled data set, with the documents of a file where it has none of its own.

    Raises as `labelled_claims`, `load_documents` and `with_documents`.
    """
    claims = labelled_claims(name, part, place)
    for claim in claims if documents is None else with_documents(claims, load_documents(documents)):
        yield None, PairRow.of(claim)
