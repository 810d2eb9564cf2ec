from __future__ import annotations

import os
import threading
from pathlib import Path

import pytest

from factloop.cli.inputs import decode, read_text
from factloop.core.errors import DataError


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
def test_encodings_that_say_what_they_are(encoding: str) -> None:
    assert decode("Où? Žluť ✓\r\n".encode(encoding), "x") == "Où? Žluť ✓\r\n"


@pytest.mark.parametrize(
    ("raw", "complaint"),
    [
        (bytes(range(256)), "x: is a binary file, not text"),
        (b"\0" * 10, "x: is a binary file, not text"),
        ("naïve".encode("latin-1"), r"x: is not UTF-8 text \(byte 0xef at offset 2\)"),
        (b"\xff\xfea", "x: is not UTF-8 text"),
    ],
)
def test_what_is_no_text_is_refused(raw: bytes, complaint: str) -> None:
    with pytest.raises(DataError, match=complaint) as error:
        decode(raw, "x")
    assert error.value.path == "x"


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs named pipes")
def test_a_pipe_without_a_writer_is_waited_for_and_named(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    pipe = tmp_path / "pipe.md"
    os.mkfifo(pipe)
    read: list[str] = []
    reader = threading.Thread(target=lambda: read.append(read_text(str(pipe), patience_s=0.0)), daemon=True)
    reader.start()
    said = ""
    while not said:
        said = capfd.readouterr().err
    pipe.write_text("Ada was born in 1815.")
    reader.join(10)
    assert said == f"factloop: {pipe} is a pipe; waiting for its writer\n"
    assert read == ["Ada was born in 1815."]


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs named pipes")
def test_a_pipe_that_is_written_to_is_read_in_silence(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    pipe = tmp_path / "pipe.md"
    os.mkfifo(pipe)
    threading.Thread(target=lambda: pipe.write_text("Ada was born in 1815."), daemon=True).start()
    assert read_text(str(pipe), patience_s=60.0) == "Ada was born in 1815."
    assert capfd.readouterr().err == ""
