from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from factloop import FactualityReport, UnscoredReason
from factloop.core.errors import ConfigError
from factloop.setup.run_directory import RunDirectory
from tests.checking.simulated import simulated_checker
from tests.simulator import Response, Simulator
from tests.simulator.scoring import score

VOLATILE = {"usage", "created_at"}
"""What may differ between runs that found the same: clock times, and how answers were come by."""


async def check(sim: Simulator, response: Response, run_dir: Path | None, **settings: Any) -> FactualityReport:
    async with simulated_checker(sim, **settings) as checker:
        return await checker.acheck(response.text, response.prompt, run_dir=run_dir)


def stable(report: FactualityReport) -> Any:
    dumped = report.model_dump(mode="json", exclude=VOLATILE)
    for claim in dumped["claims"]:
        for item in claim["evidence"]:
            del item["retrieved_at"]
    return dumped


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


async def test_a_finished_run_is_replayed_for_nothing(sim: Simulator, response: Response, tmp_path: Path) -> None:
    first = await check(sim, response, tmp_path / "run")
    paid = sim.stats()
    sim.reset()
    second = await check(sim, response, tmp_path / "run")
    assert sim.stats().stages == {}
    assert stable(second) == stable(first)
    assert second.usage.calls == paid.model.answered
    assert second.usage.searches == paid.search.answered
    kept = FactualityReport.model_validate_json((tmp_path / "run" / "report.json").read_bytes())
    assert kept == second


def _n_requests(sim: Simulator) -> int:
    stats = sim.stats()
    return stats.model.requests + stats.search.requests


async def test_a_run_that_its_budget_stopped_goes_on_with_a_higher_one(
    sim: Simulator, response: Response, tmp_path: Path
) -> None:
    stopped = await check(sim, response, tmp_path / "run", max_calls=10)
    assert {claim.judgement.unscored_reason for claim in stopped.claims} >= {UnscoredReason.BUDGET}
    finished = await check(sim, response, tmp_path / "run", max_calls=1000)
    assert score(finished.claims, response.facts).n_equal == len(response.facts)
    assert sim.stats().repeated == 0
    assert sim.stats().model.answered == finished.usage.calls


@pytest.mark.parametrize(
    ("change", "named"),
    [({"plan": "paper"}, "plan"), ({"temperature": 0.7}, "sampling"), ({"max_searches": 2}, "max_searches")],
)
async def test_another_configuration_is_refused_and_nothing_changes(
    sim: Simulator, response: Response, tmp_path: Path, change: dict[str, Any], named: str
) -> None:
    await check(sim, response, tmp_path / "run")
    before = contents(tmp_path / "run")
    sim.reset()
    with pytest.raises(ConfigError, match=rf"a different configuration \(changed: .*\b{named}\b"):
        await check(sim, response, tmp_path / "run", **change)
    assert contents(tmp_path / "run") == before
    assert sim.stats().stages == {}


@pytest.mark.parametrize("name", ["notes.txt", "report.json", "journal.sqlite"])
def test_a_folder_of_something_else_is_refused_and_left_alone(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_text("mine")
    with pytest.raises(ConfigError, match="neither empty nor a run directory"):
        RunDirectory(tmp_path)
    assert contents(tmp_path) == {name: b"mine"}


@pytest.mark.parametrize("left", [set(), {"lock"}, {"lock", "run.tmp"}])
def test_what_a_killed_start_leaves_behind_is_no_obstacle(tmp_path: Path, left: set[str]) -> None:
    for name in left:
        (tmp_path / name).write_text("half")
    with RunDirectory(tmp_path) as directory:
        directory.claim({"plan": "fused"})
    assert json.loads((tmp_path / "run.json").read_text())["plan"] == "fused"
    assert not (tmp_path / "run.tmp").exists()


def test_a_run_is_at_work_in_one_place_at_a_time(tmp_path: Path) -> None:
    with RunDirectory(tmp_path), pytest.raises(ConfigError, match="another process is using"):
        RunDirectory(tmp_path)
    with RunDirectory(tmp_path):
        pass


@pytest.mark.parametrize(
    "written", ["", "{", "[]", "null", '"text"', "\x00", "[" * 100_000], ids=lambda text: repr(text[:9])
)
def test_a_broken_description_is_refused(tmp_path: Path, written: str) -> None:
    (tmp_path / "run.json").write_text(written)
    with RunDirectory(tmp_path) as directory, pytest.raises(ConfigError, match=r"run\.json"):
        directory.claim({"plan": "fused"})
    assert (tmp_path / "run.json").read_text() == written


async def test_a_broken_journal_is_refused(sim: Simulator, response: Response, tmp_path: Path) -> None:
    await check(sim, response, tmp_path / "run")
    for path in (tmp_path / "run").glob("journal.sqlite*"):
        path.unlink()
    (tmp_path / "run" / "journal.sqlite").write_bytes(b"nothing of SQLite" * 100)
    with pytest.raises(ConfigError, match=r"journal\.sqlite"):
        await check(sim, response, tmp_path / "run")
