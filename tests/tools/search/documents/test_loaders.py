from __future__ import annotations

import codecs
import gzip
from copy import deepcopy
from io import BytesIO
from pathlib import Path
from zipfile import ZIP_DEFLATED, ZipFile

import pytest
from docx import Document
from pypdf import PdfReader, PdfWriter
from reportlab.pdfgen.canvas import Canvas

from factloop.core.errors import DataError
from factloop.core.files.lines import LONGEST_LINE
from factloop.tools.search.documents.files import EXTENSIONS
from factloop.tools.search.documents.html import read_html
from factloop.tools.search.documents.loaders import load_sections
from factloop.tools.search.documents.pdf import page_blocks
from factloop.tools.search.documents.search import DocumentSearch
from factloop.tools.search.documents.sections import Block, Rows, Section
from tests.tools.search.documents.made_files import docx, load, pdf, pptx, refusal, rewritten, xlsx
from tests.work import LINEAR, growth

SLIDE = b'<p:sldId id="256" r:id="rId7"/>'
ROW = b"<row>" + b"<c><v>1</v></c>" * 16_000 + b"</row>"


def test_every_extension_has_a_loader(tmp_path: Path) -> None:
    table = "text\ntext"
    samples: dict[str, str | bytes] = {
        ".pdf": pdf("text"), ".json": '[{"text": "text"}]', ".jsonl": '{"text": "text"}', ".csv": table, ".tsv": table,
        ".docx": docx("text"), ".pptx": pptx("text"), ".xlsx": xlsx({"s": [["text"]]}),
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


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-32"])
def test_compressed_tables(tmp_path: Path, encoding: str) -> None:
    table = 'id\ttext\ttitle\n1\t"Zoë ""Z"" 漢"\tA\n2\tplain\t\n'.encode(encoding)
    assert load(tmp_path, "wiki.passages.TSV.gz", gzip.compress(table)) == [
        Section('Zoë "Z" 漢', "A", None, "id=1"),
        Section("plain", "wiki.passages", None, "id=2"),
    ]


def test_compressed_tables_that_cannot_be_read(tmp_path: Path) -> None:
    rows = b'{"text": "a"}\n' * 100
    packed = gzip.compress(rows)
    assert refusal(tmp_path, "a.jsonl.gz", rows).startswith("a.jsonl.gz: the gzip file is incomplete or damaged")
    assert "or damaged: Compressed file ended" in refusal(tmp_path, "a.jsonl.gz", packed[:-9])
    assert "or damaged: CRC check failed" in refusal(tmp_path, "a.jsonl.gz", packed[:-8] + bytes(8))
    assert "incomplete or damaged" in refusal(tmp_path, "a.jsonl.gz", packed[:12] + b"\xff" * 9 + packed[21:])
    endless = gzip.compress(b"a" * (LONGEST_LINE + 1), 1)
    assert "this line is longer than" in refusal(tmp_path, "a.jsonl.gz", endless)
    assert "a.jsonl.gz:101: this line is not JSON" in refusal(tmp_path, "a.jsonl.gz", gzip.compress(rows + b"{"))
    assert load(tmp_path, "a.jsonl.gz", gzip.compress(b"")) == []


def test_missing_file(tmp_path: Path) -> None:
    for name in ("a.txt", "a.pdf", "a.jsonl"):
        with pytest.raises(DataError, match=r"cannot read the file \(No such file"):
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
    """Quadratic work would exceed the test's time limit."""
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


def test_merged_cells_of_word_stand_in_each_row_and_column_that_they_cover(tmp_path: Path) -> None:
    """python-docx recurses up a merged column, too deep for a thousand rows."""
    n_rows, document, buffer = 1_200, Document(), BytesIO()
    table = document.add_table(rows=2, cols=3)
    table.cell(0, 1).merge(table.cell(0, 2)).text = "Lit"
    (header, row) = table._tbl.tr_lst
    header.tc_lst[0].p_lst[0].add_r().text = "Tower"
    for number in range(n_rows):
        copy = deepcopy(row)
        copy.tc_lst[0].vMerge = "continue" if number else "restart"
        for cell, text in zip(copy.tc_lst, ["" if number else "Smeaton", f"{number}", "yes"], strict=True):
            cell.p_lst[0].add_r().text = text
        table._tbl.append(copy)
    row.getparent().remove(row)
    document.save(buffer)
    (section,) = load(tmp_path, "a.docx", buffer.getvalue())
    assert section.text.split("\n\n") == [f"Tower: Smeaton; Lit: {number}; Lit: yes" for number in range(n_rows)]


@pytest.mark.parametrize("first_row", [0, 1], ids=["header", "row"])
def test_a_long_text_in_a_merged_cell_of_word_stands_once(tmp_path: Path, first_row: int) -> None:
    document, buffer, long = Document(), BytesIO(), "It was lit. " * 20
    table = document.add_table(rows=4, cols=3)
    table.cell(first_row, 1).merge(table.cell(3, 2)).text = long
    for number, text in enumerate(("Tower", "Smeaton", "Douglass", "Winstanley")):
        table.cell(number, 0).text = text
    document.save(buffer)
    (section,) = load(tmp_path, "a.docx", buffer.getvalue())
    assert section.text.count("Tower: ") == 3
    assert section.text.count("It was lit.") == 20


def test_power_point(tmp_path: Path) -> None:
    (section,) = load(tmp_path, "a.pptx", pptx("Lit in 1759.", "Smeaton's Tower", "Moved in 1882."))
    assert (section.title, section.text.split("\n\n")) == ("Smeaton's Tower", ["Lit in 1759.", "Moved in 1882."])


@pytest.mark.parametrize("size", [b"A2:B5", b"A1", b"A1:XFD1048576"])
def test_excel_whatever_size_a_sheet_claims_to_have(tmp_path: Path, size: bytes) -> None:
    towers: list[list[object]] = [[], ["Tower", "Lit"], ["Smeaton's", 1759], [], ["Douglass's", 1882]]
    made = rewritten(xlsx({"Towers": towers, "Empty": []}), b'dimension ref="A2:B5"', b'dimension ref="%s"' % size)
    (section,) = load(tmp_path, "lights.xlsx", made)
    assert section.text.startswith(ROWS)


@pytest.mark.large
def test_a_file_that_unfolds_without_end_is_refused(tmp_path: Path) -> None:
    buffer = BytesIO()
    with ZipFile(buffer, "w", ZIP_DEFLATED) as archive:
        for number in range(6):
            archive.writestr(f"{number}", bytes(100_000_000))
    assert "when unpacked" in refusal(tmp_path, "a.docx", buffer.getvalue())


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("a.docx", rewritten(docx("x"), b"<w:body>", b"<w:body>" + b"<w:p/>" * 100_000), "100,000 paragraphs"),
        ("a.pptx", rewritten(pptx("x"), SLIDE, SLIDE * 5_001), "5,000 slides"),
        ("a.xlsx", rewritten(xlsx({"x": [["x"]]}), b"<sheetData>", b"<sheetData>" + ROW * 32), "500,000 cells or"),
        ("a.xlsx", xlsx({"x": [["x" * 30_000]] * 400}), "500,000 cells or 10,000,000 characters"),
        ("a.pdf", pdf("x").replace(b"/Kids [ 3 0 R ]", b"/Kids [" + b"3 0 R " * 5_001 + b"]"), "5,000 pages"),
    ],
)
def test_a_small_file_of_very_many_parts_is_refused(tmp_path: Path, name: str, content: bytes, said: str) -> None:
    assert len(content) < 200_000
    assert f"has more than {said}" in refusal(tmp_path, name, content)


