"""The items of every labelled data set as claims with a label, which verifiers score and the audit reads.

1 is attributable: wholly supported, as LLM-AggreFact counts (arXiv 2404.10774); partial support is 0. What has no such
label (irrelevant facts, claims without a judgement) is passed over.

Some data sets publish claims without documents, such as TofuEval's dialogues and RefChecker's contexts. Those come from
a file of JSON Lines, CSV or a JSON array with `id` (or `doc_id`) and `document` (or `text`, `context`, `source`), a
text or a list of texts; dialogues may stand as `utt` with `speaker`, lists of the same length, as MediaSum has them.
None of the files that upstream hands out could be seen: what fits one of these is read, all else refused by name.
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
    """An item with labels."""

    def labelled_claims(self) -> Iterator[LabelledClaim]:
        """The labelled claims that it holds."""
        ...


def labelled_claims(name: str, part: str, place: str | Path) -> Iterator[LabelledClaim]:
    """The claims of one part, from its folder or from one file, one at a time.

    Raises ConfigError for an unknown name and for a data set without labelled claims, and DataError, when it gets
    there, for a malformed row.
    """
    task = find_dataset(name).task
    for item in load_part(name, part, place):
        for claim in claims_of(item):
            yield claim.model_copy(update={"dataset": claim.dataset or name, "task": task})


def claims_of(item: Record) -> Iterator[LabelledClaim]:
    """The labelled claims that an item holds. Raises ConfigError for a kind of item that holds none."""
    if not isinstance(item, LabelledItem):
        raise ConfigError(f"a {type(item).__name__} holds no labelled claim")
    return item.labelled_claims()


def load_documents(place: str | Path) -> dict[str, str]:
    """Document id to its text. Raises DataError for a row without either, and for an id that came before."""
    found: dict[str, str] = {}
    for row in read_rows(place):
        name = next((str(row.fields[one]) for one in _IDS if row.fields.get(one) not in (None, "")), None)
        if name is None:
            raise row.error("it is missing", _IDS[0])
        if name in found:
            raise row.error(f"another row has the same, {name[:40]!r}", _IDS[0])
        found[name] = _text(row)
    return found


def with_documents(claims: Iterator[LabelledClaim], documents: Mapping[str, str]) -> Iterator[LabelledClaim]:
    """The claims with the documents that they name; one that has its own keeps it.

    Raises DataError, when it gets there, for a claim whose document is not among them.
    """
    for claim in claims:
        if claim.document is not None:
            yield claim
            continue
        text = documents.get(claim.document_id or "")
        if text is None:
            raise DataError(f"claim {claim.id!r} needs the document {claim.document_id!r}, which is missing")
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
    raise row.error("it is missing", _TEXTS[0])


def _dialogue(row: Row) -> str:
    turns, speakers = row.fields["utt"], row.fields.get("speaker")
    if not isinstance(turns, list) or not isinstance(speakers, list) or len(turns) != len(speakers):
        raise row.error("turns and speakers must be lists of the same length", "utt")
    return "\n".join(f"{speaker}: {turn}" for speaker, turn in zip(speakers, turns, strict=True))
