"""Defines the plugin's options and its hooks around each test. pytest always loads this module, so it imports little.

Each test has a recording named after it. Unless pytest runs with `--factloop-record`, the recording is replayed,
and the test fails if it makes a request that the recording does not contain.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import re
import shlex
from collections.abc import Generator, Iterator
from typing import TYPE_CHECKING

import pytest

from factloop.testing.running import RunningTest, running, running_test

if TYPE_CHECKING:
    from factloop.checking.checker import FactChecker
    from factloop.setup.recording import Recording
    from factloop.tools.calls.modes import TapeMode

MODES: dict[str | None, TapeMode] = {None: "replay", "all": "record", "new": "new"}
SETTINGS = {"model": "string", "base_url": "string", "search": "args", "docs": "paths"}
"""The settings in pytest's ini file (`factloop_model` and so on), with their types."""

LONGEST_NAME = 100  # maximum length of a file name, without hash and extension
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
        help="Call models and searches, and record all answers (the default), or only new ones. Without this option, "
        "recordings are replayed and no calls are made.",
    )
    parser.addini("factloop_recordings", "Name of the recordings folder next to each test file.", default="recordings")
    for name, kind in SETTINGS.items():
        parser.addini(f"factloop_{name}", f"The `{name}` setting of FactChecker.", type=kind)  # type: ignore[arg-type]  # one of pytest's kinds


def _recording_scope(text: str) -> str:
    if text not in MODES:
        raise argparse.ArgumentTypeError(
            f"must be 'all' or 'new', not {text!r}; if this is a path, put it first: pytest {text} --factloop-record"
        )
    return text


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Generator[None, object, object]:
    with running(_as_running(item)):
        return (yield)


def _as_running(item: pytest.Item) -> RunningTest:
    config = item.config
    classes = [node.name for node in item.listchain() if isinstance(node, pytest.Class)]
    name = file_name(".".join((*classes, item.name)))
    ini = {name: config.getini(f"factloop_{name}") for name in SETTINGS}
    return RunningTest(
        path=item.path.parent / config.getini("factloop_recordings") / item.path.stem / f"{name}.jsonl",
        mode=MODES[config.getoption("factloop_record")],
        remedy=f"Record it: pytest {shlex.quote(_as_typed(item))} --factloop-record",
        folder=item.path.parent,
        root=config.rootpath,
        defaults={
            name: tuple(map(str, value)) if isinstance(value, list) else value for name, value in ini.items() if value
        },
    )


def _as_typed(item: pytest.Item) -> str:
    _, separator, names = item.nodeid.partition("::")
    try:
        path = os.path.relpath(item.path, item.config.invocation_params.dir)
    except ValueError:  # the test is on another drive
        return item.nodeid
    return f"{path}{separator}{names}"


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
    """Runs after the test's fixtures. The test fails if its recording cannot be written."""
    test = running_test()
    if test is not None:
        test.finish(passed=item.stash.get(_PASSED, False))


@pytest.fixture
def factloop_recording() -> Recording:
    """The recording of this test. You can pass it to your own checkers and scorers as `recording`."""
    test = running_test()
    assert test is not None  # fixtures exist only within a test
    return test.recording


@pytest.fixture
def factchecker() -> Iterator[FactChecker]:
    """A checker with this test's recording and the same settings as the assertions (`factloop.testing.assertions`)."""
    from factloop.core.sync import run_blocking
    from factloop.testing.assertions import build_checker

    checker = build_checker()
    yield checker
    run_blocking(checker.aclose())


def file_name(name: str) -> str:
    """Returns the name if all its characters are safe, or else its safe characters and a hash."""
    plain = _UNSAFE.sub("-", name).strip("-.")[:LONGEST_NAME]
    if name and plain == name:
        return name
    digest = hashlib.sha256(name.encode("utf-8", "surrogatepass")).hexdigest()[:8]
    return f"{plain}-{digest}" if plain else digest
