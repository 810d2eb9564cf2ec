"""Reads any labelled data set as labelled claims, for verifiers and audits.

A label of 1 means attributable, that is, fully supported, as in LLM-AggreFact (arXiv 2404.10774). Partially supported
claims are labelled 0. Irrelevant facts and claims without a judgement are skipped.

Some data sets are published without their documents, such as TofuEval's dialogues and RefChecker's contexts. Documents
are read from JSON Lines, CSV or a JSON array. Each row has an `id` (or `doc_id`) and a `document` (or `text`,
`context`, `source`), which is a string or a list of strings. Dialogues may instead have `utt` and `speaker`, two lists
of the same length, as in MediaSum. We could not obtain the files that upstream provides only on request, so other
layouts are not supported.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Protocol, runtime_checkable

from factloop.core.errors import ConfigError, DataError
from factloop.core.files.rows import Row
from factloop.core.files.tables import read_rows
from factloop.core.records import Record
from factloop.evaluation.datasets.mapping import LabelledClaim
from factloop.evaluation.datasets.registry import find_dataset, load_part

_IDS = ("id", "doc_id")
_TEXTS = ("document", "text", "context", "source")


@runtime_checkable
class LabelledItem(Protocol):
    def labelled_claims(self) -> Iterator[LabelledClaim]: ...


def labelled_claims(name: str, part: str, place: str | Path) -> Iterator[LabelledClaim]:
    """Loads one part from its folder or from a single file. Raises ConfigError if the name is unknown or the data set
    has no labelled claims. Raises DataError during iteration if a row is malformed."""
    task = find_dataset(name).task
    for item in load_part(name, part, place):
        for claim in claims_of(item):
            yield claim.model_copy(update={"dataset": claim.dataset or name, "task": task})


def claims_of(item: Record) -> Iterator[LabelledClaim]:
    """Raises ConfigError if items of this type have no labelled claims."""
    if not isinstance(item, LabelledItem):
        raise ConfigError(f"items of type {type(item).__name__} have no labelled claims; use another data set")
    return item.labelled_claims()


def load_documents(place: str | Path) -> dict[str, str]:
    """Maps document ids to texts. Raises DataError if a row has no id or no text, or if an id is repeated."""
    found: dict[str, str] = {}
    for row in read_rows(place):
        name = next((str(row.fields[one]) for one in _IDS if row.fields.get(one) not in (None, "")), None)
        if name is None:
            raise row.error("must be set", _IDS[0])
        if name in found:
            raise row.error(f"another row has the same id, {name[:40]!r}", _IDS[0])
        found[name] = _text(row)
    return found


def with_documents(claims: Iterator[LabelledClaim], documents: Mapping[str, str]) -> Iterator[LabelledClaim]:
    """Adds the document that each claim refers to, unless it already has one. Raises DataError during iteration if a
    document is missing."""
    for claim in claims:
        if claim.document is not None:
            yield claim
            continue
        text = documents.get(claim.document_id or "")
        if text is None:
            raise DataError(f"document {claim.document_id!r}, which claim {claim.id!r} needs, is missing; add it")
        yield claim.model_copy(update={"document": text})


def _text(row: Row) -> str:
    if "utt" in row.fields:
        return _dialogue(row)
    for name in _TEXTS:
        value = row.fields.get(name)
        if isinstance(value, str):
            return value
        if isinstance(value, list):
            return "\n".join(map(str, value))
    raise row.error("must be set", _TEXTS[0])


def _dialogue(row: Row) -> str:
    turns, speakers = row.fields["utt"], row.fields.get("speaker")
    if not isinstance(turns, list) or not isinstance(speakers, list) or len(turns) != len(speakers):
        raise row.error("`utt` and `speaker` must be lists of the same length", "utt")
    return "\n".join(f"{speaker}: {turn}" for speaker, turn in zip(speakers, turns, strict=True))
