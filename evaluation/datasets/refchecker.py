"""Loads RefChecker: triplets extracted from responses and judged by annotators (Hu et al. 2024, arXiv 2405.14486).

The published layout has one folder per setting (`zero_context`, `noisy_context`, `accurate_context`). Each contains one
JSON array per system, in files such as `nq_gpt4_answers.json`. Each item has an `id`, a `response` and, in
`claude2_response_kg`, the triplets with their `human_label`.
"""

from __future__ import annotations

from collections.abc import Iterator
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import ConfigDict, Field

from factloop.core.files.rows import Identifier, NotBlank, Row
from factloop.core.files.tables import TableItem, files_of, load_items
from factloop.core.records import Record
from factloop.evaluation.datasets.mapping import LabelledClaim

_TRIPLETS = "claude2_response_kg"


class TripletLabel(StrEnum):
    ENTAILMENT = "Entailment"
    NEUTRAL = "Neutral"
    CONTRADICTION = "Contradiction"


class JudgedTriplet(Record):
    model_config = ConfigDict(extra="ignore")

    triplet: Annotated[tuple[str, ...], Field(min_length=3, max_length=3)]
    human_label: TripletLabel

    @property
    def claim(self) -> str:
        """The triplet's words, joined by spaces because upstream provides no sentence."""
        return " ".join(part.strip() for part in self.triplet)

    @property
    def attributable(self) -> Literal[0, 1]:
        """1 if the reference entails the triplet, or 0 if the triplet is neutral or contradicted."""
        return 1 if self.human_label is TripletLabel.ENTAILMENT else 0


class RefCheckerResponse(TableItem):
    """The id combines the setting, the system and the `prompt_id`."""

    setting: str
    """`zero_context`, `noisy_context` or `accurate_context`."""
    system: NotBlank
    prompt_id: Identifier
    response: str
    triplets: tuple[JudgedTriplet, ...]
    """Empty if the response makes no claims, which RefChecker counts as an abstention."""

    def labelled_claims(self) -> Iterator[LabelledClaim]:
        for place, triplet in enumerate(self.triplets):
            yield LabelledClaim(
                id=f"{self.id}/{place}",
                system=self.system,
                response_id=self.id,
                prompt_id=f"{self.setting}/{self.prompt_id}",
                claim=triplet.claim,
                document_id=self.prompt_id,
                label=triplet.attributable,
            )


def load_refchecker(place: str | Path) -> Iterator[RefCheckerResponse]:
    """Loads one file, or all files of a folder. Raises DataError during iteration if an item is malformed."""
    return load_items(files_of(place, "*_answers.json"), RefCheckerResponse, _rename_fields)


def _rename_fields(row: Row) -> tuple[Row]:
    path = Path(row.path)
    system = path.stem.removesuffix("_answers").partition("_")[2] or path.stem
    prompt, setting = row.fields.get("id"), path.parent.name
    fields: dict[str, Any] = {
        "id": f"{setting}/{system}/{prompt}",
        "setting": setting,
        "system": system,
        "prompt_id": prompt,
        "response": row.fields.get("response"),
        "triplets": row.fields.get(_TRIPLETS, ()),
    }
    return (row.renamed(fields, {"triplets": _TRIPLETS, "prompt_id": "id"}),)
