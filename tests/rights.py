from __future__ import annotations

from pathlib import Path


def open_to_others(root: Path) -> list[str]:
    """The files and folders, including the root, on which group or others have any right."""
    assert root.exists()
    return [str(path.relative_to(root)) for path in [root, *root.rglob("*")] if path.lstat().st_mode & 0o077]
