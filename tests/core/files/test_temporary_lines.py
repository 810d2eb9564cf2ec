from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing, contextmanager

import pytest

from factloop.core.errors import ConfigError
from factloop.core.files.temporary_lines import TemporaryLines

LINES = [b"one\n", b"\xff two\n", b"\n"]
FULL = r"cannot store the input in .* \(File too large\)"


@contextmanager
def files_of_at_most(n_bytes: int) -> Iterator[None]:
    resource = pytest.importorskip("resource")
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (n_bytes, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


def test_lines_come_back_as_often_as_wanted() -> None:
    with closing(TemporaryLines()) as lines:
        assert list(lines) == []
        for line in LINES:
            lines.append(line)
        assert list(lines) == LINES
        assert list(lines) == LINES


@pytest.mark.parametrize("n_bytes", [100, 100_000])  # found when it is read back, and while it is written
def test_a_full_disk_is_one_clear_error(n_bytes: int) -> None:
    with files_of_at_most(50), closing(TemporaryLines()) as lines, pytest.raises(ConfigError, match=FULL):
        fill(lines, n_bytes)


def fill(lines: TemporaryLines, n_bytes: int) -> None:
    for _ in range(n_bytes // 10):
        lines.append(b"123456789\n")
    list(lines)
