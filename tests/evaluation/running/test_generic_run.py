from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Iterable, Iterator
from contextlib import aclosing, contextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from factloop.core.errors import ConfigError, DataError
from factloop.core.records import Claim, GivenFacts, Judgement, Record, UnscoredReason, Usage
from factloop.evaluation.datasets.factscore import FactLabel
from factloop.evaluation.running.log import Log, LogFormat
from factloop.evaluation.running.run import (
    Increments,
    NewRecord,
    Run,
    RunStarted,
    Spool,
    answers_folder,
    claimed_folder,
    summary_of,
)
from factloop.evaluation.runs.items import RunItem, spooled
from factloop.evaluation.runs.run import REPORT_LOG
from tests.evaluation.runs.finished_runs import judged


class Square(Record):
    """The record of a number; None where a passing failure left it out."""

    number: int
    square: int | None


class Squares(Record):
    """The summary."""

    found: tuple[int | None, ...]


FORMAT = LogFormat[Square, int](
    name="the squares",
    key=lambda record: record.number,
    dump=lambda record: record.model_dump_json().encode() + b"\n",
    parse=lambda line, _name, _number: Square.model_validate_json(line),
    is_final=lambda record: record.square is not None,
)


def square(number: int) -> Square:
    return Square(number=number, square=number**2)


def making(*made: Callable[[int], Square]) -> Callable[[Iterable[int]], AsyncGenerator[Square, None]]:
    make = made[0] if made else square

    async def engine(numbers: Iterable[int]) -> AsyncGenerator[Square, None]:
        for number in reversed(list(numbers)):
            yield make(number)

    return engine


def run_of(
    numbers: Iterable[int],
    log: Log[Square, int],
    engine: Callable[[Iterable[int]], AsyncGenerator[Square, None]] | None = None,
    results: tuple[Path, ...] = (),
) -> Run[int, Square, Squares]:
    return Run(
        items=tuple(numbers),
        key=lambda number: number,
        log=log,
        engine=engine or making(),
        usage=lambda record: Usage(calls=record.number),
        summarise=lambda records: Squares(found=tuple(record.square for record in records)),
        results=results,
    )


async def test_each_item_has_its_record_and_the_summary_follows_the_order_of_the_items(tmp_path: Path) -> None:
    path = tmp_path / "log"
    with Log(path, FORMAT) as log:
        events = [event async for event in run_of((3, 1, 2), log).stream()]
    news = [NewRecord(square(number), Usage(calls=number)) for number in (2, 1, 3)]
    assert events == [RunStarted(3, 0), *news, Squares(found=(9, 1, 4))]
    with Log(path, FORMAT) as log:
        assert [event async for event in run_of((1, 2), log).stream()] == [RunStarted(2, 2), Squares(found=(1, 4))]
        assert [event async for event in run_of((4, 1), log).stream()] == [
            RunStarted(2, 1),
            NewRecord(square(4), Usage(calls=4)),
            Squares(found=(16, 1)),
        ]


async def test_a_record_is_on_disk_before_it_is_heard_of(tmp_path: Path) -> None:
    path = tmp_path / "log"
    with Log(path, FORMAT) as log:
        async with aclosing(run_of((1, 2, 3), log).stream()) as events:
            n_new = 0
            async for event in events:
                n_new += isinstance(event, NewRecord)
                assert path.read_bytes().count(b"\n") == n_new
                if n_new == 2:
                    break
    with Log(path, FORMAT) as log:
        assert await summary_of(run_of((1, 2, 3), log).stream()) == Squares(found=(1, 4, 9))
        assert len(path.read_bytes().splitlines()) == 3


async def test_results_are_there_at_the_end_only(tmp_path: Path) -> None:
    results = tmp_path / "summary.json", tmp_path / "report.json"
    with Log(tmp_path / "log", FORMAT) as log:
        await summary_of(run_of((1,), log, results=results).stream())
        assert Squares.model_validate_json(results[0].read_bytes()) == Squares(found=(1,))
        results[1].write_text("made of the summary")
        await summary_of(run_of((1,), log, results=results).stream())
        assert results[1].exists()  # nothing was made anew
        async with aclosing(run_of((1, 2), log, results=results).stream()) as events:
            assert await anext(events) == RunStarted(2, 1)
            assert all(path.exists() for path in results)
            await anext(events)
            assert not any(path.exists() for path in results)


def test_increments_are_what_was_added() -> None:
    account = iter([Usage(calls=2, cost_usd=0.5), Usage(calls=5, cost_usd=0.75), Usage(calls=6, cost_usd=None)])
    increments = Increments(lambda: next(account))
    found = [increments(None) for _ in range(3)]
    assert [(one.calls, one.cost_usd) for one in found] == [(2, 0.5), (3, 0.25), (1, None)]


def test_a_record_that_is_refused_leaves_the_file_as_it_was(tmp_path: Path) -> None:
    path = tmp_path / "log"
    with Log(path, FORMAT) as log:
        log.append(square(1))
        log.append(Square(number=2, square=None))
    written = path.read_bytes() + b'{"number": 3'
    path.write_bytes(written)

    def refuse(record: Square, line: int) -> None:
        if record.number == 2:
            raise DataError("refused", path="log", line=line)

    with pytest.raises(DataError, match="log:2: refused"):
        Log(path, FORMAT, check=refuse)
    assert path.read_bytes() == written
    with Log(path, FORMAT):
        pass
    assert path.read_bytes() == written.splitlines(keepends=True)[0]


