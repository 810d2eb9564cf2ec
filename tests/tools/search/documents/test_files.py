from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from factloop.core.errors import DataError
from factloop.tools.search.documents.files import UnreadFile, find_files
from factloop.tools.search.documents.loaders import load_sections


def make(folder: Path, *names: str) -> None:
    for name in names:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text("text")


def names(places: list[str | Path], root: Path) -> list[str]:
    return [str(path.relative_to(root)) for path in find_files(places).paths]


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs named pipes")
def test_pipes_are_not_opened(tmp_path: Path) -> None:
    make(tmp_path, "a.txt")
    os.mkfifo(tmp_path / "pipe.txt")
    for place in (tmp_path, tmp_path / "*"):
        found = find_files([place])
        assert found.paths == (tmp_path / "a.txt",)
        assert found.unread == (UnreadFile(tmp_path / "pipe.txt", "neither a file nor a folder"),)
    with pytest.raises(DataError, match="this is neither a file nor a folder; save its output to a file"):
        find_files([tmp_path / "pipe.txt"])
    with pytest.raises(DataError, match=r"cannot read the file \(this is a named pipe"):  # made after it was found
        list(load_sections(tmp_path / "pipe.txt"))


@pytest.fixture
def closed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A working directory in which the user may not enter `sources/closed` or `sources/listed`."""
    make(tmp_path, "sources/a.md", "sources/closed/b.md", "sources/listed/c.md")
    tmp_path.chmod(0o755)
    (tmp_path / "sources/closed").chmod(0)
    (tmp_path / "sources/listed").chmod(0o444)
    monkeypatch.chdir(tmp_path)
    user = os.geteuid()
    if user == 0:
        os.seteuid(65534)  # "nobody": rights do not bind root
    yield
    os.seteuid(user)
    for name in ("closed", "listed"):
        (tmp_path / "sources" / name).chmod(0o755)


@pytest.mark.skipif(os.name != "posix", reason="needs rights of POSIX")
@pytest.mark.usefixtures("closed")
@pytest.mark.parametrize("place", ["sources", "sources/*"])
def test_closed_folders_are_left_out_and_named(place: str) -> None:
    found = find_files([place])
    assert [str(path) for path in found.paths] == ["sources/a.md"]
    assert [str(file) for file in found.unread] == [
        "sources/closed (a folder that cannot be opened)",
        "sources/listed/c.md (cannot be opened: Permission denied)",
    ]


@pytest.mark.skipif(os.name != "posix", reason="needs rights of POSIX")
@pytest.mark.usefixtures("closed")
def test_a_closed_folder_that_is_named_is_refused() -> None:
    with pytest.raises(DataError, match=r"^sources/closed: cannot open this path .Permission denied"):
        find_files(["sources/a.md", "sources/closed"])
    with pytest.raises(DataError, match="found no files to read; skipped 1, such as sources/closed"):
        find_files(["sources/c*d"])


@pytest.mark.parametrize(
    ("place", "said"),
    [
        ("absent.txt", "absent.txt: there is no such file or folder"),
        ("*.rst", r"\*.rst: no files match the pattern"),
        ("a**.txt", r"a\*\*.txt: (invalid pattern|no files match the pattern)"),  # the former before Python 3.13
        ("report.odt", "report.odt: unsupported extension '.odt'; use one of .csv, .csv.gz, .docx"),
        ("notes.txt.gz", "notes.txt.gz: unsupported extension '.txt.gz'"),
        ("empty", r"empty: found no files to read; supported extensions"),
        ("foreign", r"foreign: found no files to read; skipped 1, such as .*x.png \(files of this kind are not"),
        ("a\0b", r"a\\0b: a path cannot contain a NUL"),
        ("x" * 5000, r"cannot open this path \(File name too long\)"),
    ],
)
def test_places_without_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, place: str, said: str) -> None:
    make(tmp_path, "report.odt", "notes.txt.gz", "foreign/x.png")
    (tmp_path / "empty").mkdir()
    monkeypatch.chdir(tmp_path)
    with pytest.raises(DataError, match=said):
        find_files([place])
