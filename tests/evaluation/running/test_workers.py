from __future__ import annotations

import asyncio
import os
from collections.abc import Awaitable, Callable, Iterator
from contextlib import aclosing, closing
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from ray.exceptions import RayActorError

import factloop
from factloop.core.errors import ConfigError, DataError, ToolError
from factloop.core.records import UnscoredReason
from factloop.evaluation.running.journals import gather, journal_at
from factloop.evaluation.running.on_ray import Home, Pool, Worker, Wrong, divide
from factloop.evaluation.runs.records import JudgedResponse
from factloop.evaluation.runs.run import judge_on_ray, open_judge_with
from factloop.setup.settings import CheckSettings
from factloop.tools.calls.cache import CallCache
from tests.evaluation.running.short_responses import short_items
from tests.rights import open_to_others
from tests.simulator import MODEL, Simulator

ROOM = 2


class Method:
    def __init__(self, remote: Callable[..., Awaitable[Any]]) -> None:
        self.remote = remote

    def options(self, *, max_task_retries: int) -> Method:
        assert max_task_retries == 0, "Ray would wait for the replacement, for which there may never be room"
        return self


class Actor:
    """Dies of some items; its replacement, if there is one, survives all."""

    def __init__(
        self,
        dies_of: str = "",
        *,
        opening: Any = None,
        starts_after_s: float = 0.0,
        replaced_after_s: float | None = None,
        judges_in_s: float = 0.0,
    ) -> None:
        lives = iter([starts_after_s] if replaced_after_s is None else [starts_after_s, replaced_after_s])
        deadly = dies_of

        async def open_() -> Any:
            try:
                await asyncio.sleep(next(lives))
            except StopIteration:
                raise RayActorError from None
            return opening

        async def judge(item: str) -> str:
            nonlocal deadly
            await asyncio.sleep(judges_in_s)
            if item in deadly:
                deadly = ""
                raise RayActorError
            return item

        self.open, self.judge = Method(open_), Method(judge)


NEVER = 1e6


def pool_of(*actors: Actor) -> Pool[str, str]:
    return Pool(actors, [ROOM] * len(actors), lambda item: f"the response {item!r}")


async def judged_by(pool: Pool[str, str], items: str) -> str:
    async with aclosing(pool.judged(items, started_within_s=0.5, replaced_within_s=0.5)) as judging:
        return "".join(sorted([one async for one in judging]))


@pytest.mark.parametrize(
    "actors",
    [
        [Actor(), Actor()],
        [Actor(dies_of="012345678"), Actor()],
        [Actor(), Actor(starts_after_s=NEVER)],
        [Actor(dies_of="0"), Actor(starts_after_s=0.05)],
        [Actor(dies_of="3", replaced_after_s=0.05)],
        [Actor(dies_of="3", replaced_after_s=NEVER), Actor()],
        [Actor(dies_of="1", replaced_after_s=0.2, judges_in_s=0.4), Actor(starts_after_s=NEVER)],
    ],
    ids=[
        "two",
        "one dies",
        "one never starts",
        "one dies before the other starts",
        "one is replaced",
        "a replacement has no room",
        "one is replaced, and others have waited from the start",
    ],
)
async def test_every_response_is_judged_once(actors: list[Actor]) -> None:
    assert await judged_by(pool_of(*actors), "012345678") == "012345678"


@pytest.mark.parametrize(
    ("actors", "error", "said"),
    [
        ([Actor(dies_of="0"), Actor(dies_of="0")], ToolError, "all workers died: .* Finished judgements are kept"),
        ([Actor(dies_of="0", replaced_after_s=NEVER)], ToolError, r"all workers died: none was replaced within 0\.5 s"),
        ([Actor(dies_of="2") for _ in range(5)], ToolError, "3 workers died while judging the response '2'"),
        ([Actor(starts_after_s=NEVER)], ToolError, "no worker was ready within 0.5 s"),
        ([Actor(), Actor(opening=Wrong(is_about_data=False, message="not set up"))], ConfigError, "not set up"),
        ([Actor(opening=Wrong(is_about_data=True, message="no data"))], DataError, "no data"),
    ],
)
async def test_what_ends_a_run(actors: list[Actor], error: type[Exception], said: str) -> None:
    with pytest.raises(error, match=said):
        await judged_by(pool_of(*actors), "012")


@pytest.mark.parametrize("address", ["127.0.0.1:1", "ray://127.0.0.1:1", "nonsense::", "127.0.0.1:99999"])
async def test_an_address_without_a_cluster_is_refused_at_once(address: str) -> None:
    with pytest.raises(ConfigError, match=f"no Ray cluster responds at --address {address}"):
        await anext(judge_on_ray(CheckSettings(), [], directory=None, workers=2, address=address))


async def test_no_more_is_read_than_the_workers_have_room_for() -> None:
    read: list[str] = []

    def items() -> Iterator[str]:
        for number in range(1000):
            read.append(str(number))
            yield read[-1]

    async with aclosing(pool_of(Actor(), Actor()).judged(items())) as judging:
        await anext(judging)
        assert len(read) <= 2 * ROOM


