"""Long responses to be scored: `prompt` and `response`, with `id`, `system` and `prompt_id` where there are any."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any

from pydantic import BeforeValidator

from factloop.core.files.lines import place_name
from factloop.core.files.rows import Identifier, NotBlank, Row
from factloop.core.files.tables import TableItem
from factloop.core.records import Record
from factloop.evaluation.datasets.mapping import ColumnMapping, placed_items

MaybeName = Annotated[
    Identifier | None, BeforeValidator(lambda given: None if isinstance(given, str) and not given.strip() else given)
]
"""A name, which CSV may leave blank."""


def _refuse_null(value: Any) -> Any:
    if value is None:
        raise ValueError("a text is needed, which is empty where the system declined to answer")
    return value


class GivenResponse(Record):
    """A response to a prompt. Empty where the system declined to answer."""

    id: str
    system: str
    """The system that wrote it; the file's name where the rows do not say."""
    prompt_id: str
    """Responses to one prompt share it; a hash of the prompt where the rows do not say."""
    prompt: str | None
    """None where the row says that there was no prompt: then every claim is relevant."""
    response: str


class _ResponseRow(TableItem):
    system: MaybeName = None
    prompt_id: MaybeName = None
    prompt: NotBlank | None
    response: Annotated[str, BeforeValidator(_refuse_null)]


FIELDS = tuple(_ResponseRow.model_fields)


def load_responses(place: str | Path, mapping: ColumnMapping | None = None) -> Iterator[GivenResponse]:
    """The responses of a JSON Lines, CSV, Parquet or JSON file, one at a time; `-` is standard input, as JSON Lines.

    `prompt` and `response` must be there; `prompt` may be null, and a blank response is an abstention. Other fields are
    passed over. Raises DataError, when it gets there, for a malformed row, an id that came before, and a second answer of a
    system to a prompt.
    """
    mapping = mapping or ColumnMapping()
    lines: dict[tuple[str, str], int] = {}
    for row, item in placed_items(place, mapping, _ResponseRow):
        found = _with_defaults(row, item)
        first = lines.setdefault((found.system, found.prompt_id), row.line)
        if first != row.line:
            message = f"line {first} answers the same prompt, too; give each sample of {found.system!r} a system"
            raise row.error(f"{message} of its own", "system" if item.prompt_id is None else "prompt_id")
        yield found


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
    )
