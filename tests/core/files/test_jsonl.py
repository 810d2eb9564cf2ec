from __future__ import annotations

import io
import json
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from factloop.core.errors import DataError
from factloop.core.files.jsonl import read_jsonl

DEEP = "[" * 100_000 + "]" * 100_000


def written(folder: Path, data: bytes) -> Path:
    path = folder / "rows.jsonl"
    path.write_bytes(data)
    return path


def read(folder: Path, data: bytes) -> list[tuple[int, object]]:
    return [(row.line, dict(row.fields)) for row in read_jsonl(written(folder, data))]


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (b'{"a": 1}\n{"a": 2}\n', [(1, {"a": 1}), (2, {"a": 2})]),
        (b'{"a": 1}', [(1, {"a": 1})]),
        (b'{"a": 1}\r\n\r\n  \t\r\n{"a": 2}\r\n', [(1, {"a": 1}), (4, {"a": 2})]),
        (b'\xef\xbb\xbf{"a": 1}\n', [(1, {"a": 1})]),
        (b'\xef\xbb\xbf\n{"a": 1}\n', [(2, {"a": 1})]),
        ('{"a": "één\u2028 \x85 línea"}\n'.encode(), [(1, {"a": "één\u2028 \x85 línea"})]),
        (rb'{"a": "\ud83d\ude00"}', [(1, {"a": "😀"})]),
        (rb'{"a": ["\ud83d x"], "\uDE00": 1}', [(1, {"a": ["\ufffd x"], "\ufffd": 1})]),
        (rb'{"a": "\\ud83d"}', [(1, {"a": r"\ud83d"})]),
    ],
)
def test_a_line_is_a_row(tmp_path: Path, data: bytes, expected: list[tuple[int, object]]) -> None:
    assert read(tmp_path, data) == expected


@pytest.mark.parametrize(
    ("data", "line", "message"),
    [
        (b"", None, "the file has no rows"),
        (b"\n \n", None, "the file has no rows"),
        (b"\xef\xbb\xbf", None, "the file has no rows"),
        (b'{"a": 1}\n{"a": \n', 2, "this line is not JSON: Expecting value at column 7"),
        (b'{"a": 1} {"a": 2}', 1, "this line is not JSON: Extra data at column 10"),
        (b'\n[{"a": 1}]', 2, "each line must be a JSON object, not a list"),
        (b"null", 1, "each line must be a JSON object, not null"),
        (b'{"a": NaN}', 1, "this line is not JSON: NaN is not a JSON number"),
        (b'{"a": ' + b"1" * 10_000 + b"}", 1, "this line is not JSON: a value is too large or too deeply nested"),
        (f'{{"a": {DEEP}}}'.encode(), 1, "this line is not JSON: a value is too large or too deeply nested"),
        (
            f'{{"a": {DEEP}, "b": "\\ud800"}}'.encode(),
            1,
            "this line is not JSON: a value is too large or too deeply nested",
        ),
        (b'{"a": 1}\n{"a": "caf\xe9"}', 2, "this line is not UTF-8 (byte 0xe9 at column 11); save the file as UTF-8"),
        ('{"a": 1}'.encode("utf-16"), None, "this file is UTF-16; save it as UTF-8"),
    ],
)
def test_what_is_no_row_is_named_with_its_line(tmp_path: Path, data: bytes, line: int | None, message: str) -> None:
    with pytest.raises(DataError) as caught:
        read(tmp_path, data)
    path = tmp_path / "rows.jsonl"
    assert str(caught.value) == (f"{path}: {message}" if line is None else f"{path}:{line}: {message}")
    assert (caught.value.path, caught.value.line) == (str(path), line)


def test_a_line_has_a_bound(tmp_path: Path) -> None:
    path = written(tmp_path, b'{"a": 1}\n{"a": "12345"}\n')
    assert len(list(read_jsonl(path, longest=len(b'{"a": "12345"}\n')))) == 2
    with pytest.raises(DataError, match=r"rows.jsonl:2: this line is longer than 14 bytes"):
        list(read_jsonl(path, longest=len(b'{"a": "12345"}\n') - 1))


@pytest.mark.parametrize("name", ["absent.jsonl", "", "with\0nul"])
def test_a_file_that_cannot_be_read_is_named(tmp_path: Path, name: str) -> None:
    with pytest.raises(DataError, match="cannot be read"):
        list(read_jsonl(f"{tmp_path}/{name}"))


def test_a_dash_is_standard_input(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b'{"a": 1}\nx')))
    rows = read_jsonl("-")
    assert next(rows).fields == {"a": 1}
    with pytest.raises(DataError, match=r"^standard input:2: this line is not JSON"):
        next(rows)


@given(st.lists(st.dictionaries(st.text(), st.text() | st.integers() | st.none() | st.lists(st.booleans()))))
def test_what_json_writes_is_read_back(tmp_path_factory: pytest.TempPathFactory, rows: list[dict[str, object]]) -> None:
    path = tmp_path_factory.mktemp("rows") / "rows.jsonl"
    path.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in [*rows, {}]), encoding="utf-8")
    assert [row.fields for row in read_jsonl(path)] == [*rows, {}]
