"""The log of reports: which of those written so far are kept, and which responses are judged again."""

from __future__ import annotations

from pathlib import Path

import pytest

from factloop.core.errors import ConfigError, DataError
from factloop.core.records import Claim, Judgement, UnscoredReason
from factloop.evaluation.running.log import Log
from factloop.evaluation.runs.run import REPORT_LOG
from tests.evaluation.runs.finished_runs import judged

FIRST, SECOND = judged("p1", "sn"), judged("p2", "i", response="\u202ehostile\u2028\x9b\x7f\nÄ")


def filled(path: Path) -> Path:
    with Log(path, REPORT_LOG) as log:
        log.append(FIRST)
        log.append(SECOND)
    return path


def test_of_two_lines_on_one_response_the_first_stays(tmp_path: Path) -> None:
    path = filled(tmp_path / "reports.jsonl")
    whole = path.read_bytes()
    path.write_bytes(whole + whole[: whole.index(b"\n") + 1])
    with Log(path, REPORT_LOG) as log:
        assert list(log) == [FIRST, SECOND]
    assert path.read_bytes() == whole


def test_a_line_that_a_kill_left_unfinished_is_dropped_wherever_it_ends(tmp_path: Path) -> None:
    path = filled(tmp_path / "reports.jsonl")
    whole = path.read_bytes()
    first = whole.index(b"\n") + 1
    for end in {first + 1, first + 30, len(whole) // 2 + first // 2, len(whole) - 2, len(whole) - 1}:
        path.write_bytes(whole[:end])
        with Log(path, REPORT_LOG) as log:
            assert set(log.finished) == {FIRST.id}
            log.append(SECOND)
        assert path.read_bytes() == whole
    path.write_bytes(whole[: first - 1])
    with Log(path, REPORT_LOG) as log:
        assert (set(log.finished), list(log)) == (set(), [])
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize(
    ("reason", "again"),
    [
        (UnscoredReason.BUDGET, True),
        (UnscoredReason.TIMEOUT, True),
        (UnscoredReason.TOOL_FAILURE, True),
        (UnscoredReason.PARSE_FAILURE, False),
        (UnscoredReason.REFUSAL, False),
        (UnscoredReason.AMBIGUOUS, False),
        (UnscoredReason.NO_SOURCE, False),
    ],
)
def test_what_failed_for_a_passing_reason_is_judged_again(tmp_path: Path, reason: UnscoredReason, again: bool) -> None:
    failed = judged("p3", "s?")
    claims: tuple[Claim, ...] = (
        failed.report.claims[0],
        failed.report.claims[1].model_copy(update={"judgement": Judgement(unscored_reason=reason)}),
    )
    failed = failed.model_copy(update={"report": failed.report.model_copy(update={"claims": claims})})
    with Log(tmp_path / "r", REPORT_LOG) as log:
        for one in (FIRST, failed, SECOND):
            log.append(one)
    with Log(tmp_path / "r", REPORT_LOG) as log:
        assert list(log) == ([FIRST, SECOND] if again else [FIRST, failed, SECOND])
        assert (failed.id in log.finished) is not again


@pytest.mark.parametrize("broken", [b"{}\n", b"\n", b"null\n", b"\x00\xff\n", b'{"id": "x"}\n'])
def test_a_line_that_nobody_wrote_so_is_named_and_left_alone(tmp_path: Path, broken: bytes) -> None:
    path = filled(tmp_path / "reports.jsonl")
    written = path.read_bytes() + broken
    path.write_bytes(written)
    with pytest.raises(DataError, match=r"reports\.jsonl:3: .*remove the line and start the run again"):
        Log(path, REPORT_LOG)
    assert path.read_bytes() == written


def test_a_full_disk_is_named_and_loses_nothing_that_was_kept(tmp_path: Path) -> None:
    resource = pytest.importorskip("resource")
    path = tmp_path / "reports.jsonl"
    with Log(path, REPORT_LOG) as log:
        log.append(FIRST)
        before = resource.getrlimit(resource.RLIMIT_FSIZE)
        resource.setrlimit(resource.RLIMIT_FSIZE, (path.stat().st_size + 20, before[1]))
        try:
            with pytest.raises(ConfigError, match=r"reports\.jsonl: cannot be used \(File too large\)"):
                log.append(SECOND)
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, before)
    with Log(path, REPORT_LOG) as log:
        assert list(log) == [FIRST]
        log.append(SECOND)
        assert list(log) == [FIRST, SECOND]
