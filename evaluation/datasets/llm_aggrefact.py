"""LLM-AggreFact: claims of many data sets, each with its document (Tang, Laban and Durrett 2024, arXiv 2404.10774).

Parquet as published, CSV or JSON Lines, with the columns `dataset`, `doc`, `claim`, `label` and
`contamination_identifier`.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from factloop.core.files.rows import NotBlank, Row
from factloop.core.files.tables import TableItem, files_of, load_items
from factloop.evaluation.datasets.labels import BinaryLabel
from factloop.evaluation.datasets.mapping import LabelledClaim


class AggreFactClaim(TableItem):
    """The id is the number of the row, after the name of the file where there are several: upstream gives none."""

    dataset: NotBlank
    doc: str
    claim: NotBlank
    label: BinaryLabel
    contamination_identifier: str = ""

    def labelled_claims(self) -> Iterator[LabelledClaim]:
        yield LabelledClaim(id=self.id, dataset=self.dataset, claim=self.claim, document=self.doc, label=self.label)


def load_llm_aggrefact(place: str | Path) -> Iterator[AggreFactClaim]:
    """The claims of one file, or of all files of a folder, one at a time.

    Raises DataError, when it gets there, for a malformed row.
    """
    files = files_of(place, "*.parquet", "*.csv", "*.jsonl")
    return load_items(files, AggreFactClaim, _named_by_file if len(files) > 1 else None)


def _named_by_file(row: Row) -> tuple[Row]:
    return (row.renamed({"id": f"{Path(row.path).stem}/{row.line}", **row.fields}, {}),)
