"""How responses are given to workers: the workers are played, what they die of is Ray's own error."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from contextlib import aclosing
from dataclasses import dataclass, field
from typing import Any

import pytest
from ray.exceptions import RayActorError

from factloop.core.errors import ConfigError, ToolError
from factloop.evaluation.running.team import Team, at_once
from factloop.evaluation.running.worker import Wrong
from factloop.evaluation.runs.items import RunItem
from factloop.evaluation.runs.records import JudgedResponse
from factloop.setup.settings import CheckSettings

SHARE = CheckSettings(concurrency=4)
Answer = Callable[[RunItem | None], Any]


@dataclass(frozen=True)
class Method:
    """Called as a method of an actor is: `actor.judge.remote(item).future()`."""

    answer: Answer

    def remote(self, item: RunItem | None = None) -> Any:
        future: Future[Any] = Future()
        try:
            answer = self.answer(item)
            if isinstance(answer, Future):
                return Reference(answer)
            future.set_result(answer)
        except RayActorError as error:
            future.set_exception(error)
        return Reference(future)


@dataclass(frozen=True)
class Reference:
    made: Future[Any]

    def future(self) -> Future[Any]:
        return self.made


@dataclass
class Actor:
    judging: Answer
    opening: Answer = lambda _: None

    @property
    def open(self) -> Method:
        return Method(self.opening)

    @property
    def judge(self) -> Method:
        return Method(self.judging)


@dataclass
class Agency:
    """Hires the given actors in turn."""

    actors: list[Actor]
    ended: list[Actor] = field(default_factory=list)

    def team(self, items: list[str], *, workers: int, n_replacements: int = 0) -> Team[RunItem, JudgedResponse]:
        hired = iter(self.actors)
        return Team[RunItem, JudgedResponse](
            shares=[SHARE] * workers,
            items=iter([item(name) for name in items]),
            describe=described,
            hire=lambda _: next(hired),
            end=self.ended.append,
            n_replacements=n_replacements,
        )


def item(name: str) -> RunItem:
    return RunItem(id=name, system="s", prompt_id=name, prompt=None, response="")


def described(given: RunItem) -> str:
    return f"the response {given.id!r}"


def judged(given: RunItem | None) -> JudgedResponse:
    assert given is not None
    return JudgedResponse.model_construct(id=given.id)


def dying_of(*names: str) -> Answer:
    def answer(given: RunItem | None) -> JudgedResponse:
        if given is None or given.id in names:
            raise RayActorError
        return judged(given)

    return answer


def never(_: RunItem | None) -> Future[Any]:
    """An actor that is waited for."""
    return Future()


async def judged_by(team: Team[RunItem, JudgedResponse]) -> list[str]:
    async with aclosing(team.judged()) as judging:
        return sorted([one.id async for one in judging])


def names(n: int) -> list[str]:
    return [str(number) for number in range(n)]


async def test_every_response_is_judged_once() -> None:
    agency = Agency([Actor(judged), Actor(judged)])
    assert await judged_by(agency.team(names(9), workers=2)) == names(9)
    assert agency.ended == []


async def test_what_a_dead_worker_was_at_goes_to_another(caplog: pytest.LogCaptureFixture) -> None:
    dying = Actor(dying_of(*names(9)))
    agency = Agency([dying, Actor(judged)])
    assert await judged_by(agency.team(names(9), workers=2)) == names(9)
    assert agency.ended == [dying]
    assert caplog.messages == ["A worker died (RayActorError); its work goes to others."]


async def test_a_worker_that_dies_is_replaced_as_often_as_was_said() -> None:
    always = dying_of(*names(3))
    agency = Agency([Actor(always), Actor(always), Actor(judged)])
    assert await judged_by(agency.team(names(3), workers=1, n_replacements=2)) == names(3)
    with pytest.raises(ToolError, match="all workers died"):
        await judged_by(Agency([Actor(always), Actor(always)]).team(names(3), workers=1, n_replacements=1))


async def test_a_response_that_kills_its_workers_is_named_in_the_end() -> None:
    agency = Agency([Actor(dying_of("2")) for _ in range(9)])
    with pytest.raises(ToolError, match="3 workers died while they judged the response '2'"):
        await judged_by(agency.team(["2"], workers=1, n_replacements=8))
    assert len(agency.ended) == 3


async def test_workers_that_die_at_once_end_the_run_unless_nothing_is_left() -> None:
    stillborn = Actor(judged, opening=dying_of())
    with pytest.raises(ToolError, match="all workers died"):
        await judged_by(Agency([stillborn]).team(["1"], workers=1))
    assert await judged_by(Agency([stillborn]).team([], workers=1)) == []


async def test_the_run_ends_with_its_last_item_whoever_is_still_starting() -> None:
    """As a replacement for which the cluster has no room any more."""
    starting = Actor(judged, opening=never)
    agency = Agency([Actor(dying_of("0")), Actor(judged), starting])
    team = agency.team(names(5), workers=2, n_replacements=1)
    assert await judged_by(team) == names(5)
    assert [member.actor for member in team.members if not member.ready] == [starting]


async def test_what_a_dead_worker_was_at_waits_for_one_that_is_starting() -> None:
    """The only worker that is left gets ready late."""
    late: Future[Any] = Future()
    agency = Agency([Actor(dying_of("0")), Actor(judged, opening=lambda _: late)])
    team = agency.team(["0"], workers=1, n_replacements=1)
    asyncio.get_running_loop().call_later(0.05, late.set_result, None)
    assert await judged_by(team) == ["0"]


async def test_workers_that_never_start_are_not_waited_for_without_end() -> None:
    agency = Agency([Actor(judged, opening=never)])
    team = agency.team(["0"], workers=1)
    team.started_within_s = 0.05
    with pytest.raises(ToolError, match=r"no worker was ready within 0.05 s: .* What was judged is kept"):
        await judged_by(team)


async def test_a_wrong_set_up_is_raised_as_what_it_is() -> None:
    wrong = Actor(judged, opening=lambda _: Wrong(is_about_data=False, message="no key"))
    with pytest.raises(ConfigError, match="no key"):
        await judged_by(Agency([wrong]).team(["1"], workers=1))


async def test_no_more_is_read_than_the_workers_have_room_for() -> None:
    read: list[str] = []

    def items() -> Iterator[RunItem]:
        for name in names(1000):
            read.append(name)
            yield item(name)

    team = Team[RunItem, JudgedResponse](
        shares=[SHARE] * 2,
        items=items(),
        describe=described,
        hire=lambda _: Actor(judged),
        end=lambda _: None,
        n_replacements=0,
    )
    async with aclosing(team.judged()) as judging:
        await anext(judging)
        assert len(read) <= 2 * at_once(SHARE) == 4


@pytest.mark.parametrize(("concurrency", "responses"), [(0, 32), (1, 2), (4, 2), (32, 16), (500, 32)])
def test_responses_at_a_time_follow_the_calls_in_flight(concurrency: int, responses: int) -> None:
    assert at_once(CheckSettings(concurrency=concurrency)) == responses
