"""A run over a data set in this process: what is judged, what is not judged again, and what is held meanwhile."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from factloop.core.errors import ConfigError, DataError
from factloop.evaluation.runs.items import RunItem
from factloop.evaluation.runs.reading import read_run
from factloop.evaluation.runs.records import RunSummary
from factloop.evaluation.runs.run import arun
from factloop.evaluation.runs.summary import Scoring
from tests.checking.simulated import simulated_checker
from tests.evaluation.running.short_responses import short_facts, short_items
from tests.simulator import Simulator


async def run(sim: Simulator, items: list[RunItem], **options: Any) -> RunSummary:
    settings = options.pop("settings", {})
    async with simulated_checker(sim, **settings) as checker:
        return await arun(checker, iter(items), data="short", **options)


def stable(summary: RunSummary) -> Any:
    return summary.model_dump(mode="json", exclude={"usage", "created_at"})


@pytest.fixture
def items(sim: Simulator) -> list[RunItem]:
    return list(short_items(sim.world, 8))


async def test_the_summary_is_of_what_was_judged_and_kept(sim: Simulator, items: list[RunItem], tmp_path: Path) -> None:
    summary = await run(sim, items, run_dir=tmp_path / "run", scoring=Scoring(ks=(2, "median")))
    kept = read_run(tmp_path / "run")
    assert kept.summary == summary
    judged = {one.id: one for one in kept.responses()}
    assert set(judged) == {item.id for item in items}
    for item in items:
        _, gold = short_facts(sim.world)[item.response]
        supported = sum(fact.label == "supported" for fact in gold)
        assert judged[item.id].report.counts.supported == supported
        assert judged[item.id].report.prompt == item.prompt
    assert summary.usage.calls == sim.stats().model.answered
    assert summary.usage.searches == sim.stats().search.answered
    assert summary.scores.systems[0].n_responses == 4


async def test_a_finished_run_costs_nothing_and_may_be_scored_otherwise(
    sim: Simulator, items: list[RunItem], tmp_path: Path
) -> None:
    first = await run(sim, items, run_dir=tmp_path / "run")
    sim.reset()
    again = await run(sim, items[::-1][::-1], run_dir=tmp_path / "run", scoring=Scoring(ks=(1,), resamples=10))
    assert sim.stats().stages == {}
    assert [choice.k for choice in again.scores.ks] == [1]
    assert again.responses == first.responses
    assert again.usage.calls == first.usage.calls
    assert read_run(tmp_path / "run").summary == again


async def test_a_higher_limit_goes_on_and_a_lower_one_leaves_out(
    sim: Simulator, items: list[RunItem], tmp_path: Path
) -> None:
    few = await run(sim, items, run_dir=tmp_path / "run", limit=3)
    assert [line.id for line in few.responses] == ["r0000", "r0002", "r0001"]
    all_ = await run(sim, items, run_dir=tmp_path / "run")
    assert (len(all_.responses), sim.stats().repeated) == (8, 0)
    sim.reset()
    assert stable(await run(sim, items, run_dir=tmp_path / "run", limit=3)) == stable(few)
    assert len(list(read_run(tmp_path / "run").responses())) == 3
    assert sim.stats().stages == {}


@pytest.mark.parametrize(
    ("change", "named"),
    [({"items": 7}, "data"), ({"settings": {"plan": "paper"}}, "plan"), ({"kind": "factscore"}, "kind")],
)
async def test_another_run_in_the_same_place_is_refused(
    sim: Simulator, items: list[RunItem], tmp_path: Path, change: dict[str, Any], named: str
) -> None:
    await run(sim, items[:2] if named != "data" else items, run_dir=tmp_path / "run")
    before = {path.name: path.read_bytes() for path in (tmp_path / "run").iterdir()}
    sim.reset()
    given = items[: change.pop("items", 2)]
    with pytest.raises(ConfigError, match=rf"another configuration \(.*\b{named}\b.* differ\)"):
        await run(sim, given, run_dir=tmp_path / "run", **change)
    assert {path.name: path.read_bytes() for path in (tmp_path / "run").iterdir()} == before
    assert sim.stats().stages == {}


async def test_what_a_failing_server_left_unscored_is_judged_again(
    sim: Simulator, items: list[RunItem], tmp_path: Path
) -> None:
    whole = await run(sim, items)
    sim.reset()
    stopped = await run(sim, items, run_dir=tmp_path / "run", settings={"max_calls": 12})
    assert sum(one.counts.unscored for one in stopped.scores.systems) > 0
    assert "budget was used up" in stopped.warnings[0]
    finished = await run(sim, items, run_dir=tmp_path / "run", settings={"max_calls": 1000})
    assert finished.scores == whole.scores
    assert sim.stats().repeated == 0
    assert finished.usage.calls >= sim.stats().model.answered  # a call that two attempts share is counted in both


async def test_an_empty_response_is_an_abstention_and_costs_nothing(sim: Simulator) -> None:
    summary = await run(sim, [RunItem("1", "one", "p", "Who?", ""), RunItem("2", "one", "q", "Who?", " \n")])
    assert sim.stats().stages == {}
    (system,) = summary.scores.systems
    assert (system.n_abstained, system.counts.total, system.at_k[0].f1.value, system.precision.value) == (2, 0, 0, None)


async def test_nothing_is_spent_before_all_of_the_input_is_found_whole(
    sim: Simulator, items: list[RunItem], tmp_path: Path
) -> None:
    def broken() -> Iterator[RunItem]:
        yield from items
        raise DataError("bad row", path="responses.jsonl", line=9)

    async with simulated_checker(sim) as checker:
        with pytest.raises(DataError, match=r"responses\.jsonl:9: bad row"):
            await arun(checker, broken(), data="x", run_dir=tmp_path / "run")
        with pytest.raises(DataError, match="x: there is no response to score"):
            await arun(checker, [], data="x")
    assert sim.stats().stages == {}
    assert not (tmp_path / "run").exists()
