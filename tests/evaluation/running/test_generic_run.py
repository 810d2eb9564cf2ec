"""A run of any feature, here squares of numbers: what is made, kept, made again, and summed up."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Iterable
from contextlib import aclosing
from pathlib import Path

import pytest

from factloop.core.errors import ConfigError, DataError
from factloop.core.records import Record, Usage
from factloop.evaluation.running.log import Log, LogFormat
from factloop.evaluation.running.run import (
    Increments,
    NewRecord,
    Run,
    RunStarted,
    answers_folder,
    claimed_folder,
    summary_of,
)


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
    """An engine that makes records in the reverse order of the numbers."""
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
