"""Reads responses to be scored. Each row has a `prompt`, a `response` and optional fields such as `documents`."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any

from langchain_core.documents import Document
from pydantic import BeforeValidator, ConfigDict

from factloop.core.files.lines import place_name
from factloop.core.files.rows import NotBlank, Row, shown
from factloop.core.files.tables import TableItem
from factloop.core.records import Record
from factloop.evaluation.datasets.mapping import ColumnMapping, MaybeName, placed_items

MaybeText = Annotated[str, BeforeValidator(lambda given: "" if given is None else given)]


class OwnDocument(Record):
    model_config = ConfigDict(extra="ignore")

    text: str
    title: MaybeText = ""
    source: MaybeText = ""
    """The document's name in evidence, such as its URL. It is never fetched."""

    def as_document(self) -> Document:
        named = {"source": self.source, "title": self.title}
        return Document(self.text, metadata={name: value for name, value in named.items() if value})


def _as_object(given: Any) -> Any:
    if isinstance(given, str):
        return {"text": given}
    if not isinstance(given, Mapping | OwnDocument):
        raise ValueError("must be a string or an object with `text`")
    return given


def _as_list(given: Any) -> Any:
    """Accepts one string as one document, and a blank string as no documents, because CSV cells may be empty."""
    if isinstance(given, str):
        return [given] if given.strip() else None
    if given is not None and not isinstance(given, list | tuple):
        raise ValueError("must be a list of strings or of objects with `text`")
    return given


MaybeDocuments = Annotated[
    tuple[Annotated[OwnDocument, BeforeValidator(_as_object)], ...] | None, BeforeValidator(_as_list)
]
"""Strings, or objects that have `text` and optionally `title` and `source`. None if the row has no documents."""


def _refuse_null(value: Any) -> Any:
    if value is None:
        raise ValueError("must be a string (empty if the system declined to answer)")
    return value


class GivenResponse(Record):
    """`response` is empty if the system declined to answer."""

    id: str
    system: str
    """Defaults to the name of the file."""
    prompt_id: str
    """Shared by all responses to a prompt. Defaults to a hash of the prompt."""
    prompt: str | None
    """None if the row says that there was no prompt. Every claim is then relevant."""
    response: str
    documents: tuple[OwnDocument, ...] | None = None
    """The only documents to judge the response against. Empty if nothing was retrieved."""


class _ResponseRow(TableItem):
    system: MaybeName = None
    prompt_id: MaybeName = None
    prompt: NotBlank | None
    response: Annotated[str, BeforeValidator(_refuse_null)]
    documents: MaybeDocuments = None


FIELDS = tuple(_ResponseRow.model_fields)


def load_responses(
    place: str | Path, mapping: ColumnMapping | None = None, warn: Callable[[str], None] | None = None
) -> Iterator[GivenResponse]:
    """Reads responses from a JSON Lines, CSV, Parquet or JSON file. `-` reads JSON Lines from standard input.

    `prompt` and `response` are required. `prompt` may be null, and a blank response is an abstention. `documents` are
    strings, or objects with `text` and optionally `title` and `source`. Other fields are ignored. Raises DataError
    during iteration if a row is malformed, if an id is repeated, if a system answers a prompt twice, or if only some
    rows name their system. `warn` is called once if two prompts have the same id.
    """
    mapping = mapping or ColumnMapping()
    lines: dict[tuple[str, str], int] = {}
    named, prompts = _NamedSystems(), _PromptTexts(warn)
    for row, item in placed_items(place, mapping, _ResponseRow):
        named.check(row, item)
        prompts.check(row, item)
        found = _with_defaults(row, item)
        first = lines.setdefault((found.system, found.prompt_id), row.line)
        if first != row.line:
            message = f"line {first} also answers this prompt; if {found.system!r} answers it repeatedly, each sample"
            raise row.error(f"{message} needs its own system", "system" if item.prompt_id is None else "prompt_id")
        yield found


@dataclass
class _NamedSystems:
    """Checks that all rows name their system or that none do, because a missing name defaults to the file name."""

    first: tuple[int, bool] | None = None

    def check(self, row: Row, item: _ResponseRow) -> None:
        is_named = item.system is not None
        line, first = self.first = self.first or (row.line, is_named)
        if is_named is not first:
            named, other = (f"line {line}", "this line") if first else ("this line", f"line {line}")
            said = f"{named} names its system, but {other} does not"
            raise row.error(f"{said}; set the system in every row or in none", "system")


@dataclass
class _PromptTexts:
    """Warns if two prompts have the same id, because responses to them would be compared."""

    warn: Callable[[str], None] | None
    first: dict[str, tuple[int, bytes]] = field(default_factory=dict)

    def check(self, row: Row, item: _ResponseRow) -> None:
        if self.warn is None or item.prompt_id is None or item.prompt is None:
            return
        told = hashlib.sha256(item.prompt.strip().encode()).digest()
        line, first = self.first.setdefault(item.prompt_id, (row.line, told))
        if told != first:
            self.warn(
                f"{row.path}:{row.line}: prompt_id {shown(item.prompt_id)} also belongs to another prompt, in line "
                f"{line}. Responses to both are compared as if they had the same prompt. Each prompt needs its own id"
            )
            self.warn = None


def _with_defaults(row: Row, item: _ResponseRow) -> GivenResponse:
    prompt_id = item.prompt_id
    if prompt_id is None:
        prompt_id = item.id if item.prompt is None else hashlib.sha256(item.prompt.encode()).hexdigest()[:16]
    said = item.response
    return GivenResponse(
        id=item.id,
        system=item.system or Path(place_name(row.path)).stem,
        prompt_id=prompt_id,
        prompt=item.prompt,
        response=said if said.strip() else "",
        documents=item.documents,
    )
