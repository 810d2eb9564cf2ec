"""The folder of examples for evaluation has in it all that its page needs, its copies among it."""

from __future__ import annotations

from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parents[2] / "examples"
FOLDER = EXAMPLES / "evaluation"
COPIES = {
    **{f"sources/{path.name}": path for path in (EXAMPLES / "lighthouse" / "sources").iterdir()},
    "labelled.jsonl": EXAMPLES / "trust" / "labelled.jsonl",
    "downloads/longfact_objects.jsonl": FOLDER / "prompts.jsonl",
}


@pytest.mark.parametrize("copy", COPIES)
def test_copies_are_what_they_were_copied_from(copy: str) -> None:
    assert (FOLDER / copy).read_bytes() == COPIES[copy].read_bytes()


def test_the_page_of_the_folder_names_each_file() -> None:
    page = (FOLDER / "README.md").read_text(encoding="utf-8")
    names = {f"{path.name}/" if path.is_dir() else path.name for path in FOLDER.iterdir()} - {"README.md"}
    assert all(f"`{name}`" in page for name in names)
