from __future__ import annotations

import json
import signal
import sqlite3
import subprocess
import sys
import time
from contextlib import closing
from pathlib import Path

import pytest

from factloop.core.errors import ConfigError, NoPlaceToKeep
from factloop.tools.calls.cache import PROTECTED_S, CacheBounds, CallCache

MB, HOUR_S, DAY_S = 1_000_000, 3600.0, 86400.0
WIDE = CacheBounds(max_bytes=1000 * MB, max_age_s=30 * DAY_S)
TEXT = "x" * 1000


def fill(path: Path, n: int, *, age_s: float, name: str = "old") -> None:
    """Adds answers of 1 kB, each one second younger than the one before."""
    with closing(CallCache(path, WIDE)) as cache:
        for number in range(n):
            cache.put(f"{name} {number}", TEXT)
    with closing(sqlite3.connect(path)) as database, database:
        written = "UPDATE answers SET written = ? + CAST(substr(key, ?) AS REAL) WHERE key LIKE ?"
        database.execute(written, (time.time() - age_s - n, len(name) + 2, f"{name} %"))


def keys(path: Path) -> set[str]:
    with closing(sqlite3.connect(path)) as database:
        return {key for (key,) in database.execute("SELECT key FROM answers")}


def file_bytes(path: Path) -> int:
    return path.stat().st_size


def test_where_there_is_too_much_the_oldest_goes_and_the_file_shrinks(tmp_path: Path) -> None:
    path = tmp_path / "calls.sqlite"
    fill(path, 5000, age_s=DAY_S)
    assert file_bytes(path) > 6 * MB
    CallCache(path, CacheBounds(max_bytes=2 * MB, max_age_s=30 * DAY_S)).close()
    assert file_bytes(path) < 2 * MB
    left = keys(path)
    assert 1000 < len(left) < 2000
    assert left == {f"old {number}" for number in range(5000 - len(left), 5000)}


@pytest.mark.large
def test_a_long_run_stays_within_the_bound(tmp_path: Path) -> None:
    """A run's own answers also go once they are old enough."""
    path = tmp_path / "calls.sqlite"
    sizes = []
    with (
        closing(CallCache(path, CacheBounds(max_bytes=2 * MB, max_age_s=30 * DAY_S))) as cache,
        closing(sqlite3.connect(path, isolation_level=None)) as clock,
    ):
        for number in range(6000):
            cache.put(str(number), TEXT)
            if number % 20 == 0:
                clock.execute("UPDATE answers SET written = written - ?", (2 * HOUR_S,))
                sizes.append(file_bytes(path))
        assert cache.get("5999") is not None
        assert cache.get("0") is None
    assert 1 * MB < max(sizes) <= 2 * MB


def test_what_was_just_written_stays_however_much_it_is(tmp_path: Path) -> None:
    path = tmp_path / "calls.sqlite"
    fill(path, 100, age_s=PROTECTED_S + 60.0)
    bounds = CacheBounds(max_bytes=1 * MB, max_age_s=0.5 * PROTECTED_S)
    with closing(CallCache(path, bounds)) as cache:
        for number in range(3000):
            cache.put(f"new {number}", TEXT)
        assert cache.get("new 0") is not None
    with closing(sqlite3.connect(path)) as database, database:
        database.execute("UPDATE answers SET written = written - ?", (0.75 * PROTECTED_S,))
    CallCache(path, bounds).close()
    assert keys(path) == {f"new {number}" for number in range(3000)}


PRUNER = """
import sys
from pathlib import Path
from factloop.tools.calls.cache import CallCache
from factloop.tools.calls.cache import CacheBounds
print("open", flush=True)
sys.stdin.readline()
for number in range(300):
    cache = CallCache(Path(sys.argv[1]), CacheBounds(max_bytes=1_000_000, max_age_s=86400.0))
    cache.put(f"{sys.argv[2]} {number}", "x" * 1000)
    cache.close()
print("done", flush=True)
"""


