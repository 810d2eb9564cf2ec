"""Responses of the simulated model: asked once, kept whole, and never made up where a call failed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from factloop.core.errors import ConfigError
from factloop.core.records import UnscoredReason
from factloop.evaluation.datasets.longfact import POSTAMBLE, AnyPrompt
from factloop.evaluation.generation.records import GeneratedResponse, ResponsesReport
from factloop.evaluation.generation.response_file import Outcome, read_responses
from factloop.evaluation.generation.responses import astream_responses, model_prompts
from factloop.evaluation.generation.settings import ResponseSettings
from factloop.evaluation.running.run import Events, NewRecord, RunStarted, summary_of
from tests.simulator import MODEL, Faults, Simulator


async def generate(sim: Simulator, out: Path, *, n: int = 6, postamble: bool = True, **changes: Any) -> ResponsesReport:
    """Generates responses to `n` prompts of the simulated world, in the order of their ids."""
    return await summary_of(stream(sim, out, n=n, postamble=postamble, **changes))


def stream(
    sim: Simulator, out: Path, *, n: int = 6, postamble: bool = True, **changes: Any
) -> Events[Outcome, ResponsesReport]:
    system = changes.pop("system", None)
    settings = ResponseSettings.of(
        None, **{"model": MODEL, "base_url": sim.base_url, "cache": False, "price_in": 1, "price_out": 2, **changes}
    )
    prompts = [AnyPrompt(id=f"w/{place}", prompt=one.prompt) for place, one in enumerate(sim.world.responses[:n])]
    asked = model_prompts(prompts, postamble=postamble)
    return astream_responses(asked, settings, out, data="the world", system=system)


def rows_of(out: Path) -> dict[str, GeneratedResponse]:
    return read_responses(out)


async def test_each_prompt_is_asked_by_itself_and_answered_in_a_row(sim: Simulator, tmp_path: Path) -> None:
    started, *new, report = [event async for event in stream(sim, tmp_path / "out.jsonl")]
    assert started == RunStarted(6, 0)
    assert isinstance(report, ResponsesReport)
    spent = [event.usage for event in new if isinstance(event, NewRecord)]
    rows = rows_of(tmp_path / "out.jsonl")
    for place, response in enumerate(sim.world.responses[:6]):
        row = rows[f"w/{place}"]
        assert (row.response, row.prompt) == (response.text, f"{response.prompt} {POSTAMBLE}")
        assert (row.id, row.system, row.cut_off) == (f"w/{place}/{MODEL}", MODEL, False)
    assert {body["messages"][0]["content"] for body in sim.bodies()} == {row.prompt for row in rows.values()}
    assert all(len(body["messages"]) == 1 and "response_format" not in body for body in sim.bodies())
    assert {(body["temperature"], body["max_completion_tokens"]) for body in sim.bodies()} == {(0.5, 4096)}
    assert (report.n_prompts, report.n_answered, report.n_earlier, report.unanswered) == (6, 6, 0, ())
    assert (report.usage.calls, len(spent)) == (6, 6)
    assert report.usage.cost_usd == pytest.approx(sum(one.cost_usd or 0.0 for one in spent))


async def test_the_same_start_again_asks_nothing_and_a_larger_one_the_rest(sim: Simulator, tmp_path: Path) -> None:
    out = tmp_path / "out.jsonl"
    await generate(sim, out, n=4)
    first = out.read_bytes()
    again = await generate(sim, out, n=4)
    assert (again.n_earlier, again.n_answered, again.usage.calls, out.read_bytes()) == (4, 4, 0, first)
    more = await generate(sim, out, n=6)
    assert (more.n_earlier, more.n_answered, more.usage.calls) == (4, 6, 2)
    assert out.read_bytes().startswith(first)
    assert sim.stats().repeated == 0


@pytest.mark.parametrize(
    "change", [{"n": 3}, {"postamble": False}, {"system": "other"}, {"temperature": 0.0}, {"max_tokens": 100}]
)
async def test_another_run_is_refused_before_anything_is_spent(
    sim: Simulator, tmp_path: Path, change: dict[str, Any]
) -> None:
    out = tmp_path / "out.jsonl"
    await generate(sim, out, n=4)
    sim.reset()
    before = out.read_bytes()
    with pytest.raises(ConfigError, match="holds responses of another run"):
        await generate(sim, out, **{"n": 5, **change})
    assert (sim.stats().stages, out.read_bytes()) == ({}, before)


async def test_a_failed_call_is_no_response_and_is_made_again(sim: Simulator, tmp_path: Path) -> None:
    out = tmp_path / "out.jsonl"
    sim.set(stage_faults={"chat": Faults(refusal=0.5)})
    first = await generate(sim, out, n=20, cache=True, cache_dir=tmp_path / "cache", concurrency=1)
    missing = {one.prompt_id for one in first.unanswered}
    assert 0 < len(missing) < 20
    assert {one.reason for one in first.unanswered} == {UnscoredReason.REFUSAL}
    assert missing.isdisjoint(rows_of(out))
    assert first.n_answered + len(missing) == first.n_prompts == 20
    sim.set(stage_faults={})
    second = await generate(sim, out, n=20, cache=True, cache_dir=tmp_path / "cache")
    assert (second.usage.calls, second.n_answered, second.unanswered) == (len(missing), 20, ())


async def test_a_response_at_the_limit_is_kept_and_marked(sim: Simulator, tmp_path: Path) -> None:
    report = await generate(sim, tmp_path / "out.jsonl", n=2, max_tokens=64)
    rows = rows_of(tmp_path / "out.jsonl")
    assert report.n_cut_off == 2
    assert all(row.cut_off and len(row.response) <= 4 * 64 for row in rows.values())
    again = await generate(sim, tmp_path / "out.jsonl", n=2, max_tokens=64)
    assert (again.n_cut_off, again.usage.calls) == (2, 0)


async def test_at_the_end_of_the_budget_the_rest_is_unanswered(sim: Simulator, tmp_path: Path) -> None:
    report = await generate(sim, tmp_path / "out.jsonl", max_calls=2)
    assert (report.n_answered, len(report.unanswered)) == (2, 4)
    assert {one.reason for one in report.unanswered} == {UnscoredReason.BUDGET}
    more = await generate(sim, tmp_path / "out.jsonl", max_calls=4)  # a limit is of each start
    assert (more.n_answered, more.usage.calls) == (6, 4)
