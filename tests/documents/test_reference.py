"""The pages of `make docs`: what they must name."""

from __future__ import annotations

import re

import factloop
from tests.documents.shown import DOCS, ROOT


def test_the_reference_has_every_public_name() -> None:
    shown = re.findall(r"^::: factloop\.([A-Z]\w+)$", (DOCS / "reference.md").read_text(encoding="utf-8"), re.MULTILINE)
    assert sorted(shown) == sorted(factloop.__all__)


def test_every_page_stands_in_the_navigation() -> None:
    pages = {path.name for path in DOCS.glob("*.md")}
    assert pages == set(re.findall(r"([\w-]+\.md)$", (ROOT / "mkdocs.yml").read_text(encoding="utf-8"), re.MULTILINE))
