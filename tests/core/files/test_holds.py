"""Who has a part of the cache open, within a process and between processes."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from factloop.core.files.holds import Hold, exclusive_hold

HOLDER = """
import sys
from pathlib import Path
from factloop.core.files.holds import Hold
hold = Hold(Path(sys.argv[1]))
print("held", flush=True)
sys.stdin.readline()
"""


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "part.use"


def is_free(path: Path) -> bool:
    with exclusive_hold(path) as free:
        return free


def test_many_may_hold_and_then_nobody_is_alone(path: Path) -> None:
    one, two = Hold(path), Hold(path)
    assert not is_free(path)
    one.release()
    assert not is_free(path)
    two.release()
    two.release()  # again is no harm
    assert is_free(path)
    assert not path.exists()


def test_a_hold_that_is_left_to_the_collector_ends(path: Path) -> None:
    hold = Hold(path)
    del hold
    assert is_free(path)


@pytest.mark.process
def test_a_hold_ends_with_its_process_however_that_ends(path: Path) -> None:
    command = [sys.executable, "-c", HOLDER, str(path)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == "held\n"
        assert not is_free(path)
        holder.kill()
        holder.wait()
        assert is_free(path)


def test_the_time_of_the_file_is_that_of_the_last_use(path: Path) -> None:
    with Hold(path):
        os.utime(path, (1.0, 1.0))
        with Hold(path):
            assert path.stat().st_mtime > 1.0
        os.utime(path, (1.0, 1.0))
    assert path.stat().st_mtime > 1.0
    os.utime(path, (1.0, 1.0))
    assert not any(is_free(path) for _ in [Hold(path)])


def test_whoever_comes_while_it_is_removed_waits_and_gets_a_new_one(path: Path) -> None:
    came, held = threading.Event(), threading.Event()

    def come() -> None:
        came.set()
        with Hold(path):
            held.set()

    comer = threading.Thread(target=come)
    with exclusive_hold(path) as free:
        assert free
        comer.start()
        came.wait()
        assert not held.is_set()
        with exclusive_hold(path) as second:
            assert not second
    comer.join()
    assert held.is_set()
    assert path.exists()  # another file of that name
    assert is_free(path)


def test_an_error_on_the_way_leaves_the_file_and_no_lock(path: Path) -> None:
    with pytest.raises(RuntimeError), exclusive_hold(path):
        raise RuntimeError
    assert path.exists()
    assert is_free(path)


def test_a_place_that_cannot_be_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        Hold(tmp_path / "nowhere" / "part.use")
