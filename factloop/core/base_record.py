"""The base of all records, and the numbers that they are made of."""

from __future__ import annotations

import re
from collections.abc import Mapping
from difflib import get_close_matches
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator
from pydantic_core import PydanticCustomError

Share = Annotated[float, Field(ge=0.0, le=1.0)]
Count = Annotated[int, Field(ge=0)]
NonNegative = Annotated[float, Field(ge=0.0)]

_SURROGATE = re.compile("[\ud800-\udfff]")


class Record(BaseModel):
    """Base of all records: immutable, and unknown fields are refused."""

    # Built when first used: an import of all records took a third of a second, and a process uses few of them.
    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)

    @model_validator(mode="before")
    @classmethod
    def _holds_whole_characters(cls, fields: Any) -> Any:
        """Half a character (a lone surrogate: a site cut an emoji in two) becomes U+FFFD, as no file can hold it."""
        if not isinstance(fields, dict):
            return fields
        for value in fields.values():  # nearly always there is nothing to mend, and nothing to copy
            if isinstance(value, str) and not value.isascii():
                return {name: whole(text) if isinstance(text, str) else text for name, text in fields.items()}
        return fields


def whole(text: str) -> str:
    """The text with each half of a character replaced."""
    return text if text.isascii() else _SURROGATE.sub("\ufffd", text)


_LONGEST_NAME = 100
"""Characters of a name that are compared with others."""


def refuse_unknown(model: type[BaseModel], data: object) -> None:
    """Raises pydantic's ValidationError for the first field of `data` that `model` does not have."""
    strange = [name for name in data if name not in model.model_fields] if isinstance(data, Mapping) else []
    if not strange:
        return
    near = get_close_matches(str(strange[0])[:_LONGEST_NAME], model.model_fields, n=1)
    words = {"is_it": "".join(f"is it {name!r}? " for name in near), "known": ", ".join(model.model_fields)}
    wrong = PydanticCustomError("extra_forbidden", "there is no such field; {is_it}known are {known}", words)
    raise ValidationError.from_exception_data(model.__name__, [{"type": wrong, "loc": (strange[0],), "input": None}])
