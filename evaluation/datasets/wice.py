"""WiCE: sentences of Wikipedia against the articles they cite (Kamoi et al. 2023, arXiv 2303.01432).

JSON Lines: `claim`, `evidence` (the article's sentences), `label`, `supporting_sentences`, and `id`, which the
published files keep under `meta`.
"""

from __future__ import annotations

from collections.abc import Iterator
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from factloop.core.files.rows import NotBlank, Row
from factloop.core.files.tables import TableItem, load_items
from factloop.evaluation.datasets.mapping import LabelledClaim


class WiceLabel(StrEnum):
    SUPPORTED = "supported"
    PARTIALLY_SUPPORTED = "partially_supported"
    NOT_SUPPORTED = "not_supported"


class WiceClaim(TableItem):
    claim: NotBlank
    evidence: tuple[str, ...]
    """Up to 2,417 sentences; some are blank."""
    label: WiceLabel
    supporting_sentences: tuple[tuple[Annotated[int, Field(ge=0, strict=True)], ...], ...]
    """Sets of places in `evidence`, each of which suffices. Some claims that are not supported have them too."""

    @model_validator(mode="after")
    def _points_into_the_evidence(self) -> Self:
        last = max((place for places in self.supporting_sentences for place in places), default=-1)
        if last >= len(self.evidence):
            raise ValueError(f"supporting_sentences names sentence {last} of {len(self.evidence)}")
        return self

    @property
    def attributable(self) -> Literal[0, 1]:
        """1 for a claim that is supported as a whole, as LLM-AggreFact counts it."""
        return 1 if self.label is WiceLabel.SUPPORTED else 0

    def labelled_claims(self) -> Iterator[LabelledClaim]:
        yield LabelledClaim(id=self.id, claim=self.claim, document="\n".join(self.evidence), label=self.attributable)


def load_wice(place: str | Path) -> Iterator[WiceClaim]:
    """The claims, one at a time. Raises DataError, when it gets there, for a malformed row."""
    return load_items([place], WiceClaim, _with_id)


def _with_id(row: Row) -> tuple[Row]:
    meta = row.fields.get("meta")
    known = meta.get("id") if isinstance(meta, dict) else None
    return (row.renamed({"id": known, **row.fields}, {}),)
