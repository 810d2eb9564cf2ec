"""A kind of report that the service shows."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from factloop.core.records import Record
from factloop.service.shapes import HeadlineFigure


@dataclass(frozen=True)
class ResultKind:
    """One kind of report that can be shown."""

    name: str
    record: type[Record]
    render: Callable[[Any], str]
    title: Callable[[Any], str]
    words: Callable[[Any], str]
    figures: Callable[[Any], Iterable[HeadlineFigure]]
    is_job: bool = False
    """Whether jobs make it, too."""
