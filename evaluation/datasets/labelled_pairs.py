"""Loads LLM-AggreFact and RAGTruth: claims together with the texts that they were judged against."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any

from factloop.core.files.rows import Identifier, NotBlank, Row
from factloop.core.files.tables import TableItem, files_of, load_items, read_rows
from factloop.evaluation.datasets.mapping import LabelledClaim, Spans
from factloop.tools.text.sentences import split_sentences


def load_llm_aggrefact(place: str | Path) -> Iterator[LabelledClaim]:
    """Loads LLM-AggreFact, which combines claims from many data sets (Tang, Laban and Durrett 2024, arXiv 2404.10774).

    Reads one file, or all files in a folder, in Parquet (as published), CSV or JSON Lines. The columns are `dataset`,
    `doc`, `claim` and `label`. Upstream provides no ids, so the id is the row number, preceded by the file name if
    there are several files.
    """
    files = files_of(place, "*.parquet", "*.csv", "*.jsonl")
    return load_items(files, LabelledClaim, partial(_with_document, len(files) > 1))


def _with_document(is_named_by_file: bool, row: Row) -> tuple[Row]:
    for name in ("dataset", "doc"):
        if not isinstance(row.fields.get(name), str) or (name == "dataset" and not row.fields[name].strip()):
            raise row.error("must be a string", name)
    named = {"id": f"{Path(row.path).stem}/{row.line}"} if is_named_by_file else {}
    return (row.renamed({**named, **row.fields, "document": row.fields.get("doc")}, {"document": "doc"}),)


class RagTruthResponse(TableItem):
    source_id: Identifier
    model: NotBlank
    response: str
    marked: Spans
    """The start and end of each span that the source does not support, whether true or not."""
    task_type: NotBlank
    document: str

    def labelled_claims(self) -> Iterator[LabelledClaim]:
        """Yields each sentence as a claim, which is attributable if no part of the sentence is marked."""
        for place, one in enumerate(split_sentences(self.response)):
            inside = [(max(start, one.start), min(end, one.end)) for start, end in self.marked]
            marked = tuple((start - one.start, end - one.start) for start, end in inside if start < end)
            yield LabelledClaim(
                id=f"{self.id}/{place}",
                dataset=f"RAGTruth {self.task_type}",
                system=self.model,
                response_id=self.id,
                prompt_id=self.source_id,
                claim=one.text,
                document=self.document,
                document_id=self.source_id,
                label=0 if marked else 1,
                marked=marked,
            )


def load_ragtruth(place: str | Path, split: str) -> Iterator[RagTruthResponse]:
    """Loads RAGTruth: six models' responses to source texts, with marked spans (Niu et al. 2024, arXiv 2401.00396).

    Reads the published folder with `response.jsonl` and `source_info.jsonl`. Like the published evaluation, it skips
    responses whose `quality` is not `good`: truncated ones and unjustified refusals.
    """
    sources = {row.fields.get("source_id"): row.fields for row in read_rows(Path(place) / "source_info.jsonl")}
    return load_items([Path(place) / "response.jsonl"], RagTruthResponse, partial(_with_source, sources, split))


def _with_source(sources: Mapping[Any, Mapping[str, Any]], split: str, row: Row) -> tuple[Row, ...]:
    fields, source = row.fields, sources.get(row.fields.get("source_id"))
    if (fields.get("split"), fields.get("quality")) != (split, "good"):
        return ()
    if source is None:
        raise row.error("source_info.jsonl does not contain this source", "source_id")
    info = source.get("source_info")
    text = info.get("passages", info) if isinstance(info, dict) else info
    shown = text if isinstance(text, str) else json.dumps(text, ensure_ascii=False)
    marked = [(one.get("start"), one.get("end")) for one in fields.get("labels") or ()]
    found = {**fields, "marked": marked, "task_type": source.get("task_type"), "document": shown}
    return (row.renamed(found, {"marked": "labels"}),)


load_ragtruth_train, load_ragtruth_test = (partial(load_ragtruth, split=one) for one in ("train", "test"))
