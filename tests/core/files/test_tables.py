from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from factloop.core.errors import DataError
from factloop.core.files.csv_rows import read_csv
from factloop.core.files.tables import files_of, read_json_array, read_parquet, read_rows
from factloop.evaluation.datasets.mapping import binary_label
from tests.evaluation.datasets.dataset_files import array, jsonl


def written(folder: Path, text: str, name: str = "rows.json") -> Path:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


def parquet_file(folder: Path, rows: list[dict[str, Any]]) -> Path:
    pyarrow = pytest.importorskip("pyarrow")
    from pyarrow import parquet  # type: ignore[import-untyped]  # it ships no types

    path = folder / "rows.parquet"
    parquet.write_table(pyarrow.Table.from_pylist(rows), path)
    return path


@pytest.mark.parametrize(
    ("text", "line", "message"),
    [
        ("", 1, "this is not JSON: Expecting value"),
        ('{"a": 1}', None, "must be an array of objects, not an object"),
        ("[]", None, "the file has no rows"),
        ('[{"a": 1}\n {"a": 2}]', 2, "this is not JSON: Expecting ',' delimiter"),
        ('[{"a": 1},\n 3]', 2, "must be an object, not 3"),
        (f'[\n{{"a": {"[" * 100_000}', None, "this is not JSON: a value is too large or too deeply nested"),
    ],
)
def test_what_is_no_array_is_named(tmp_path: Path, text: str, line: int | None, message: str) -> None:
    path = written(tmp_path, text)
    with pytest.raises(DataError) as caught:
        list(read_json_array(path))
    assert str(caught.value) == (f"{path}: {message}" if line is None else f"{path}:{line}: {message}")


def test_an_array_has_a_bound(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="must not exceed 5 characters"):
        list(read_json_array(written(tmp_path, '[{"a": 1}]'), largest=5))


@given(st.lists(st.dictionaries(st.text(), st.text() | st.lists(st.integers()))), st.sampled_from([None, 2]))
def test_what_json_writes_as_an_array_is_read_back(
    tmp_path_factory: pytest.TempPathFactory, items: list[dict[str, Any]], indent: int | None
) -> None:
    path = written(tmp_path_factory.mktemp("rows"), json.dumps([*items, {}], indent=indent))
    assert [(row.line, dict(row.fields)) for row in read_json_array(path)] == list(enumerate([*items, {}], 1))


def test_what_is_no_parquet_is_refused(tmp_path: Path) -> None:
    pytest.importorskip("pyarrow")
    with pytest.raises(DataError, match=r"rows\.parquet: this is not a readable Parquet"):
        list(read_parquet(written(tmp_path, "claim,label", "rows.parquet")))
    with pytest.raises(DataError, match=r"absent\.parquet: cannot be read"):
        list(read_parquet(tmp_path / "absent.parquet"))
    path = parquet_file(tmp_path, [{"a": 1}])
    with pytest.raises(DataError, match=r"this is not a readable Parquet"):
        list(read_parquet(written(tmp_path, path.read_bytes().decode("latin-1")[:-20], "cut.parquet")))


def test_a_csv_names_its_columns_as_asked(tmp_path: Path) -> None:
    path = written(tmp_path, "Claim,label\nx,1\n", "rows.CSV")
    assert dict(next(read_csv(path)).fields) == {"claim": "x", "label": "1"}
    assert dict(next(read_rows(path)).fields) == {"Claim": "x", "label": "1"}
    with pytest.raises(DataError, match=r"1: the header has no column 'doc'"):
        next(read_csv(path, needed=["claim", "doc"]))


@pytest.mark.parametrize(
    ("text", "fields"),
    [
        ('claim;label\r\n"a; b, c";0,5\r\n', {"claim": "a; b, c", "label": "0,5"}),
        ('"claim";"label"\nx;1\n', {"claim": "x", "label": "1"}),
        ("claim,a;b\nx,1\n", {"claim": "x", "a;b": "1"}),
        ("claim\na;b\n", {"claim": "a;b"}),
        ("claim (short; long)\nthe cat sat\n", {"claim (short; long)": "the cat sat"}),
        ('id;text\n7;"one\ntwo"\n', {"id": "7", "text": "one\ntwo"}),
        ("sep=;\nid;text\n7;one\n", {"id": "7", "text": "one"}),
        ("sep=;\r\nid;text\r\n7;one\r\n", {"id": "7", "text": "one"}),
    ],
)
def test_semicolons_part_cells_if_they_part_header_and_rows(tmp_path: Path, text: str, fields: dict[str, str]) -> None:
    (tmp_path / "rows.csv").write_text(text, encoding="utf-8", newline="")
    assert [dict(row.fields) for row in read_rows(tmp_path / "rows.csv")] == [fields]


def test_lines_are_counted_from_the_one_that_says_what_parts_cells(tmp_path: Path) -> None:
    rows = read_csv(written(tmp_path, "sep=;\nid;text\n7;one\n8;two\n9\n", "rows.csv"))
    assert [next(rows).line, next(rows).line] == [3, 4]
    with pytest.raises(DataError, match=r"rows\.csv:5: wrong number of cells: 1 instead of 2"):
        next(rows)


@pytest.mark.parametrize("text", ["", "a\rb;c\nx;y\n", "a\0;b\nx;y\n", f"{'a' * 200_000};b\nx\n"])
def test_a_broken_header_is_one_clear_error(tmp_path: Path, text: str) -> None:
    with pytest.raises(DataError, match=r"rows\.csv"):
        list(read_csv(written(tmp_path, text, "rows.csv"), needed=["a", "b"]))


def test_the_end_of_the_name_says_the_kind(tmp_path: Path) -> None:
    rows = [{"claim": "x", "label": 1}]
    assert dict(next(read_rows(jsonl(tmp_path / "rows.ndjson", *rows))).fields) == rows[0]
    assert dict(next(read_rows(array(tmp_path / "rows.JSON", *rows))).fields) == rows[0]
    assert dict(next(read_rows(parquet_file(tmp_path, rows))).fields) == rows[0]


def test_a_folder_holds_the_files_that_match(tmp_path: Path) -> None:
    for name in ("b.jsonl", "a.jsonl", "c.txt", "deep/d.jsonl"):
        jsonl(tmp_path / name, {})
    assert files_of(tmp_path, "*.jsonl") == [tmp_path / "a.jsonl", tmp_path / "b.jsonl", tmp_path / "deep/d.jsonl"]
    assert files_of(tmp_path / "c.txt", "*.jsonl") == [tmp_path / "c.txt"]
    with pytest.raises(DataError, match=r"this folder contains no \*\.csv files"):
        files_of(tmp_path, "*.csv")


@given(st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.lists(st.integers(0, 1)))
def test_a_binary_label_is_total(value: object) -> None:
    if type(value) in (int, str) and str(value).strip() in ("0", "1"):
        assert binary_label(value) == int(str(value))
    else:
        with pytest.raises(ValueError, match="0 or 1"):
            binary_label(value)
