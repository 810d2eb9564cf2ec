from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.documents.shown import DOCS, ROOT

PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted(DOCS.glob("*.md"))]
_LINK = re.compile(r"\]\((?!https?://|mailto:)([^)\s]*)\)")
_FENCED = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)
_HEADING = re.compile(r"^#+ (.+)$", re.MULTILINE)


def links_of(page: Path) -> list[str]:
    return _LINK.findall(_FENCED.sub("", page.read_text(encoding="utf-8")))


def anchors_of(page: Path) -> set[str]:
    """The anchors that code hosts and MkDocs make: lower case, words joined by hyphens, other characters dropped."""
    headings = _HEADING.findall(_FENCED.sub("", page.read_text(encoding="utf-8")))
    return {re.sub(r"[^\w\- ]", "", heading.lower()).strip().replace(" ", "-") for heading in headings}


def test_links_are_found() -> None:
    assert sum(len(links_of(page)) for page in PAGES) > 100


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_lead_somewhere(page: Path) -> None:
    for link in links_of(page):
        place, _, anchor = link.partition("#")
        target = (page.parent / place).resolve() if place else page
        assert target.exists(), link
        assert not anchor or anchor in anchors_of(target), link


@pytest.mark.parametrize("page", sorted(DOCS.glob("*.md")), ids=lambda page: page.name)
def test_pages_link_to_pages_or_folders(page: Path) -> None:
    """A file outside docs/ is not a page of the site; MkDocs leaves links to folders alone."""
    for link in links_of(page):
        place = (page.parent / link.partition("#")[0]).resolve()
        assert place.is_dir() or place.is_relative_to(DOCS), link
