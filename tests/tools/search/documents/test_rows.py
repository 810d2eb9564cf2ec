from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from factloop.tools.search.documents import DocumentSearch
from factloop.tools.search.documents.sections import Section
from tests.tools.search.documents.made_files import load, refusal


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
    (row,) = load(tmp_path, "towers.csv", "name;height\nTower;12,5 m\n")
    assert row.text == "name: Tower; height: 12,5 m"


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
NEEDED = "one of text, passage, content, body is needed"


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("t.jsonl", FINE + '{"text": "a"', ":2: this line is not JSON: Expecting ',' delimiter"),
        ("t.jsonl", FINE + "[1]", ":2: this line is not a JSON object"),
        ("t.jsonl", FINE + '{"title": "a"}', f":2: field 'text': {NEEDED}"),
        ("t.jsonl", FINE + '{"passage": 3}', ":2: field 'passage': a string is needed, not int"),
        ("t.jsonl", FINE + '{"text": "a", "title": ["b"]}', ":2: field 'title': a string is needed, not list"),
        ("t.jsonl", FINE + "[" * 1_000_000, ":2: this line is not JSON: a value is too large or too deep"),
        ("t.jsonl", FINE + '{"id": ' + "9" * 5000 + "}", ":2: this line is not JSON: a value is too large or too deep"),
        ("t.csv", "text,title\nonly one", ":2: 1 columns where the header has 2"),
        ("t.csv", 'text\n"never ends', ":2: this is not CSV: unexpected end of data"),
        ("t.csv", 'text\n"a"b', ":2: this is not CSV: ',' expected after '\"'"),
        ("t.tsv", "text\ttitle\na\tb\na\tb\tc\n", ":3: 3 columns where the header has 2"),
        ("t.json", '{"text": "a"', ": this is not JSON: Expecting ',' delimiter"),
        ("t.json", '"a"', ": an object or an array of objects is needed"),
        ("t.json", "[[1]]", ": record 1 is not a JSON object"),
        ("t.json", '[{"text": "a"}, {"title": "a"}]', f": field 'text': record 2: {NEEDED}"),
        ("t.json", '[{"text": "a", "date": {}}]', ": field 'date': record 1: a string is needed, not dict"),
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
        ("settings.json", "record 1: one of text, passage, content, body is needed")
    ]
