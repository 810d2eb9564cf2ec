from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from factloop.core.errors import ToolError
from factloop.evaluation.comparing.records import Quantity
from factloop.evaluation.experiments import run
from factloop.evaluation.experiments.assess import assess
from factloop.evaluation.experiments.estimate import estimate_experiment
from factloop.evaluation.experiments.plan import ExperimentPlan
from factloop.evaluation.experiments.run import arun_experiment
from factloop.evaluation.experiments.splitting import Split, SplitQuality, split_quality
from factloop.evaluation.experiments.variants import all_settings
from factloop.tools.calls.meter import UsageMeter
from factloop.tools.judges.baseline import Baseline
from factloop.tools.judges.pairs import Judge, PairScore, VerifierPair
from tests.evaluation.experiments.small_plans import make_plan
from tests.simulator import MODEL, Simulator

GOOD = Split(
    "She moved to Leeds in 1911 and opened a bakery.",
    ("Mary Holt moved to Leeds in 1911.", "Mary Holt opened a bakery."),
    before=("Mary Holt was born in York.",),
    prompt="Who was Mary Holt?",
)
ONE, OTHER = GOOD.claims
WORSE = {
    "coverage": (ONE,),
    "entailment": ("Mary Holt moved to Leeds in 1948.", OTHER),
    "self_contained": ("She moved to Leeds in 1911.", OTHER),
    "atomicity": (f"{ONE[:-1]}, and {OTHER}",),
    "redundancy": (ONE, OTHER, ONE),
}


async def quality(*splits: Split) -> SplitQuality:
    return await split_quality(splits, Baseline(), meter=UsageMeter())


@pytest.mark.parametrize("measure", WORSE)
async def test_the_measure_of_what_was_damaged_moves(measure: str) -> None:
    good, worse = await quality(GOOD), await quality(replace(GOOD, claims=WORSE[measure]))
    before, after = getattr(good, measure).value, getattr(worse, measure).value
    assert after > before if measure == "redundancy" else after < before
    assert (good.self_contained.value, good.atomicity.value, good.redundancy.value) == (1.0, 1.0, 0.0)


async def test_a_measure_is_none_where_there_is_nothing_to_measure_and_coverage_is_0_without_claims() -> None:
    silent = await quality(Split("Is she well?", ()))
    assert {share.value for _, share in silent} == {None}
    assert {share.n for _, share in silent} == {0}
    left_out = await quality(replace(GOOD, claims=()))
    assert (left_out.coverage.value, left_out.coverage.n) == (0.0, 2)
    assert left_out.entailment.value is None
    alone, both = await quality(GOOD), await quality(GOOD, replace(GOOD, claims=()))
    assert alone.coverage.value is not None
    assert both.coverage.value == pytest.approx(alone.coverage.value / 2)


class Deaf(Judge):
    name = "deaf"
    identity = {"judge": "deaf"}  # noqa: RUF012 - as every judge has it

    def __init__(self, *, wholly: bool = False) -> None:
        self.wholly = wholly

    async def read(self, pairs: list[VerifierPair], *, meter: UsageMeter) -> list[PairScore]:  # type: ignore[override]  # noqa: ARG002
        failed = PairScore(None, ToolError("deaf", tool="deaf"))
        return [failed if self.wholly or pair.claim == ONE else PairScore(0.0) for pair in pairs]


async def test_what_the_judge_could_not_read_is_counted_apart() -> None:
    found = await split_quality([GOOD], Deaf(), meter=UsageMeter())
    assert (found.entailment.value, found.entailment.n, found.entailment.n_unscored) == (0.0, 1, 1)
    nothing = await split_quality([GOOD], Deaf(wholly=True), meter=UsageMeter())
    for share in (nothing.coverage, nothing.entailment, nothing.redundancy):
        assert (share.value, share.n, share.n_unscored) == (None, 0, 2)


def plan_of_response(sim: Simulator, home: Path, variants: dict[str, dict[str, Any]]) -> ExperimentPlan:
    response = min(sim.world.responses, key=lambda one: len(one.facts))
    row = {"id": "1", "system": "a", "prompt_id": "p", "prompt": response.prompt, "response": response.text}
    (home / "responses.jsonl").write_text(json.dumps(row) + "\n")
    return make_plan(home, variants, data="responses.jsonl", splitting="baseline", settings={"search": "serper"})


async def test_an_experiment_compares_how_a_model_and_the_parse_split(sim: Simulator, home: Path) -> None:
    variants: dict[str, dict[str, Any]] = {"model": {"plan": "paper"}, "parse": {"model": None, "base_url": None}}
    results = await arun_experiment(plan_of_response(sim, home, variants))
    report = assess(results, resamples=0)
    for variant, judged in zip(report.variants, results.responses, strict=True):
        figure = variant.find(Quantity.COVERAGE)
        assert figure is not None
        assert judged.quality is not None
        assert figure.value == judged.quality.coverage.value
        assert judged.quality.entailment.n == judged.counts.total


async def test_splits_that_the_judge_could_not_read_are_measured_by_the_next_attempt(
    sim: Simulator, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plan = plan_of_response(sim, home, {"parse": {"model": None, "base_url": None}})
    with monkeypatch.context() as patch:
        patch.setattr(run, "_split_judge", lambda *_: Deaf(wholly=True))
        first = await arun_experiment(plan, run_dir="run")
    again = await arun_experiment(plan, run_dir="run")
    found = [results.responses[0].quality for results in (first, again)]
    assert [None if one is None else one.entailment.n > 0 for one in found] == [False, True]


async def test_an_estimate_counts_the_calls_of_a_model_that_measures_splits(sim: Simulator, home: Path) -> None:
    plan = plan_of_response(sim, home, {"paper": {"plan": "paper"}}).model_copy(update={"splitting": f"llm:{MODEL}"})
    found, unmeasured = (
        estimate_experiment(one, one.load(), all_settings(one, None, {}))
        for one in (plan, plan.model_copy(update={"splitting": None}))
    )
    assert (found.calls - unmeasured.calls, unmeasured.splitting_calls) == (found.splitting_calls, 0)
    paid = (await arun_experiment(plan)).paid.stages["verify"]
    assert paid.calls <= found.splitting_calls < 3 * paid.calls
    assert paid.prompt_tokens <= found.prompt_tokens - unmeasured.prompt_tokens
