"""`Row`: one row of a data set, with its location in the file."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Annotated, Any, TypeVar

from pydantic import AfterValidator, BaseModel, Field, ValidationError
from pydantic_core import ErrorDetails

from factloop.core.errors import DataError
from factloop.core.files.lines import read_given

R = TypeVar("R", bound=BaseModel)

_LONGEST_SHOWN = 40
_NAME = re.compile(r"[^.\[\]]+")  # A name in a path such as `responses[1].text`
_WORDS = {
    "string_type": "must be a string",
    "tuple_type": "must be a list",
    "model_type": "must be an object",
    "too_short": "must have at least one item",
}


def _not_blank(text: str) -> str:
    if not text.strip():
        raise ValueError("must be non-empty text")
    return text


NotBlank = Annotated[str, AfterValidator(_not_blank)]
Identifier = Annotated[str, Field(coerce_numbers_to_str=True), AfterValidator(_not_blank)]


@dataclass(frozen=True)
class Row:
    """The values of a row by field name. `line` is the number of the row's first line."""

    path: str
    line: int
    fields: Mapping[str, Any]
    file_names: Mapping[str, str] = field(default_factory=dict)
    """Maps renamed fields to the names in the file, which error messages use."""

    def renamed(self, fields: Mapping[str, Any], file_names: Mapping[str, str]) -> Row:
        return Row(self.path, self.line, fields, file_names)

    def read_as(self, kind: type[R]) -> R:
        """Converts the row to a record. Raises DataError for the first invalid field, such as `responses[1].text`."""
        try:
            return kind.model_validate(dict(self.fields))
        except ValidationError as error:
            first = error.errors(include_url=False)[0]
            parts = (f"[{part}]" if isinstance(part, int) else f".{part[:_LONGEST_SHOWN]}" for part in first["loc"])
            raise self.error(_reason(first), "".join(parts).removeprefix(".") or None) from error

    def numbered(self) -> Row:
        """The row itself, or a copy with the line number as `id` if it has no `id`."""
        given = self.fields.get("id")
        return self if given not in (None, "") else replace(self, fields={**self.fields, "id": str(self.line)})

    def error(self, message: str, field: str | None = None) -> DataError:
        named = _NAME.sub(lambda name: self.file_names.get(name[0], name[0]), field) if field else field
        return DataError(message, path=self.path, line=self.line, field=named)


def read_record(path: str | Path, kind: type[R], what: str, most: int = -1) -> R:
    """Reads a record from a JSON file named by the user. Raises DataError, whose message says `this is not {what}`."""
    try:
        return kind.model_validate_json(read_given(path, most))
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        field = ".".join(map(str, first["loc"])) or None
        raise DataError(f"this is not {what}: {first['msg']}", path=str(path), field=field) from error


def shown(value: object) -> str:
    """The value as JSON for use in messages. Shortens long values. Lists become `a list`, and mappings `an object`."""
    if isinstance(value, Mapping):
        return "an object"
    if isinstance(value, list | tuple):
        return "a list"
    text = json.dumps(value, ensure_ascii=False, default=lambda other: type(other).__name__)
    return text if len(text) <= _LONGEST_SHOWN else f"{text[:_LONGEST_SHOWN]}…"


def _reason(details: ErrorDetails) -> str:
    if details["type"] == "missing":
        return "must be set"
    cause = details.get("ctx", {}).get("error")
    said = str(cause) if isinstance(cause, ValueError) else _WORDS.get(details["type"], details["msg"])
    return f"{said}, not {shown(details['input'])}" if details["loc"] else said  # no location: several fields
