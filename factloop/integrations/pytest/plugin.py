"""The pytest plugin: its options, and hooks around each test. pytest always loads it, so it imports little.

Each test has a recording that is named after it. The recording is replayed, and a request that it does not contain
makes the test fail, unless pytest runs with `--factloop-record`.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import re
import shlex
from collections.abc import Generator, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from factloop.testing.running import RunningTest, running, running_test

if TYPE_CHECKING:
    from factloop.checking.checker import FactChecker
    from factloop.setup.recording import Recording
    from factloop.tools.calls.modes import TapeMode

MODES: dict[str | None, TapeMode] = {None: "replay", "all": "record", "new": "new"}
SETTINGS = {"model": "string", "base_url": "string", "search": "args", "docs": "paths"}
"""Settings that pytest's ini file can contain, for example `factloop_model`, and their types."""

LONGEST_NAME = 100  # maximum number of characters of a file name before extension and hash
_UNSAFE = re.compile(r"[^A-Za-z0-9_.-]+")
_PASSED = pytest.StashKey[bool]()


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("factloop", "factloop: checks whether model output is factual")
    group.addoption(
        "--factloop-record",
        nargs="?",
        const="all",
        type=_recording_scope,
        metavar="all|new",
        help="Call models and searches and record their answers: all of them (the default), or only new ones. "
        "Without this option, recordings are replayed and no calls are made.",
    )
    parser.addini("factloop_recordings", "Folder of recordings, next to each test file.", default="recordings")
    for name, kind in SETTINGS.items():
        parser.addini(f"factloop_{name}", f"The FactChecker setting {name}.", type=kind)  # type: ignore[arg-type]  # one of the kinds that pytest knows


def _recording_scope(text: str) -> str:
    if text not in MODES:
        raise argparse.ArgumentTypeError(
            f"{text!r} is neither all nor new; paths come first: pytest {text} --factloop-record"
        )
    return text


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Generator[None, object, object]:
    with running(_as_running(item)):
        return (yield)


def _as_running(item: pytest.Item) -> RunningTest:
    config = item.config
    classes = [node.name for node in item.listchain() if isinstance(node, pytest.Class)]
    ini = {name: config.getini(f"factloop_{name}") for name in SETTINGS}
    return RunningTest(
        path=recording_path(config.getini("factloop_recordings"), item.path, [*classes, item.name]),
        mode=MODES[config.getoption("factloop_record")],
        remedy=f"Record it: pytest {shlex.quote(_as_typed(item))} --factloop-record",
        folder=item.path.parent,
        root=config.rootpath,
        defaults={name: _as_setting(value) for name, value in ini.items() if value},
    )


def _as_typed(item: pytest.Item) -> str:
    """The test as it is named on the command line, relative to the folder in which pytest was started."""
    _, separator, names = item.nodeid.partition("::")
    try:
        path = os.path.relpath(item.path, item.config.invocation_params.dir)
    except ValueError:  # on another drive
        return item.nodeid
    return f"{path}{separator}{names}"


def _as_setting(value: Any) -> object:
    return tuple(str(part) for part in value) if isinstance(value, list) else value


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    report = yield
    if call.when == "call":  # a test that is expected to fail must also fail in a replay
        item.stash[_PASSED] = report.passed or hasattr(report, "wasxfail")
    return report


@pytest.hookimpl(trylast=True)
def pytest_runtest_teardown(item: pytest.Item) -> None:
    """Runs after the test's fixtures, so that a failure to write becomes an error of the test."""
    test = running_test()
    if test is not None:
        test.finish(passed=item.stash.get(_PASSED, False))


@pytest.fixture
def factloop_recording() -> Recording:
    """The recording of this test, for your own checkers and scorers: `FactChecker(..., recording=...)`."""
    test = running_test()
    assert test is not None  # fixtures are only created within a test
    return test.recording


@pytest.fixture
def factchecker() -> Iterator[FactChecker]:
    """A checker with this test's recording and the settings of assertions (`factloop.testing.assertions`)."""
    from factloop.core.sync import run_blocking
    from factloop.testing.assertions import build_checker

    checker = build_checker()
    yield checker
    run_blocking(checker.aclose())


def recording_path(folder: str, test_file: Path, names: Sequence[str]) -> Path:
    """The path of a test's recording. `names` lists its classes and itself. `folder` is relative to the test's file."""
    return test_file.parent / folder / test_file.stem / f"{file_name('.'.join(names))}.jsonl"


def file_name(name: str) -> str:
    """The name itself if it has only plain characters; otherwise, its plain characters and a hash."""
    plain = _UNSAFE.sub("-", name).strip("-.")[:LONGEST_NAME]
    if name and plain == name:
        return name
    digest = hashlib.sha256(name.encode("utf-8", "surrogatepass")).hexdigest()[:8]
    return f"{plain}-{digest}" if plain else digest
