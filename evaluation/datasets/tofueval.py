"""Loads TofuEval: sentences from dialogue summaries, judged by linguists (Tang et al. 2024, arXiv 2402.13249).

The published layout is CSV (`model_name`, `summ_sent`, and a `sent_label` of yes or no). The other layout is JSON Lines
(`system`, `sentence`, and a `label` of 1 or 0). Neither contains the dialogues.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Annotated

from pydantic import Field

from factloop.core.files.rows import Identifier, NotBlank
from factloop.core.files.tables import TableItem
from factloop.evaluation.datasets.mapping import BinaryLabel, ColumnMapping, LabelledClaim, load_mapped

_LAYOUTS = ColumnMapping(
    columns={"system": "model_name|system", "sentence": "summ_sent|sentence", "label": "sent_label|label"},
    labels={"yes": 1, "no": 0, "1": 1, "0": 0},
)


class TofuEvalSentence(TableItem):
    doc_id: Identifier
    topic: NotBlank
    system: NotBlank
    sent_idx: Annotated[int, Field(ge=1)]
    sentence: NotBlank
    label: BinaryLabel
    """1 if the sentence is consistent with the dialogue, or 0 if it contains an error."""

    @property
    def response(self) -> tuple[str, str, str]:
        """The dialogue, topic and system, which identify the summary that contains the sentence."""
        return self.doc_id, self.topic, self.system

    def labelled_claims(self) -> Iterator[LabelledClaim]:
        yield LabelledClaim(
            id=self.id,
            system=self.system,
            response_id=f"{self.doc_id}/{self.topic}/{self.system}",
            prompt_id=f"{self.doc_id}/{self.topic}",
            claim=self.sentence,
            document_id=self.doc_id,
            label=self.label,
        )


def load_tofueval(place: str | Path) -> Iterator[TofuEvalSentence]:
    """Raises DataError during iteration if a row is malformed."""
    return load_mapped(place, _LAYOUTS, TofuEvalSentence)
