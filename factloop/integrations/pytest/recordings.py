"""Places the recording of a test beside its file, under a name that every file system takes."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence
from pathlib import Path

LONGEST = 100
"""Characters of a file's name before its ending and hash."""
_UNSAFE = re.compile(r"[^A-Za-z0-9_.-]+")


def recording_path(folder: str, test_file: Path, names: Sequence[str]) -> Path:
    """The path for the test with these names, classes first. `folder` is relative to the test's file, or absolute."""
    return test_file.parent / folder / test_file.stem / f"{file_name('.'.join(names))}.jsonl"


def file_name(name: str) -> str:
    """The name itself where it is plain; else what is plain of it, with a hash that keeps it apart from all others."""
    plain = _UNSAFE.sub("-", name).strip("-.")[:LONGEST]
    if name and plain == name:
        return name
    digest = hashlib.sha256(name.encode("utf-8", "surrogatepass")).hexdigest()[:8]
    return f"{plain}-{digest}" if plain else digest