def test_jsonl_keys(tmp_path: Path) -> None:
    rows = """{"text": "T", "title": "A", "url": "https://a.example", "id": 7, "date": 1911}

{"passage": "P", "source": "s", "published": "2020"}
{"content": "C", "id": "c1"}
{"body": "B", "text": null, "title": ""}
"""
    assert load(tmp_path, "rows.jsonl", rows) == [
        Section("T", "A", "https://a.example", "id=7", "1911"),
        Section("P", "rows", "s", "line=3", "2020"),
        Section("C", "rows", None, "id=c1"),
        Section("B", "rows", None, "line=5"),
    ]


def test_csv_with_quotes_and_line_breaks(tmp_path: Path) -> None:
    table = 'Title,TEXT,url\r\nAda,"Born 1815,\r\nin ""London""",\r\n\r\nAlan,Born 1912,https://a.example\r\n'
    assert load(tmp_path, "t.csv", table) == [
        Section('Born 1815,\nin "London"', "Ada", None, "line=2"),
        Section("Born 1912", "Alan", "https://a.example", "line=5"),
    ]


@pytest.mark.parametrize("extension", [".csv", ".tsv", ".csv.gz"])
def test_a_row_of_a_table_without_texts_is_read_with_its_header(tmp_path: Path, extension: str) -> None:
    table = "Tower,Lit,Lost\nSmeaton's,1759,\nDouglass's,1882,never\n\nextra,1,2,3\n"
    raw = (table.replace(",", "\t") if extension == ".tsv" else table).encode()
    sections = load(tmp_path, f"lights{extension}", gzip.compress(raw) if extension.endswith(".gz") else raw)
    assert [(section.text, section.title, section.fragment) for section in sections] == [
        ("Tower: Smeaton's; Lit: 1759", "lights", "line=2"),
        ("Tower: Douglass's; Lit: 1882; Lost: never", "lights", "line=3"),
        ("Tower: extra; Lit: 1; Lost: 2; 3", "lights", "line=5"),
    ]


