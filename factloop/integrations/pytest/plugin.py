"""The plugin: its options and what it does around each test. Loaded at every start of pytest, so it imports little.

Each test has a recording of its own, named after it. It is replayed, and a request that it does not hold fails the
test, unless pytest runs with `--factloop-record`.
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

from factloop.testing.running import RunningTest, Spending, running, running_test

if TYPE_CHECKING:
    from factloop.checking.checker import FactChecker
    from factloop.setup.recording import Recording
    from factloop.tools.calls.modes import TapeMode

MODES: dict[str | None, TapeMode] = {None: "replay", "all": "record", "new": "new"}
SETTINGS = {"model": "string", "base_url": "string", "search": "args", "docs": "paths"}
"""Settings that pytest's ini file may hold, as `factloop_model` and so on, with their kinds of value."""

LONGEST_NAME = 100
"""Characters of a file's name before its ending and hash."""
_UNSAFE = re.compile(r"[^A-Za-z0-9_.-]+")
_SPENT = pytest.StashKey[Spending]()
_PASSED = pytest.StashKey[bool]()
_WORKER_KEY = "factloop"


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("factloop", "factloop: factuality of what models write")
    group.addoption(
        "--factloop-record",
        nargs="?",
        const="all",
        type=_recording_scope,
        metavar="all|new",
        help="Call models and searches, and record their answers: all of them again (default), or only the new ones. "
        "Without it recordings are replayed, and no call is made.",
    )
    parser.addini("factloop_recordings", "Folder of recordings, beside each test file.", default="recordings")
    for name, kind in SETTINGS.items():
        parser.addini(f"factloop_{name}", f"The FactChecker setting {name}.", type=kind)  # type: ignore[arg-type]  # one of the kinds that pytest knows


def _recording_scope(text: str) -> str:
    if text not in MODES:
        raise argparse.ArgumentTypeError(
            f"{text!r} is neither all nor new; paths come first: pytest {text} --factloop-record"
        )
    return text


def pytest_configure(config: pytest.Config) -> None:
    config.stash[_SPENT] = Spending()


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
    """The test as it is named on the command line, from where pytest was started."""
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
    if call.when == "call":  # a test that is expected to fail has to fail in a replay, too
        item.stash[_PASSED] = report.passed or hasattr(report, "wasxfail")
    return report


@pytest.hookimpl(trylast=True)
def pytest_runtest_teardown(item: pytest.Item) -> None:
    """After the fixtures of the test: what cannot be written is an error of the test."""
    test = running_test()
    if test is not None:
        try:
            test.finish(passed=item.stash.get(_PASSED, False))
        finally:
            item.config.stash[_SPENT].add(test.spent)


def pytest_sessionfinish(session: pytest.Session) -> None:
    output: dict[str, Any] | None = getattr(session.config, "workeroutput", None)
    if output is not None:  # a worker of pytest-xdist: its controller prints
        output[_WORKER_KEY] = vars(session.config.stash[_SPENT])


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any) -> None:
    """A worker of pytest-xdist has finished; one that crashed says nothing."""
    spent = getattr(node, "workeroutput", {}).get(_WORKER_KEY)
    if spent is not None:
        node.config.stash[_SPENT].add(Spending(**spent))


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    spent = config.stash[_SPENT]
    if spent.n_checks or spent.n_replayed or spent.n_recorded:
        terminalreporter.write_line(f"factloop: {summary(spent)}")


def summary(spent: Spending) -> str:
    """One line on all checks of a session."""
    unpriced = f" ({spent.n_unpriced} of unknown price)" if spent.n_unpriced else ""
    parts = [
        f"{spent.n_checks} assertions on {spent.n_claims} claims for {spent.cost_usd:.4f} USD{unpriced}",
        f"{spent.n_replayed} answers replayed",
    ]
    if spent.n_recorded:
        parts.append(f"{spent.n_recorded} recorded, {spent.n_written} recordings written")
    if spent.n_unwritten:
        parts.append(f"{spent.n_unwritten} recordings not written, as their tests did not pass")
    return "; ".join(parts)


@pytest.fixture
def factloop_recording() -> Recording:
    """The recording of this test, for checkers and scorers of your own: `FactChecker(..., recording=...)`."""
    test = running_test()
    assert test is not None  # fixtures are made within a test
    return test.recording


@pytest.fixture
def factchecker() -> Iterator[FactChecker]:
    """A checker with this test's recording, and settings as assertions have them (`factloop.testing.assertions`)."""
    from factloop.core.sync import run_blocking
    from factloop.testing.assertions import build_checker

    checker = build_checker()
    yield checker
    run_blocking(checker.aclose())


def recording_path(folder: str, test_file: Path, names: Sequence[str]) -> Path:
    """The path for the test with these names, classes first. `folder` is relative to the test's file, or absolute."""
    return test_file.parent / folder / test_file.stem / f"{file_name('.'.join(names))}.jsonl"


def file_name(name: str) -> str:
    """The name itself where it is plain; else what is plain of it, with a hash that keeps it apart from all others."""
    plain = _UNSAFE.sub("-", name).strip("-.")[:LONGEST_NAME]
    if name and plain == name:
        return name
    digest = hashlib.sha256(name.encode("utf-8", "surrogatepass")).hexdigest()[:8]
    return f"{plain}-{digest}" if plain else digest
