"""The label 0 or 1 as data sets write it."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BeforeValidator

_SPELLED: dict[str, Literal[0, 1]] = {"0": 0, "1": 1}


def binary_label(value: Any) -> Literal[0, 1]:
    """0 or 1, as a whole number or, as CSV has it, as a text. Raises ValueError for everything else."""
    text = str(value).strip() if type(value) in (int, str) else ""
    if text not in _SPELLED:
        raise ValueError("a label is 0 or 1")
    return _SPELLED[text]


BinaryLabel = Annotated[Literal[0, 1], BeforeValidator(binary_label)]
"""1 where the claim is attributable (supported, consistent), 0 where it is not."""
