"""Reads a file's name: its format, and its title where nothing inside gives one."""

from __future__ import annotations

import re
from pathlib import Path

COMPRESSED = ".gz"
_JOINED = re.compile(r"_+|(?<!\d)-+|-+(?!\d)")
"""What stands for a space in a name; a hyphen between figures is part of a date or a range."""


def is_compressed(path: Path) -> bool:
    return path.suffix.lower() == COMPRESSED


def extension_of(path: Path) -> str:
    """The extension in lower case; of a compressed file with the one before, as ".tsv.gz"."""
    inner = Path(path.stem).suffix if is_compressed(path) else ""
    return (inner + path.suffix).lower()


def stem_of(path: Path) -> str:
    """The name without `extension_of`."""
    return Path(path.stem).stem if is_compressed(path) else path.stem


def readable_name(path: Path) -> str:
    """The name as a title: `eddystone_light.txt` is *eddystone light*."""
    stem = stem_of(path)
    return " ".join(_JOINED.sub(" ", stem).split()) or stem
