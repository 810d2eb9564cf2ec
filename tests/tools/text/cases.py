from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

Row = dict[str, Any]


def rows(name: str) -> list[Row]:
    with Path(__file__).with_name(f"{name}_cases.jsonl").open(encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


def wrong(found: Sequence[Row], read: Callable[[Row], object], label: Callable[[Row], object]) -> list[str]:
    """The rows that are read differently than labelled, as text for the failure message."""
    return [f"{row} -> {read(row)}" for row in found if read(row) != label(row)]
