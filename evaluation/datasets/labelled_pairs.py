"""Data sets of claims, each with the text that it was judged by: WiCE, Factcheck-GPT and LLM-AggreFact."""

from __future__ import annotations

from collections.abc import Iterator
from enum import StrEnum
from pathlib import Path
from typing import Literal

from factloop.core.files.rows import NotBlank, Row
from factloop.core.files.tables import TableItem, files_of, load_items
from factloop.evaluation.datasets.mapping import BinaryLabel, LabelledClaim


class WiceLabel(StrEnum):
    SUPPORTED = "supported"
    PARTIALLY_SUPPORTED = "partially_supported"
    NOT_SUPPORTED = "not_supported"


class WiceClaim(TableItem):
    claim: NotBlank
    evidence: tuple[str, ...]
    """Up to 2,417 sentences; some are blank."""
    label: WiceLabel

    def labelled_claims(self) -> Iterator[LabelledClaim]:
        """1 for a claim that is supported as a whole, as LLM-AggreFact counts it."""
        label: Literal[0, 1] = 1 if self.label is WiceLabel.SUPPORTED else 0
        yield LabelledClaim(id=self.id, claim=self.claim, document="\n".join(self.evidence), label=label)


def load_wice(place: str | Path) -> Iterator[WiceClaim]:
    """Sentences of Wikipedia against the articles they cite (Kamoi et al. 2023, arXiv 2303.01432).

    JSON Lines: `claim`, `evidence`, `label`, and `id`, which the published files keep under `meta`. Raises DataError,
    when it gets there, for a malformed row. So do the other loaders.
    """
    return load_items([place], WiceClaim, _with_id)


def _with_id(row: Row) -> tuple[Row]:
    meta = row.fields.get("meta")
    known = meta.get("id") if isinstance(meta, dict) else None
    return (row.renamed({"id": known, **row.fields}, {}),)


class Stance(StrEnum):
    COMPLETELY_SUPPORT = "completely-support"
    PARTIALLY_SUPPORT = "partially-support"
    REFUTE = "refute"
    IRRELEVANT = "irrelevant"


class JudgedEvidence(TableItem):
    claim: NotBlank
    evidence: str
    label: Stance

    def labelled_claims(self) -> Iterator[LabelledClaim]:
        label: Literal[0, 1] = 1 if self.label is Stance.COMPLETELY_SUPPORT else 0
        yield LabelledClaim(id=self.id, system="ChatGPT", claim=self.claim, document=self.evidence, label=label)


def load_stance(place: str | Path) -> Iterator[JudgedEvidence]:
    """Factcheck-GPT: the stance of evidence towards claims of ChatGPT's answers (Wang et al. 2024, arXiv 2311.09000).

    JSON Lines: `claim`, `evidence`, and `label`, or `stance` as published. A few pairs occur twice, with labels that
    disagree.
    """
    return load_items([place], JudgedEvidence, _with_label)


def _with_label(row: Row) -> tuple[Row]:
    if "stance" not in row.fields:
        return (row,)
    return (row.renamed({**row.fields, "label": row.fields["stance"]}, {"label": "stance"}),)


class AggreFactClaim(TableItem):
    """The id is the number of the row, after the name of the file where there are several: upstream gives none."""

    dataset: NotBlank
    doc: str
    claim: NotBlank
    label: BinaryLabel

    def labelled_claims(self) -> Iterator[LabelledClaim]:
        yield LabelledClaim(id=self.id, dataset=self.dataset, claim=self.claim, document=self.doc, label=self.label)


def load_llm_aggrefact(place: str | Path) -> Iterator[AggreFactClaim]:
    """LLM-AggreFact: claims of many data sets (Tang, Laban and Durrett 2024, arXiv 2404.10774).

    One file, or all files of a folder, in Parquet as published, CSV or JSON Lines: `dataset`, `doc`, `claim`, `label`.
    """
    files = files_of(place, "*.parquet", "*.csv", "*.jsonl")
    return load_items(files, AggreFactClaim, _named_by_file if len(files) > 1 else None)


def _named_by_file(row: Row) -> tuple[Row]:
    return (row.renamed({"id": f"{Path(row.path).stem}/{row.line}", **row.fields}, {}),)