def start(path: Path, name: str) -> subprocess.Popen[str]:
    process = subprocess.Popen(
        [sys.executable, "-c", PRUNER, str(path), name], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "open\n"
    return process


@pytest.mark.process
def test_processes_that_prune_at_once_lose_nothing_that_is_new(tmp_path: Path) -> None:
    path = tmp_path / "calls.sqlite"
    fill(path, 4000, age_s=2 * HOUR_S)
    processes = [start(path, name) for name in ("a", "b", "c")]
    for process in processes:
        assert process.stdin is not None
        process.stdin.write("go\n")
        process.stdin.flush()
    for process in processes:
        said, _ = process.communicate(timeout=60)
        assert (process.returncode, said) == (0, "done\n")
    left = keys(path)
    assert {f"{name} {number}" for name in ("a", "b", "c") for number in range(300)} <= left
    assert len(left) < 4000


KILLED = """
import os, signal, sqlite3, sys
from factloop.tools.calls.cache import CacheBounds, prune
connection = sqlite3.connect(sys.argv[1], isolation_level=None)
left = int(sys.argv[2])

def count(statement):
    global left
    left -= statement.startswith("DELETE")
    if left < 0:
        os.kill(os.getpid(), signal.SIGKILL)

connection.set_trace_callback(count)
prune(connection, CacheBounds(max_bytes=1_000_000, max_age_s=86400.0))
"""


@pytest.mark.process
@pytest.mark.parametrize("n_batches", [1, 5, 20])
def test_a_process_killed_while_it_prunes_leaves_a_cache_to_use(tmp_path: Path, n_batches: int) -> None:
    path = tmp_path / "calls.sqlite"
    fill(path, 4000, age_s=2 * HOUR_S)
    killed = subprocess.run([sys.executable, "-c", KILLED, str(path), str(n_batches)], timeout=60, check=False)
    assert killed.returncode == -signal.SIGKILL
    assert 0 < len(keys(path)) < 4000
    with closing(CallCache(path, CacheBounds(max_bytes=1 * MB, max_age_s=DAY_S))) as cache:
        assert cache.get("old 3999") is not None
        cache.put("new", 1)
        assert cache.get("new") is not None
    assert file_bytes(path) < 1 * MB
    with closing(sqlite3.connect(path)) as database:
        assert database.execute("PRAGMA integrity_check").fetchall() == [("ok",)]


def test_a_place_that_does_not_let_us_is_told_from_a_damaged_file(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(NoPlaceToKeep, match=r"cannot store answers in"):
        CallCache(tmp_path / "file" / "calls.sqlite")
    damaged = tmp_path / "calls.sqlite"
    damaged.write_text("no database " * 1000)
    with pytest.raises(ConfigError, match=r"cannot store answers in") as refused:
        CallCache(damaged, WIDE)
    assert not isinstance(refused.value, NoPlaceToKeep)


NO_ROOM = """
import json, resource, sys
from pathlib import Path
from factloop.core.errors import ConfigError
from factloop.tools.calls.cache import CallCache
from factloop.tools.calls.cache import CacheBounds
shared = CacheBounds(max_bytes=10_000_000, max_age_s=86400.0) if sys.argv[2] == "shared" else None
cache = CallCache(Path(sys.argv[1]), shared)
cache.put("early", 1)
resource.setrlimit(resource.RLIMIT_FSIZE, (200_000, 200_000))
refused = 0
for number in range(500):
    try:
        cache.put(str(number), "x" * 1000)
    except ConfigError:
        refused += 1
print(json.dumps([refused, cache.get("early") is not None, cache.get("499") is not None]))
"""


@pytest.mark.process
@pytest.mark.skipif(sys.platform == "win32", reason="needs a limit on the size of files")
def test_a_disk_without_room_stops_a_journal_but_not_a_cache(tmp_path: Path) -> None:
    found = {}
    for kind in ("journal", "shared"):
        done = subprocess.run(
            [sys.executable, "-c", NO_ROOM, str(tmp_path / f"{kind}.sqlite"), kind],
            capture_output=True, text=True, timeout=60, check=True,
        )  # fmt: skip
        found[kind] = json.loads(done.stdout), done.stderr.splitlines()
    (refused, early, late), said = found["journal"]
    assert refused > 0
    assert (early, late, said) == (True, False, [])
    (refused, early, late), said = found["shared"]
    assert (refused, early, late) == (0, True, False)
    (line,) = said
    assert "shared.sqlite: cannot store new answers, so you may pay for them again" in line
