"""Word, PowerPoint and Excel files, and books: headings, tables with their headers, text in order."""

from __future__ import annotations

from io import BytesIO
from pathlib import Path
from zipfile import ZIP_DEFLATED, ZipFile

import pytest

from factloop.core.errors import DataError
from factloop.tools.search.documents.loaders import load_sections
from factloop.tools.search.documents.sections import Section
from tests.tools.search.documents.office_files import docx, epub, pptx, xlsx

LIGHTS = [["Tower", "Lit"], ["Smeaton's", "1759"], ["Douglass's", "1882"]]
ROWS = "Tower: Smeaton's; Lit: 1759\n\nTower: Douglass's; Lit: 1882"


def load(folder: Path, name: str, content: bytes) -> list[Section]:
    (folder / name).write_bytes(content)
    return list(load_sections(folder / name))


def refusal(folder: Path, name: str, content: bytes) -> str:
    with pytest.raises(DataError) as caught:
        load(folder, name, content)
    assert caught.value.path == str(folder / name)
    return caught.value.reason


def test_word(tmp_path: Path) -> None:
    content = docx((1, "Lights"), "They stand in the sea.", (2, "Towers"), LIGHTS, "Žluť ✓")
    first, second = load(tmp_path, "a.docx", content)
    assert (first.title, first.section, first.text.strip()) == ("Lights", None, "They stand in the sea.")
    assert (second.section, second.text) == ("Towers", f"{ROWS}\n\nŽluť ✓")
    assert second.text[slice(*second.tables[0])] == ROWS


def test_power_point(tmp_path: Path) -> None:
    (section,) = load(tmp_path, "a.pptx", pptx("Lit in 1759.", "Smeaton's Tower", "Moved in 1882."))
    assert (section.title, section.text.split("\n\n")) == ("Smeaton's Tower", ["Lit in 1759.", "Moved in 1882."])


def test_excel(tmp_path: Path) -> None:
    towers: list[list[object]] = [[], ["Tower", "Lit"], ["Smeaton's", 1759], [], ["Douglass's", 1882]]
    (section,) = load(tmp_path, "lights.xlsx", xlsx({"Towers": towers, "Empty": []}))
    assert section.text.startswith(ROWS)


@pytest.mark.parametrize("content", [epub("x", spine=[0, 1]).replace(b"a page0", b"b page0"), pptx("x")])
def test_a_book_without_its_parts_is_named(tmp_path: Path, content: bytes) -> None:
    assert "is missing" in refusal(tmp_path, "a.epub", content)


@pytest.mark.large
def test_a_file_that_unfolds_without_end_is_refused(tmp_path: Path) -> None:
    buffer = BytesIO()
    with ZipFile(buffer, "w", ZIP_DEFLATED) as archive:
        for number in range(6):
            archive.writestr(f"{number}", bytes(100_000_000))
    assert "unfolds to more than" in refusal(tmp_path, "a.docx", buffer.getvalue())
