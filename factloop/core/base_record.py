"""The base of all records, and the numbers that they are made of."""

from __future__ import annotations

import re
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, model_validator

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
