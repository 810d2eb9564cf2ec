from __future__ import annotations

import os
import threading
from pathlib import Path

import pytest

from factloop.core.files.holds import Hold, exclusive_hold


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
