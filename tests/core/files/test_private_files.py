from __future__ import annotations

import os
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from factloop.core.files.private import (
    make_private_database,
    make_private_file,
    make_private_folder,
    narrow,
    narrow_contents,
    open_private,
    write_private,
)
from tests.rights import open_to_others

pytestmark = [
    pytest.mark.usefixtures("widest_umask"),
    pytest.mark.skipif(os.name != "posix", reason="rights of this kind"),
]


def mode(path: Path) -> int:
    return path.stat().st_mode & 0o7777


def test_what_is_made_is_its_owner_s_alone(tmp_path: Path) -> None:
    make_private_folder(tmp_path / "a" / "b")
    make_private_file(tmp_path / "a" / "b" / "empty")
    write_private(tmp_path / "a" / "b" / "written", b"text")
    with open(tmp_path / "a" / "b" / "opened", "a+b", opener=open_private) as file:
        file.write(b"more")
    assert open_to_others(tmp_path / "a") == []
    assert {mode(path) for path in (tmp_path / "a" / "b").iterdir()} == {0o600}
    assert mode(tmp_path / "a") == mode(tmp_path / "a" / "b") == 0o700


def test_a_file_that_is_there_is_narrowed_and_keeps_what_it_holds(tmp_path: Path) -> None:
    for name in ("made", "opened"):
        (tmp_path / name).write_text("old")
        (tmp_path / name).chmod(0o664)
    make_private_file(tmp_path / "made")
    with open(tmp_path / "opened", "r+b", opener=open_private):
        pass
    for name in ("made", "opened"):
        assert mode(tmp_path / name) == 0o600
        assert (tmp_path / name).read_text() == "old"


def test_narrowing_takes_only_the_rights_of_others(tmp_path: Path) -> None:
    for before, after in ((0o444, 0o400), (0o755, 0o700), (0o600, 0o600), (0o000, 0o000)):
        path = tmp_path / f"{before:o}"
        path.write_text("")
        path.chmod(before)
        narrow(path)
        assert mode(path) == after
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder").chmod(0o2775)
    narrow(tmp_path / "folder")
    assert mode(tmp_path / "folder") == 0o2700


def test_a_folder_that_is_there_keeps_its_rights_unless_it_is_narrowed(tmp_path: Path) -> None:
    (tmp_path / "folder" / "below").mkdir(parents=True)
    (tmp_path / "folder" / "file").write_text("")
    (tmp_path / "elsewhere").write_text("")
    (tmp_path / "folder" / "link").symlink_to(tmp_path / "elsewhere")
    make_private_folder(tmp_path / "folder")
    assert mode(tmp_path / "folder") == 0o777
    narrow_contents(tmp_path / "folder")
    assert mode(tmp_path / "folder") == 0o700
    assert mode(tmp_path / "folder" / "file") == 0o600
    assert mode(tmp_path / "elsewhere") == 0o666  # the target of a link may be open to all users


def test_a_database_with_what_sqlite_keeps_beside_it(tmp_path: Path) -> None:
    path = tmp_path / "folder" / "a.sqlite"
    make_private_folder(path.parent)
    make_private_database(path)
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("PRAGMA journal_mode=WAL")
        connection.execute("CREATE TABLE a (b)")
        assert {item.name for item in path.parent.iterdir()} == {"a.sqlite", "a.sqlite-wal", "a.sqlite-shm"}
        assert open_to_others(path.parent) == []
        for item in path.parent.iterdir():
            item.chmod(0o644)  # as an older version left them
        make_private_database(path)
        assert open_to_others(path.parent) == []


OPENED_AGAIN = """
import sqlite3, sys
from pathlib import Path
from factloop.core.files.private import make_private_database
path = Path(sys.argv[1])
connection = sqlite3.connect(path, isolation_level=None)
connection.execute("BEGIN IMMEDIATE")
make_private_database(path)
print("locked", flush=True)
sys.stdin.readline()
"""


@pytest.mark.process
def test_the_locks_of_sqlite_in_this_process_stay(tmp_path: Path) -> None:
    """POSIX drops all of a process's locks on a file when it closes any descriptor of that file."""
    path = tmp_path / "a.sqlite"
    with closing(sqlite3.connect(path)) as made:
        made.execute("CREATE TABLE a (b)")
    command = [sys.executable, "-c", OPENED_AGAIN, str(path)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == "locked\n"
        with (
            closing(sqlite3.connect(path, timeout=0.0)) as other,
            pytest.raises(sqlite3.OperationalError, match="locked"),
        ):
            other.execute("BEGIN IMMEDIATE")
        holder.communicate("go\n")
