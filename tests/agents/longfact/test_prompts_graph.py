from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import pytest

from factloop.agents.longfact.graph import MOST_IDLE, build_prompts_graph, most_rounds, step_limit
from factloop.core.errors import BudgetExceeded, ConfigError, ModelOutputError, ModelRefusal

NAMES = [f"{first}{second}{first}" for first in "KLMNPRST" for second in "aeiou"]


def prompts(*places: int) -> list[str]:
    return [f"Who was {NAMES[place]}?" for place in places]


@dataclass
class Script:
    rounds: Sequence[Sequence[str] | Exception]
    asked: list[tuple[int, tuple[str, ...], float]] = field(default_factory=list)

    async def propose(self, topic: str, n: int, known: Sequence[str], rng: random.Random) -> Sequence[str]:
        assert topic == "people"
        self.asked.append((n, tuple(known), rng.random()))
        said = self.rounds[len(self.asked) - 1]
        if isinstance(said, Exception):
            raise said
        return said


async def collect(script: Script, wanted: int, *, seed: int = 0, **earlier: Any) -> dict[str, Any]:
    given: Any = {**earlier, "topic": "people", "wanted": wanted}
    result: dict[str, Any] = await build_prompts_graph(script, seed=seed).ainvoke(
        given, {"recursion_limit": step_limit(wanted)}
    )
    return result


async def test_it_asks_until_enough_differ_and_shows_what_it_has() -> None:
    script = Script([prompts(0, 1, 0), prompts(1, 2), prompts(3, 4, 5)])
    result = await collect(script, 4)
    assert result == {
        "kept": {"prompts": prompts(0, 1, 2, 3), "n_repeated": 2, "n_alike": 0, "n_unusable": 0},
        "n_rounds": 3,
        "failures": [],
    }
    assert [(n, list(known)) for n, known, _ in script.asked] == [(5, []), (5, prompts(0, 1)), (5, prompts(0, 1, 2))]


@pytest.mark.parametrize(("wanted", "n"), [(1, 5), (7, 7), (10, 10), (11, 10)])
async def test_it_asks_for_a_handful_at_a_time(wanted: int, n: int) -> None:
    script = Script([prompts(*range(wanted))])
    await collect(script, wanted)
    assert [asked[0] for asked in script.asked] == [n]


async def test_a_topic_is_exhausted_after_idle_rounds_in_a_row() -> None:
    idle = prompts(0)
    script = Script([prompts(0), idle, idle, prompts(1), *[idle] * MOST_IDLE])
    result = await collect(script, 20)
    assert result["kept"]["prompts"] == prompts(0, 1)
    assert (result["n_rounds"], result["kept"]["n_repeated"]) == (7, 5)


async def test_rounds_are_bounded() -> None:
    script = Script([prompts(place) for place in range(len(NAMES))])
    result = await collect(script, 12)
    assert result["n_rounds"] == most_rounds(12) == 9  # ceil(12 / 10) = 2 rounds if all were new; 3 * 2 + 3
    assert len(result["kept"]["prompts"]) == 9


async def test_a_failed_round_is_recorded_and_followed_by_another() -> None:
    refused = ModelRefusal("no", schema="LongFactPrompts", reply="no")
    result = await collect(Script([refused, prompts(0, 1)]), 2)
    assert (result["kept"]["prompts"], result["failures"]) == (prompts(0, 1), ["LongFactPrompts: no"])


async def test_nothing_but_failures_is_no_prompt() -> None:
    unreadable = ModelOutputError("no object", schema="LongFactPrompts", reply="x")
    result = await collect(Script([unreadable] * MOST_IDLE), 2)
    assert (result["kept"]["prompts"], len(result["failures"]), result["n_rounds"]) == ([], MOST_IDLE, MOST_IDLE)


async def test_the_end_of_the_budget_ends_it_at_once() -> None:
    result = await collect(Script([prompts(0), BudgetExceeded("1 calls")]), 5)
    assert (result["kept"]["prompts"], result["n_rounds"]) == (prompts(0), 2)


async def test_a_wrong_set_up_is_raised() -> None:
    with pytest.raises(ConfigError, match="no key"):
        await collect(Script([ConfigError("no key")]), 5)


async def test_it_goes_on_from_an_earlier_result() -> None:
    first = await collect(Script([prompts(0, 1)]), 2)
    script = Script([prompts(1, 2)])
    second = await collect(script, 3, **first)
    assert second["kept"] == {"prompts": prompts(0, 1, 2), "n_repeated": 1, "n_alike": 0, "n_unusable": 0}
    assert (second["n_rounds"], script.asked[0][:2]) == (2, (5, tuple(prompts(0, 1))))


async def test_what_is_drawn_depends_on_the_seed_and_the_round_alone() -> None:
    async def drawn(seed: int) -> list[float]:
        script = Script([[], [], []])
        await collect(script, 5, seed=seed)
        return [number for *_, number in script.asked]

    assert await drawn(1) == await drawn(1)
    assert len({*await drawn(1), *await drawn(2)}) == 6
