"""The rights of others than the owner to files."""

from __future__ import annotations

from pathlib import Path


def open_to_others(root: Path) -> list[str]:
    """Files and folders, the root among them, on which group or others have a right."""
    assert root.exists()
    return [str(path.relative_to(root)) for path in [root, *root.rglob("*")] if path.lstat().st_mode & 0o077]
