"""Reads claim-document pairs from a file or a labelled data set, and validates them before any money is spent."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator
from pathlib import Path

from factloop.core.errors import DataError
from factloop.evaluation.datasets.labelled_claims import labelled_claims, load_documents, with_documents
from factloop.evaluation.datasets.mapping import UNKNOWN_SYSTEM, ColumnMapping, placed_items
from factloop.evaluation.running.run import Spool
from factloop.evaluation.verification.records import MarkedRow, PairRow, Prediction

PlacedRow = tuple[int | None, PairRow]
"""A row, preceded by the number of its first line (None if it does not come from a file)."""

_IN_ALL_OR_NONE = ("task", "prompt_id")


def load_pairs(place: str | Path, mapping: ColumnMapping | None = None) -> Iterator[PlacedRow]:
    """Reads a JSON Lines, CSV, Parquet or JSON file. `-` is standard input.

    Only `claim` is required, and unknown columns are ignored. Raises DataError during iteration if a row is invalid, or
    if the name of a column looks like a misspelled field.
    """
    for row, item in placed_items(place, mapping or ColumnMapping(), PairRow, refuses_misspelt=mapping is None):
        yield row.line, item


def load_dataset_pairs(
    name: str, part: str, place: str | Path, documents: str | Path | None = None
) -> Iterator[PlacedRow]:
    """Loads a labelled data set, taking documents from a file if the data set contains none. Raises anything that
    `labelled_claims`, `load_documents` and `with_documents` raise."""
    claims = labelled_claims(name, part, place)
    for claim in claims if documents is None else with_documents(claims, load_documents(documents)):
        yield None, MarkedRow.of(claim)


class PairSpool(Spool[Prediction]):
    def __init__(self, rows: Iterable[PlacedRow], *, path: str, default_dataset: str, limit: int | None = None) -> None:
        """Reads all rows and keeps the first `limit`.

        Raises DataError if there are no documents, or if the audit would later reject the input (two rows for the same
        claim, or a task or prompt in only some rows). Raises ConfigError if the disk is full.
        """
        self._path, self._dataset = path, default_dataset
        self.n_labelled = self.n_blank = self.n_unnamed = 0
        """Numbers of kept pairs with a label, without a document, and without a system."""
        self.left_out: set[bytes] = set()
        self._evaluators: dict[str, int | None] = {}
        """For each evaluator with scores in the input, the line of its first score."""
        self._first: Prediction | None = None
        checked = self._checked(rows, limit)
        super().__init__(checked, dump=to_line, load=Prediction.model_validate_json, limit=limit)

    def refuse_scored(self, columns: Iterable[str]) -> None:
        """Raises DataError if a row already has a score with one of these names."""
        for name in columns:
            if name in self._evaluators:
                line = self._evaluators[name]
                said = f"there are already scores by {name!r}; leave out this verifier"
                raise DataError(said, path=self._path, line=line, field="evaluators")

    def _checked(self, rows: Iterable[PlacedRow], limit: int | None) -> Iterator[Prediction]:
        known: dict[bytes, int | None] = {}
        for line, row in rows:
            pair = Prediction.of(row, default_dataset=self._dataset)
            key = key_of(pair)
            if key in known:
                message = f"line {known[key]} has the same id, {pair.claim_id!r}, in the same response"
                raise DataError(message, path=self._path, line=line, field="claim_id")
            known[key] = line
            self._look_at(line, pair)
            if limit is None or len(known) <= limit:
                self.n_labelled += pair.label is not None
                self.n_blank += not pair.document.strip()
                self.n_unnamed += pair.system == UNKNOWN_SYSTEM
            else:
                self.left_out.add(key)
            yield pair
        if not known:
            raise DataError("the file has no rows", path=self._path)
        if self.n_blank == len(known) - len(self.left_out):
            raise DataError("there are no documents to judge the claims against", path=self._path, field="document")

    def _look_at(self, line: int | None, pair: Prediction) -> None:
        self._first = self._first or pair
        for name in _IN_ALL_OR_NONE:
            if (getattr(pair, name) is None) != (getattr(self._first, name) is None):
                said = "must be set in every row or in none"
                raise DataError(said, path=self._path, line=line, field=name)
        for name in pair.evaluators:
            self._evaluators.setdefault(name, line)


def key_of(pair: Prediction) -> bytes:
    return hashlib.blake2b("\0".join(pair.key).encode(), digest_size=16).digest()


def to_line(pair: Prediction) -> bytes:
    """Returns a line of JSON. Empty fields are left out, and missing scores are null."""
    given = {name for name in type(pair).model_fields if getattr(pair, name) not in (None, {})}
    return pair.model_dump_json(include=given | {"evaluators"}).encode() + b"\n"
