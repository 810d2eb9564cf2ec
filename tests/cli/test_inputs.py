from __future__ import annotations

import os
import re
from pathlib import Path

import pytest

from factloop.cli.inputs import decode, read_text, refuse_missing
from factloop.core.errors import ConfigError, DataError
from factloop.setup.run_directory import RunDirectory


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-32"])
def test_encodings_that_say_what_they_are(encoding: str) -> None:
    assert decode("Où? Žluť ✓\r\n".encode(encoding), "x") == "Où? Žluť ✓\r\n"


@pytest.mark.parametrize(
    ("raw", "complaint"),
    [
        (bytes(range(256)), "x: this is a binary file, not text"),
        (b"\0" * 10, "x: this is a binary file, not text"),
        ("naïve".encode("latin-1"), r"x: this is not UTF-8 text \(byte 0xef at offset 2\)"),
        (b"\xff\xfea", "x: this is not UTF-8 text"),
    ],
)
def test_what_is_no_text_is_refused(raw: bytes, complaint: str) -> None:
    with pytest.raises(DataError, match=complaint) as error:
        decode(raw, "x")
    assert error.value.path == "x"


@pytest.mark.parametrize(
    ("text", "documents", "way_on"),
    [
        ("https://example.org/answer.md", (), "save the page (`curl -O`) and pass the file"),
        ("-", ("HTTP://example.org/page.html",), "save the page"),
        ("-", ("sources.zip",), "sources.zip: this is an archive: unpack it, and pass the folder"),
        ("sources.zip", (), "unpack it"),
        ("-", ("absent.zip",), "there is no such file or folder"),
    ],
)
def test_what_is_elsewhere_or_packed_is_refused_with_the_way_on(
    text: str, documents: tuple[str, ...], way_on: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("sources.zip").write_bytes(b"PK")
    with pytest.raises(DataError, match=re.escape(way_on)):
        refuse_missing(text, documents)


def test_a_document_is_no_text_to_check() -> None:
    with pytest.raises(DataError, match=r"answer\.PDF: this is not plain text: copy the text to check"):
        read_text("answer.PDF")


@pytest.mark.skipif(not Path("/dev/fd").exists(), reason="needs /dev/fd")
def test_a_pipe_of_the_shell_is_read_and_a_named_one_is_refused(tmp_path: Path) -> None:
    reading, writing = os.pipe()
    with open(writing, "wb") as file:
        file.write(b"Ada was born in 1815.")
    assert read_text(f"/dev/fd/{reading}") == "Ada was born in 1815."
    os.close(reading)
    os.mkfifo(tmp_path / "pipe.md")
    with pytest.raises(DataError, match=r"pipe\.md: cannot be read .this is a named pipe or a device; pass a file"):
        read_text(str(tmp_path / "pipe.md"))
    (tmp_path / "pipe.md").rename(tmp_path / "run.json")
    with pytest.raises(ConfigError, match=r"run\.json is a named pipe"):
        RunDirectory(tmp_path)
