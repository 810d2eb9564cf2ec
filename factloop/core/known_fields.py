"""Refuses an unknown field and names the known ones, which pydantic does not."""

from __future__ import annotations

from collections.abc import Mapping
from difflib import get_close_matches

from pydantic import BaseModel, ValidationError
from pydantic_core import PydanticCustomError

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