def test_the_lines_are_put_in_order_once(tmp_path: Path) -> None:
    path = tmp_path / "log"
    with Log(path, FORMAT) as log:
        for number in (3, 1, 2):
            log.append(square(number))
        log.put_in_order((1, 2, 3))
        inode = path.stat().st_ino
        assert list(log) == [square(1), square(2), square(3)]
        log.put_in_order((1, 2, 3))
        assert path.stat().st_ino == inode
        log.append(square(4))
        assert list(log.records((4, 9, 1))) == [square(4), square(1)]
    assert [path.name for path in tmp_path.iterdir()] == ["log"]


def test_a_folder_is_of_one_configuration_and_answers_without_one_are_temporary(tmp_path: Path) -> None:
    with claimed_folder(tmp_path / "run", {"a": 1}) as folder, answers_folder(folder) as kept:
        assert folder == kept == tmp_path / "run"
        with pytest.raises(ConfigError, match="another process"), claimed_folder(folder, {"a": 1}):
            pass
    with pytest.raises(ConfigError, match="a differ"), claimed_folder(tmp_path / "run", {"a": 2}):
        pass
    with claimed_folder(None, {"a": 1}) as folder, answers_folder(folder) as kept:
        assert folder is None
        assert kept.is_dir()
    assert not kept.exists()


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


PASSING = {UnscoredReason.BUDGET, UnscoredReason.TIMEOUT, UnscoredReason.TOOL_FAILURE}


@pytest.mark.parametrize("reason", UnscoredReason)
def test_what_failed_for_a_passing_reason_is_judged_again(tmp_path: Path, reason: UnscoredReason) -> None:
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
        assert list(log) == ([FIRST, SECOND] if reason in PASSING else [FIRST, failed, SECOND])
        assert (failed.id in log.finished) is (reason not in PASSING)


@pytest.mark.parametrize("broken", [b"{}\n", b"\n", b"null\n", b"\x00\xff\n", b'{"id": "x"}\n'])
def test_a_line_that_nobody_wrote_so_is_named_and_left_alone(tmp_path: Path, broken: bytes) -> None:
    path = filled(tmp_path / "reports.jsonl")
    written = path.read_bytes() + broken
    path.write_bytes(written)
    with pytest.raises(DataError, match=r"reports\.jsonl:3: .*remove the line and start the run again"):
        Log(path, REPORT_LOG)
    assert path.read_bytes() == written


@contextmanager
def files_of_at_most(n_bytes: int) -> Iterator[None]:
    resource = pytest.importorskip("resource")
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (n_bytes, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


def test_a_full_disk_is_named_and_loses_nothing_that_was_kept(tmp_path: Path) -> None:
    path = tmp_path / "reports.jsonl"
    with Log(path, REPORT_LOG) as log:
        log.append(FIRST)
        with (
            files_of_at_most(path.stat().st_size + 20),
            pytest.raises(ConfigError, match=r"reports\.jsonl: File too large"),
        ):
            log.append(SECOND)
    with Log(path, REPORT_LOG) as log:
        assert list(log) == [FIRST]
        log.append(SECOND)
        assert list(log) == [FIRST, SECOND]


ITEM = RunItem("1", "one", "p1", "Who?", "Ada\u2028was\nborn. \U0001f600")
GIVEN = RunItem(
    "2",
    "two",
    "p1",
    None,
    "",
    (GivenFacts(sentence="A.", facts=("a", "b")),),
    ((FactLabel.SUPPORTED, FactLabel.IRRELEVANT),),
)


def test_items_come_back_as_they_were_as_often_as_wanted() -> None:
    with spooled(iter([ITEM, GIVEN])) as spool:
        assert spool.n == 2
        assert list(spool) == [ITEM, GIVEN]
        assert list(spool) == [ITEM, GIVEN]


@pytest.mark.parametrize("n_bytes", [100, 100_000])  # found when it is read back, and while it is written
def test_a_full_temporary_folder_is_one_clear_error(n_bytes: int) -> None:
    lines = [b"123456789\n"] * (n_bytes // 10)
    with (
        files_of_at_most(50),
        pytest.raises(ConfigError, match=r"cannot store the input in .* \(File too large\)"),
        Spool(lines, dump=bytes, load=bytes) as spool,
    ):
        list(spool)


def test_the_digest_is_of_all_items_whatever_the_limit() -> None:
    with spooled([ITEM, GIVEN]) as whole, spooled(iter([ITEM, GIVEN]), limit=1) as first, spooled([ITEM]) as alone:
        assert list(first) == [ITEM]
        assert (first.n, first.digest) == (1, whole.digest)
        assert alone.digest != whole.digest
        another = [
            replace(ITEM, id="another"),
            replace(ITEM, system="another"),
            replace(ITEM, prompt_id="another"),
            replace(ITEM, prompt="another"),
            replace(ITEM, response="another"),
        ]
        for item in another:
            with spooled([item]) as other:
                assert other.digest != alone.digest
    with spooled([replace(GIVEN, labels=())]) as unlabelled, spooled([GIVEN]) as labelled:
        assert unlabelled.digest != labelled.digest


@pytest.mark.parametrize(
    ("second", "said"),
    [
        (replace(GIVEN, id="1"), "two responses have the id '1'"),
        (replace(ITEM, id="2"), "'one' answers the prompt 'p1' twice, in '1' and '2'"),
        (replace(GIVEN, response="half \ud83d"), "response '2' contains half a character"),
        (replace(GIVEN, prompt="\ude00"), "prompt of '2' contains half a character"),
    ],
)
def test_items_that_cannot_be_judged_are_refused(second: RunItem, said: str) -> None:
    with pytest.raises(DataError, match=said):
        spooled([ITEM, second])
    with pytest.raises(DataError, match=said):
        spooled([ITEM, second], limit=1)