def test_tsv_as_wiki_passages_come(tmp_path: Path) -> None:
    table = 'id\ttext\ttitle\n1\t"Ada, ""the Countess"", was born."\tAda\n2\t"Stray quote opens\tB\n3\tplain\t"\n'
    assert load(tmp_path, "p.tsv", table) == [
        Section('Ada, "the Countess", was born.', "Ada", None, "id=1"),
        Section('"Stray quote opens', "B", None, "id=2"),
        Section("plain", '"', None, "id=3"),
    ]


def test_cells_between_semicolons_keep_their_decimal_commas(tmp_path: Path) -> None:
    (row,) = load(tmp_path, "towers.csv", f"name;height{'!' * 999}\nTower;12,5 m\n")
    assert row.text == f"name: Tower; height{'!' * 294}…: 12,5 m", "a long name is not repeated whole in every row"


def test_columns_of_tables_in_any_order(tmp_path: Path) -> None:
    # The first of the text columns, then the first address and the first date that the row has; of "id" the last.
    table = "link\tbody\tPublished\tid\turl\ttext\tid\tdate\n"
    rows = "l\tB\t1999\t1\tu\tT\t2\t2000\n" + "l\tB\t1999\t1\t\t\t\t\n" + "\t\t\t\t\t\t\t\n"
    assert load(tmp_path, "t.tsv", table + rows) == [
        Section("T", "t", "u", "id=2", "2000"),
        Section("", "t", "l", "line=3", "1999"),
        Section("", "t", None, "line=4", None),
    ]
    assert load(tmp_path, "t.csv", (table + rows).replace("\t", ",")) == load(tmp_path, "t.tsv", table + rows)


def test_json_is_a_record_or_an_array_of_records(tmp_path: Path) -> None:
    rows = '[{"text": "T", "title": "A", "id": 7, "date": 1911},\n {"passage": "P", "source": "s"}]'
    assert load(tmp_path, "rows.json", rows) == [
        Section("T", "A", None, "id=7", "1911"),
        Section("P", "rows", "s", "record=2"),
    ]
    assert load(tmp_path, "one.json", '{"content": "C"}') == [Section("C", "one", None, "record=1")]
    assert load(tmp_path, "none.json", "[]") == []


FINE = '{"text": "fine"}\n'
NEEDED = "must have one of these fields: text, passage, content, body"


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("t.jsonl", FINE + '{"text": "a"', ":2: this line is not JSON: Expecting ',' delimiter"),
        ("t.jsonl", FINE + "[1]", ":2: this line must be a JSON object"),
        ("t.jsonl", FINE + '{"title": "a"}', f":2: {NEEDED}"),
        ("t.jsonl", FINE + '{"passage": 3}', ":2: field 'passage': must be a string, not int"),
        ("t.jsonl", FINE + '{"text": "a", "title": ["b"]}', ":2: field 'title': must be a string, not list"),
        ("t.jsonl", FINE + "[" * 1_000_000, ":2: this line is not JSON: a value is too large or too deep"),
        ("t.jsonl", FINE + '{"id": ' + "9" * 5000 + "}", ":2: this line is not JSON: a value is too large or too deep"),
        ("t.csv", "text,title\nonly one", ":2: the row has 1 column, but the header has 2"),
        ("t.csv", 'text\n"never ends', ":2: this is not CSV: unexpected end of data"),
        ("t.csv", 'text\n"a"b', ":2: this is not CSV: ',' expected after '\"'"),
        ("t.tsv", "text\ttitle\na\tb\na\tb\tc\n", ":3: the row has 3 columns, but the header has 2"),
        ("t.json", '{"text": "a"', ": this is not JSON: Expecting ',' delimiter"),
        ("t.json", '"a"', ": the file must contain an object or an array of objects"),
        ("t.json", "[[1]]", ": record 1 must be a JSON object"),
        ("t.json", '[{"text": "a"}, {"title": "a"}]', f": record 2: {NEEDED}"),
        ("t.json", '[{"text": "a", "date": {}}]', ": field 'date': record 1: must be a string, not dict"),
        ("t.json", "[" * 1_000_000, ": this is not JSON: a value is too large or too deep"),
    ],
    ids=lambda text: text[:40],
)
def test_what_is_malformed_is_named_with_its_place(tmp_path: Path, name: str, text: str, said: str) -> None:
    assert refusal(tmp_path, name, text).startswith(f"{name}{said}")


