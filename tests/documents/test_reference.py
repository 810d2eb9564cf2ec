"""The pages of `make docs`: what they must name."""

from __future__ import annotations

import re

import factloop
from factloop.tools.judges.hub import JUDGES
from tests.documents.shown import DOCS, ROOT


def test_the_reference_has_every_public_name() -> None:
    shown = re.findall(r"^::: factloop\.([A-Z]\w+)$", (DOCS / "reference.md").read_text(encoding="utf-8"), re.MULTILINE)
    assert sorted(shown) == sorted(factloop.__all__)


def test_the_page_of_judges_says_what_the_registry_does() -> None:
    page = (DOCS / "judges.md").read_text(encoding="utf-8")
    for kind, known in JUDGES.items():
        (row,) = (line for line in page.splitlines() if re.match(rf"\| `{kind}[:`]", line))
        repo = known.files.repo if known.files is not None else ""
        assert all(said in row for said in (known.good_for, known.size, known.parameters, known.licence, repo)), kind


def test_every_page_stands_in_the_navigation() -> None:
    pages = {path.name for path in DOCS.glob("*.md")}
    assert pages == set(re.findall(r"([\w-]+\.md)$", (ROOT / "mkdocs.yml").read_text(encoding="utf-8"), re.MULTILINE))
