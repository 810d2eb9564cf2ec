from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from factloop.core.errors import DataError
from factloop.tools.search.documents import DocumentSearch
from factloop.tools.search.documents.loaders import load_sections
from factloop.tools.search.documents.sections import Section


def load(folder: Path, name: str, content: str) -> list[Section]:
    path = folder / name
    path.write_text(content, newline="")
    return list(load_sections(path))


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


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ('{"text": "a"', ":2: this line is not JSON: Expecting ',' delimiter"),
        ("[1]", ":2: this line is not a JSON object"),
        ('{"title": "a"}', ":2: field 'text': one of text, passage, content, body is needed"),
        ('{"passage": 3}', ":2: field 'passage': a string is needed, not int"),
        ('{"text": "a", "title": ["b"]}', ":2: field 'title': a string is needed, not list"),
        ('{"text": "a", "date": {}}', ":2: field 'date': a string is needed, not dict"),
        ("[" * 1_000_000, ":2: this line is not JSON: a value is too large or too deep"),
        ('{"id": ' + "9" * 5000 + "}", ":2: this line is not JSON: a value is too large or too deep"),
    ],
)
def test_malformed_jsonl_names_line_and_field(tmp_path: Path, line: str, said: str) -> None:
    with pytest.raises(DataError) as caught:
        load(tmp_path, "rows.jsonl", '{"text": "fine"}\n' + line)
    assert str(caught.value).startswith(f"{tmp_path}/rows.jsonl{said}")


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
    path = tmp_path / f"lights{extension}"
    path.write_bytes(gzip.compress(raw) if extension.endswith(".gz") else raw)
    assert [(section.text, section.title, section.fragment) for section in load_sections(path)] == [
        ("Tower: Smeaton's; Lit: 1759", "lights", "line=2"),
        ("Tower: Douglass's; Lit: 1882; Lost: never", "lights", "line=3"),
        ("Tower: extra; Lit: 1; Lost: 2; 3", "lights", "line=5"),
    ]


@pytest.mark.parametrize(
    ("table", "said"),
    [
        ("text,title\nonly one", ":2: 1 columns where the header has 2"),
        ('text\n"never ends', ":2: this is not CSV: unexpected end of data"),
        ('text\n"a"b', ":2: this is not CSV: ',' expected after '\"'"),
    ],
)
def test_malformed_csv(tmp_path: Path, table: str, said: str) -> None:
    with pytest.raises(DataError) as caught:
        load(tmp_path, "t.csv", table)
    assert str(caught.value).startswith(f"{tmp_path}/t.csv{said}")


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


def test_malformed_tsv(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"p.tsv:3: 3 columns where the header has 2"):
        load(tmp_path, "p.tsv", "text\ttitle\na\tb\na\tb\tc\n")


@pytest.mark.parametrize("name", ["t.csv", "t.tsv", "t.jsonl"])
def test_empty_tables(tmp_path: Path, name: str) -> None:
    assert load(tmp_path, name, "") == []
    assert load(tmp_path, name, "\n\n") == []


def test_a_megabyte_in_one_field(tmp_path: Path) -> None:
    long = "word " * 200_000
    assert load(tmp_path, "t.csv", f'text\n"{long}"\n')[0].text == long
    assert load(tmp_path, "t.tsv", f"text\n{long}\n")[0].text == long


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


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('{"text": "a"', ": this is not JSON: Expecting ',' delimiter"),
        ('"a"', ": an object or an array of objects is needed"),
        ("[[1]]", ": record 1 is not a JSON object"),
        ('[{"text": "a"}, {"title": "a"}]', ": field 'text': record 2: one of text, passage, content, body is needed"),
        ('[{"text": "a"}, {"text": "b", "date": {}}]', ": field 'date': record 2: a string is needed, not dict"),
        ("[" * 1_000_000, ": this is not JSON: a value is too large or too deep"),
    ],
)
def test_malformed_json_names_record_and_field(tmp_path: Path, text: str, said: str) -> None:
    with pytest.raises(DataError) as caught:
        load(tmp_path, "rows.json", text)
    assert str(caught.value).startswith(f"{tmp_path}/rows.json{said}")


def test_json_that_is_no_document_is_left_out_and_named(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("The zebra.")
    (tmp_path / "settings.json").write_text('{"port": 80}')
    search = DocumentSearch([tmp_path], in_memory=True)
    assert [hit.passage for hit in search.search("zebra", 3)] == ["The zebra."]
    assert [(one.path.name, one.why) for one in search.unread] == [
        ("settings.json", "record 1: one of text, passage, content, body is needed")
    ]