def test_json_that_is_no_document_is_left_out_and_named(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("The zebra.")
    (tmp_path / "settings.json").write_text('{"port": 80}')
    search = DocumentSearch([tmp_path], in_memory=True)
    assert [hit.passage for hit in search.search("zebra", 3)] == ["The zebra."]
    assert [(one.path.name, one.why) for one in search.unread] == [
        ("settings.json", "record 1: must have one of these fields: text, passage, content, body")
    ]


LAYOUT = """Trips 2025

The pass costs 48 euros for adults and
Children pay 24 euros.

  Route        Length      Open
Lake loop      8.5 km      yes
Ridge walk     14 km        no

The pass is sold by Ilse Brandt."""


def plain(layout: str) -> str:
    """The text as a PDF reader shows it: one space for each gap, no blank lines."""
    return "\n".join(" ".join(line.split()) for line in layout.split("\n") if line.strip())


def blocks(layout: str) -> list[Block]:
    return page_blocks(plain(layout), layout)


@pytest.mark.parametrize("layout", ["", "other text", "The pass costs   Ilse"])
def test_a_layout_that_differs_leaves_the_text_as_it_is(layout: str) -> None:
    assert page_blocks(plain(LAYOUT), layout) == [plain(LAYOUT)]


@pytest.mark.parametrize(
    "layout",
    [
        "Lake loop      8.5 km      yes\nRidge walk     14 km       no",
        "lit = 1;      old = 2;     red = 3;\nlit = 4;      old = 5;     red = 6;",
        "Route          Length      Open\nLake loop      8.5 km",
        "Oss      Arden      Lindel",
    ],
)
def test_lines_with_gaps_that_no_head_names_are_no_table(layout: str) -> None:
    found = blocks(layout)
    assert "".join(map(str, found)).split() == plain(layout).split()
    assert not any(isinstance(block, Rows) for block in found)


@pytest.mark.parametrize(
    ("text", "whole"),
    [
        ("for chil\xaddren", "for children"),
        ("for consecu\xad\ntive days", "for consecutive days"),
        ("a manip-\nulation of it", "a manipulation of it"),
        ("al-\nthough red", "although red"),
        ("the Oss-\nArden line", "the Oss-\nArden line"),
    ],
)
def test_words_that_the_end_of_a_line_parted_are_whole(text: str, whole: str) -> None:
    assert page_blocks(text, "") == [whole]


def test_a_page_that_is_drawn_is_read_so(tmp_path: Path) -> None:
    buffer = BytesIO()
    canvas = Canvas(buffer)
    rows = [("Route", "Length", "Open"), ("Lake loop", "8.5 km", "yes"), ("Ridge walk", "14 km", "no")]
    for place, row in enumerate(rows):
        for column, cell in enumerate(row):
            canvas.drawString(72 + 120 * column, 700 - 14 * place, cell)
    canvas.drawString(72, 630, "The pass is sold by Ilse Brandt.")
    canvas.save()
    (section,) = load(tmp_path, "a.pdf", buffer.getvalue())
    table = "Route: Lake loop; Length: 8.5 km; Open: yes\n\nRoute: Ridge walk; Length: 14 km; Open: no"
    assert section.text.strip() == f"{table}\n\nThe pass is sold by Ilse Brandt."
    assert section.tables == ((0, len(table)),)


@pytest.mark.parametrize("line", ["a b\n", "Ab   cd   ef\n", "word-\n", "x\n\n"])
def test_pages_of_any_length_are_linear_work(line: str) -> None:
    assert growth(lambda n: page_blocks(line * n, line * n), 500) < LINEAR
