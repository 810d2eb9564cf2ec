from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

DATA = Path(os.environ.get("FACTLOOP_DATA", "../shared/data"))


def published(name: str) -> Path:
    """The path of a published data file. Skips the test if the file is missing."""
    path = DATA / name
    if not path.is_file():
        pytest.skip(f"labelled data not found in {DATA}: set FACTLOOP_DATA")
    return path


def jsonl(path: Path, *rows: Mapping[str, Any]) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def array(path: Path, *items: Mapping[str, Any]) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(items, indent=4), encoding="utf-8")
    return path