@pytest.fixture
def share(sim: Simulator, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> CheckSettings:
    monkeypatch.setenv("FACTLOOP_CACHE_DIR", str(tmp_path / "cache"))
    return CheckSettings(model=MODEL, base_url=sim.base_url, search=("serper",), concurrency=4)


async def test_a_limit_on_calls_is_kept_by_all_workers_together(sim: Simulator, share: CheckSettings) -> None:
    shares, home = divide(CheckSettings.of(share, max_calls=7), 2, paid=(2, 0.0)), Path.cwd()
    workers = [Worker(open_judge_with, one, None, Home("here", home, {}, factloop.__version__)) for one in shares]
    items = list(short_items(sim.world, 8))
    judged = [await workers[number % 2].judge(item) for number, item in enumerate(items)]
    reasons = [
        claim.judgement.unscored_reason
        for one in judged
        if isinstance(one, JudgedResponse)
        for claim in one.report.claims
    ]
    assert len([one for one in judged if isinstance(one, JudgedResponse)]) == len(items)
    assert UnscoredReason.BUDGET in reasons
    assert sim.stats().model.requests == 5


def test_shares_add_up() -> None:
    run = CheckSettings(concurrency=5, requests_per_second=3.0, max_calls=20, budget_usd=1.0)
    one, two = divide(run, 2, paid=(9, 0.5))
    # 20 - 9 = 11 calls are left, 6 and 5; 1.00 - 0.50 USD, 0.25 each.
    assert (one.concurrency, one.requests_per_second, one.max_calls, one.budget_usd) == (3, 1.5, 6, 0.25)
    assert (two.concurrency, two.requests_per_second, two.max_calls, two.budget_usd) == (2, 1.5, 5, 0.25)


@given(st.integers(1, 64), st.integers(64, 500), st.integers(0, 1000), st.integers(0, 1000))
def test_together_they_never_have_more(workers: int, concurrency: int, most: int, paid: int) -> None:
    shares = divide(CheckSettings(concurrency=concurrency, max_calls=most), workers, paid=(paid, 0.0))
    assert sum(share.concurrency for share in shares) == concurrency
    assert min(share.concurrency for share in shares) >= 1
    assert sum(share.max_calls or 0 for share in shares) == max(0, most - paid)


HOME, OTHER = "10.0.0.1", "10.0.0.2"


def keep(path: Path, **answers: str) -> None:
    with closing(CallCache(path)) as cache:
        for key, value in answers.items():
            cache.put(key, value, calls=1, usd=0.5)


def kept(path: Path, *keys: str) -> list[str | None]:
    with closing(CallCache(path)) as cache:
        return [None if found is None else found.value for found in map(cache.get, keys)]


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_on_one_machine_there_is_one_journal(tmp_path: Path) -> None:
    folder = tmp_path / "run"
    assert gather(folder, elsewhere=False) == (0, 0.0)
    assert journal_at(folder, HOME, HOME) == folder / "journal.sqlite"
    keep(folder / "journal.sqlite", a="one", b="two")
    assert gather(folder, elsewhere=False) == (2, 1.0)
    assert names(folder) == ["journal.sqlite"]


def test_what_was_paid_on_another_machine_is_known_everywhere_at_the_next_start(tmp_path: Path) -> None:
    gather(tmp_path, elsewhere=True)
    keep(journal_at(tmp_path, HOME, HOME), a="here", b="here first")
    keep(journal_at(tmp_path, OTHER, HOME), b="there", c="there")
    keep(journal_at(tmp_path, "fe80::1", HOME), d="third")
    assert names(tmp_path) == ["earlier.sqlite", "journal-10.0.0.2.sqlite", "journal-fe80__1.sqlite", "journal.sqlite"]
    # a, b, c and d were paid for, and b by two machines: what it cost is known for one of them.
    assert gather(tmp_path, elsewhere=True) == (4, 2.0)
    assert names(tmp_path) == ["earlier.sqlite", "journal.sqlite"]
    assert kept(journal_at(tmp_path, HOME, HOME), *"abcd") == ["here", "here first", "there", "third"]
    assert kept(journal_at(tmp_path, "10.0.0.9", HOME), *"abcd") == ["here", "here first", "there", "third"]


def test_a_second_worker_of_a_machine_finds_what_the_first_wrote(tmp_path: Path) -> None:
    gather(tmp_path, elsewhere=True)
    keep(journal_at(tmp_path, OTHER, HOME), c="there")
    assert kept(journal_at(tmp_path, OTHER, HOME), "c") == ["there"]
    assert not [name for name in names(tmp_path) if name.endswith(".part")]


@pytest.mark.skipif(os.name != "posix", reason="rights of this kind")
@pytest.mark.usefixtures("widest_umask")
def test_journals_and_copies_are_their_owner_s_alone(tmp_path: Path) -> None:
    folder = tmp_path / "run"
    keep(folder / "journal.sqlite", a="one")
    gather(folder, elsewhere=True)
    keep(journal_at(folder, OTHER, HOME), b="two")
    assert names(folder) == ["earlier.sqlite", "journal-10.0.0.2.sqlite", "journal.sqlite"]
    assert open_to_others(folder) == []


def test_a_file_that_is_no_journal_is_named_and_stays(tmp_path: Path) -> None:
    (tmp_path / "journal-x.sqlite").write_bytes(b"no database" * 1000)
    with pytest.raises(ConfigError, match=r"journal-x\.sqlite"):
        gather(tmp_path, elsewhere=False)
    assert (tmp_path / "journal-x.sqlite").exists()
