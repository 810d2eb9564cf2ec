"""Files of every kind: what is read of them, and by which words those are refused that cannot be read."""

from __future__ import annotations

import codecs
import gzip
from io import BytesIO
from pathlib import Path
from zipfile import ZIP_DEFLATED, ZipFile

import pytest
from pypdf import PdfReader, PdfWriter

from factloop.core.errors import DataError
from factloop.tools.search.documents.files import EXTENSIONS
from factloop.tools.search.documents.html import read_html
from factloop.tools.search.documents.loaders import load_sections
from factloop.tools.search.documents.sections import Section
from tests.tools.search.documents.made_files import docx, epub, load, pdf, pptx, refusal, xlsx
from tests.work import LINEAR, growth


def test_every_extension_has_a_loader(tmp_path: Path) -> None:
    table = "text\ntext"
    samples: dict[str, str | bytes] = {
        ".pdf": pdf("text"), ".json": '[{"text": "text"}]', ".jsonl": '{"text": "text"}', ".csv": table, ".tsv": table,
        ".docx": docx("text"), ".pptx": pptx("text"), ".xlsx": xlsx({"s": [["text"]]}), ".epub": epub("<p>text</p>"),
    }  # fmt: skip
    for extension in EXTENSIONS:
        sample = samples.get(extension.removesuffix(".gz"), "text")
        content = gzip.compress(str(sample).encode()) if extension.endswith(".gz") else sample
        (section,) = load(tmp_path, f"a{extension}", content)
        assert section.text.strip() == "text"


@pytest.mark.parametrize("name", ["a.txt", "a.md", "a.html", "a.jsonl", "a.csv", "a.tsv"])
def test_other_encodings_and_binaries_are_refused(tmp_path: Path, name: str) -> None:
    latin = refusal(tmp_path, name, "text\nZoë".encode("latin-1"))
    assert "byte 7 is not UTF-8" in latin or "not JSON" in latin
    assert "binary" in refusal(tmp_path, name, b"\x7fELF" + bytes(500))
    assert "UTF-16 without a byte order mark" in refusal(tmp_path, name, "text here".encode("utf-16-le"))
    assert "not UTF-16" in refusal(tmp_path, name, codecs.BOM_UTF16_LE + b"\x00\xd8\x00")


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
def test_compressed_tables(tmp_path: Path, encoding: str) -> None:
    table = 'id\ttext\ttitle\n1\t"Zoë ""Z"" 漢"\tA\n2\tplain\t\n'.encode(encoding)
    assert load(tmp_path, "wiki.passages.TSV.gz", gzip.compress(table)) == [
        Section('Zoë "Z" 漢', "A", None, "id=1"),
        Section("plain", "wiki.passages", None, "id=2"),
    ]


def test_compressed_tables_that_cannot_be_read(tmp_path: Path) -> None:
    rows = b'{"text": "a"}\n' * 100
    packed = gzip.compress(rows)
    assert refusal(tmp_path, "a.jsonl.gz", rows).startswith("a.jsonl.gz: this is not a gzip file")
    assert "or not all of it: Compressed file ended" in refusal(tmp_path, "a.jsonl.gz", packed[:-9])
    assert "or not all of it: CRC check failed" in refusal(tmp_path, "a.jsonl.gz", packed[:-8] + bytes(8))
    assert "not a gzip file" in refusal(tmp_path, "a.jsonl.gz", packed[:12] + b"\xff" * 9 + packed[21:])
    assert "a.jsonl.gz:101: this line is not JSON" in refusal(tmp_path, "a.jsonl.gz", gzip.compress(rows + b"{"))
    assert load(tmp_path, "a.jsonl.gz", gzip.compress(b"")) == []


def test_missing_file(tmp_path: Path) -> None:
    for name in ("a.txt", "a.pdf", "a.jsonl"):
        with pytest.raises(DataError, match="cannot be read: No such file"):
            list(load_sections(tmp_path / name))


def test_empty_html(tmp_path: Path) -> None:
    assert load(tmp_path, "a.html", " ") == []
    assert read_html("<!-- only a comment -->").blocks == []


HOSTILE = ["<a/", "<!--", "<", "&", "<div>x", "<b>x<p>", "</p>", "<![", "<?", "<script>", "<table><td>x", '<a href="']
HOSTILE += ["<tr><td colspan=99 rowspan=999>x", "<table><th>a<td>b", "<nav>", "<h1>x", "<div class=cookie>"]
HOSTILE += ["<style>.a{display:none}</style><p class=a>x", "<style>.a.b{display:block}{", "<style>/*", "<style>.a,"]
HOSTILE += ["<p hidden>x", "<div style='display:none'>", "<b style='" + "; " * 500 + "'>x"]


@pytest.mark.large
@pytest.mark.parametrize("unit", HOSTILE)
def test_a_megabyte_of_hostile_html_is_read(unit: str) -> None:
    """The square of its length would outlast the time limit of a test."""
    read_html(unit * (1_000_000 // len(unit)))
    assert growth(lambda n: read_html(unit * n), 250) < LINEAR


def test_unreadable_pdfs(tmp_path: Path) -> None:
    whole = pdf("Ada was born.")
    locked = PdfWriter(clone_from=PdfReader(BytesIO(whole)))
    locked.encrypt("password", algorithm="RC4-128")
    buffer = BytesIO()
    locked.write(buffer)
    assert "password" in refusal(tmp_path, "locked.pdf", buffer.getvalue())
    assert "OCR" in refusal(tmp_path, "scan.pdf", pdf("", ""))
    for content in (b"", b"%PDF-1.7\n%%EOF", b"not a pdf", whole[:200]):
        assert "the PDF cannot be read" in refusal(tmp_path, "broken.pdf", content)


LIGHTS = [["Tower", "Lit"], ["Smeaton's", "1759"], ["Douglass's", "1882"]]
ROWS = "Tower: Smeaton's; Lit: 1759\n\nTower: Douglass's; Lit: 1882"


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
    assert "unpacks to more than" in refusal(tmp_path, "a.docx", buffer.getvalue())
