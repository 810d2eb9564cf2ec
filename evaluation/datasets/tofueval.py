"""TofuEval: sentences of topic-focused dialogue summaries, judged by linguists (Tang et al. 2024, arXiv 2402.13249).

Two layouts are read: the published CSV (`model_name`, `summ_sent`, `sent_label` yes or no), and JSON Lines (`system`,
`sentence`, `label` 1 or 0). The dialogues themselves are in neither.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Annotated

from pydantic import Field

from factloop.core.files.rows import Identifier, NotBlank, Row, shown
from factloop.core.files.tables import TableItem, load_items
from factloop.evaluation.datasets.mapping import BinaryLabel, LabelledClaim

_OUR_NAMES = {"model_name": "system", "summ_sent": "sentence"}
_SENTENCE_LABELS = {"yes": 1, "no": 0}


class TofuEvalSentence(TableItem):
    doc_id: Identifier
    topic: NotBlank
    system: NotBlank
    sent_idx: Annotated[int, Field(ge=1)]
    sentence: NotBlank
    label: BinaryLabel
    """1 where the sentence is consistent with the dialogue, 0 where it holds an error."""

    @property
    def response(self) -> tuple[str, str, str]:
        """The summary that the sentence is from: dialogue, topic and system."""
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
    """The sentences, one at a time. Raises DataError, when it gets there, for a malformed row."""
    return load_items([place], TofuEvalSentence, _rename_fields)


def _rename_fields(row: Row) -> tuple[Row]:
    if "sent_label" not in row.fields:
        return (row,)
    fields = {_OUR_NAMES.get(name, name): value or None for name, value in row.fields.items()}
    label = fields["sent_label"]
    if not isinstance(label, str) or label not in _SENTENCE_LABELS:
        raise row.error(f"the labels are yes and no, not {shown(label)}", "sent_label")
    named = {**fields, "label": _SENTENCE_LABELS[label]}
    return (row.renamed(named, {ours: theirs for theirs, ours in _OUR_NAMES.items()}),)
