"""Experiments end to end against the simulator: what is shared, what is drawn anew, what is paid, what is resumed."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest

from factloop.core.errors import ConfigError
from factloop.core.records import UnscoredReason, Verdict
from factloop.evaluation.experiments.assess import assess
from factloop.evaluation.experiments.cells import Cell
from factloop.evaluation.experiments.records import Results
from factloop.evaluation.experiments.run import arun_experiment, astream_experiment
from factloop.evaluation.running.run import NewRecord, RunStarted
from tests.evaluation.experiments.small_plans import document_of, facts_of, make_plan, write_claims, write_variant
from tests.simulator import Faults, Simulator


async def test_variants_that_differ_in_the_judging_prompt_share_their_searches_and_all_else(
    sim: Simulator, home: Path
) -> None:
    write_claims(home / "claims.jsonl", facts_of(sim.world, 8), documents=False)
    write_variant(home / "strict")
    two = {"packaged": {}, "strict": {"prompts": "strict"}}
    results = await arun_experiment(make_plan(home, two, settings={"search": "serper"}))
    paid = sim.stats()
    assert paid.repeated == 0
    assert paid.model.requests == results.paid.calls
    assert paid.search.requests == results.paid.searches
    assert [(one.shares_evidence, one.n_same_evidence, one.n_compared) for one in results.variants] == [
        (True, 8, 8)
    ] * 2
    alone = Counter[str]()
    for claim in results.claims:
        alone["calls"] += claim.usage.calls
        alone["searches"] += claim.usage.searches
    assert alone["searches"] == 2 * paid.search.requests  # each variant is charged as if it had been alone
    # What is shared of the model's calls is one for each claim: to read it. The two prompts judge it apart.
    assert alone["calls"] == paid.model.requests + 8
    assert paid.stages["SentenceFacts"].requests == 8


async def test_a_variant_is_charged_what_it_costs_alone(sim: Simulator, home: Path) -> None:
    write_claims(home / "claims.jsonl", facts_of(sim.world, 5))
    write_variant(home / "strict")
    priced = {"price_in": 1.0, "price_out": 2.0}
    alone = await arun_experiment(make_plan(home, {"strict": {"prompts": "strict"}}, settings=priced))
    both = await arun_experiment(make_plan(home, {"packaged": {}, "strict": {"prompts": "strict"}}, settings=priced))
    kept = {claim.claim_id: claim.usage for claim in alone.claims}
    strict = [claim for claim in both.claims if claim.variant == "strict"]
    assert len(strict) == 5
    for claim in strict:
        mine, then = claim.usage, kept[claim.claim_id]
        assert (mine.calls, mine.prompt_tokens, mine.completion_tokens, mine.searches) == (
            then.calls, then.prompt_tokens, then.completion_tokens, then.searches,
        )  # fmt: skip
        assert mine.cost_usd == pytest.approx(then.cost_usd)
        assert mine.wall_s > 0  # also where the answer was there already
    assert both.paid.cost_usd is not None
    assert both.paid.cost_usd < sum(claim.usage.cost_usd or 0.0 for claim in both.claims)


async def test_repeats_draw_anew_from_the_model_and_search_no_more(sim: Simulator, home: Path) -> None:
    write_claims(home / "claims.jsonl", facts_of(sim.world, 4), documents=False)
    plan = make_plan(home, {"only": {}}, settings={"search": "serper"})
    await arun_experiment(plan)
    once = sim.stats()
    sim.reset()
    results = await arun_experiment(plan.model_copy(update={"repeats": 3}))
    thrice = sim.stats()
    assert thrice.model.requests == 3 * once.model.requests
    assert thrice.search.requests == once.search.requests
    assert Counter(claim.repeat for claim in results.claims) == {1: 4, 2: 4, 3: 4}


async def test_tool_calling_is_not_shared_with_a_variant_without(sim: Simulator, home: Path) -> None:
    write_claims(home / "claims.jsonl", facts_of(sim.world, 3))
    await arun_experiment(make_plan(home, {"tools": {}, "none": {"tool_calling": False}}))
    assert sim.stats().stages["Assessment"].requests == 6


async def test_claims_with_documents_are_judged_in_the_plan_fused_unless_another_is_named(
    sim: Simulator, home: Path
) -> None:
    """In the plan `grounded`, the one for given documents, an assessment prompt would change next to nothing."""
    write_claims(home / "claims.jsonl", facts_of(sim.world, 3))
    await arun_experiment(make_plan(home, {"only": {}}), run_dir="run")
    assert {cell.fingerprint.plan for cell in _cells(home / "run")} == {"fused"}
    assert (sim.stats().stages["Assessment"].requests, "GroundedClaims" in sim.stats().stages) == (3, False)
    await arun_experiment(make_plan(home, {"fused": {}, "grounded": {"plan": "grounded"}}), run_dir="two")
    assert {cell.fingerprint.plan for cell in _cells(home / "two") if cell.variant == "grounded"} == {"grounded"}
    assert sim.stats().stages["GroundedClaims"].requests > 0


async def test_labels_and_verdicts_arrive(sim: Simulator, home: Path) -> None:
    facts = facts_of(sim.world, 12)
    write_claims(home / "claims.jsonl", facts)
    results = await arun_experiment(make_plan(home, {"only": {}}))
    for claim, fact in zip(results.claims, facts, strict=True):
        assert claim.gold is (fact.label == "supported")
        assert (claim.judgement.verdict is Verdict.SUPPORTED) == claim.gold  # by its own passage
        assert claim.claim == fact.self_contained
        assert [item.passage for item in claim.evidence] == [document_of(fact)]
        assert claim.group.startswith("document ")
    report = assess(results, resamples=20)
    assert report.conclusions == ()  # one variant: figures, and nothing to compare
    assert report.variants[0].n_items == 12


async def test_one_claim_is_an_experiment(sim: Simulator, home: Path) -> None:
    write_claims(home / "claims.jsonl", facts_of(sim.world, 1))
    results = await arun_experiment(make_plan(home, {"a": {}, "b": {"plan": "paper"}}))
    assert len(results.claims) == 2
    assert len(assess(results, resamples=20).conclusions) == 1


async def test_a_variant_without_any_verdict_is_unscored(sim: Simulator, home: Path) -> None:
    write_claims(home / "claims.jsonl", facts_of(sim.world, 3))
    plan = make_plan(home, {"works": {}, "fails": {"plan": "paper"}})
    sim.set(stage_faults={"Rating": Faults(refusal=1.0)})
    results = await arun_experiment(plan)
    reasons = Counter((claim.variant, claim.judgement.unscored_reason) for claim in results.claims)
    assert reasons == {("works", None): 3, ("fails", UnscoredReason.REFUSAL): 3}
    assert assess(results, resamples=20).variants[1].n_items == 3


async def test_the_budget_holds_over_all_variants_and_attempts_and_what_it_spoilt_is_mended(
    sim: Simulator, home: Path
) -> None:
    write_claims(home / "claims.jsonl", facts_of(sim.world, 6))
    write_variant(home / "strict")
    plan = make_plan(home, {"packaged": {}, "strict": {"prompts": "strict"}})
    first = await arun_experiment(plan, run_dir="run", limits={"max_calls": 7})
    assert sim.stats().model.requests == first.paid.calls == 7
    assert any(claim.judgement.unscored_reason is UnscoredReason.BUDGET for claim in first.claims)
    again = await arun_experiment(plan, run_dir="run", limits={"max_calls": 7})
    assert sim.stats().model.requests == again.paid.calls == 7
    whole = await arun_experiment(plan, run_dir="run")
    assert all(claim.judgement.verdict is not None for claim in whole.claims)
    assert sim.stats().repeated == 0
    assert sim.stats().model.requests == whole.paid.calls


async def test_more_repeats_go_on_where_the_experiment_ended(sim: Simulator, home: Path) -> None:
    write_claims(home / "claims.jsonl", facts_of(sim.world, 3))
    plan = make_plan(home, {"a": {}, "b": {"plan": "paper"}})
    await arun_experiment(plan, run_dir="run")
    before = sim.stats().model.requests
    more = plan.model_copy(update={"repeats": 2, "baseline": "b", "name": "other"})
    *events, results = [event async for event in astream_experiment(more, run_dir="run")]
    assert isinstance(results, Results)
    cells = [event.record for event in events if isinstance(event, NewRecord)]
    assert {cell.repeat for cell in cells} == {2}
    assert len(cells) == 6
    assert results.paid.calls == sim.stats().model.requests == 2 * before
    assert Results.model_validate_json((home / "run" / "results.json").read_text(encoding="utf-8")) == results


@pytest.mark.parametrize(
    ("changed", "named"),
    [
        ({"variants": {"a": {}, "b": {"plan": "paper", "max_searches": 2}}}, "variant b"),
        ({"variants": {"a": {}}}, "variant b"),
        ({"settings": {"model": "openai:sim", "temperature": 0.7}}, "variant a, variant b"),
    ],
)
async def test_another_plan_is_refused_by_the_directory(
    sim: Simulator, home: Path, changed: dict[str, object], named: str
) -> None:
    write_claims(home / "claims.jsonl", facts_of(sim.world, 2))
    plan = make_plan(home, {"a": {}, "b": {"plan": "paper"}})
    await arun_experiment(plan, run_dir="run")
    requests = sim.stats().model.requests
    with pytest.raises(ConfigError, match=f"run: belongs to a run of another configuration .{named} differ"):
        await arun_experiment(plan.model_copy(update=changed), run_dir="run")
    write_claims(home / "claims.jsonl", facts_of(sim.world, 3))
    with pytest.raises(ConfigError, match="data differ"):
        await arun_experiment(plan, run_dir="run")
    assert sim.stats().model.requests == requests


async def test_a_changed_prompt_of_the_same_name_is_another_plan(sim: Simulator, home: Path) -> None:
    write_claims(home / "claims.jsonl", facts_of(sim.world, 2))
    prompt = write_variant(home / "strict") / "safe" / "assessment.md"
    plan = make_plan(home, {"a": {}, "b": {"prompts": "strict"}})
    await arun_experiment(plan, run_dir="run")
    prompt.write_text(prompt.read_text(encoding="utf-8").replace("apart", "to pieces"), encoding="utf-8")
    with pytest.raises(ConfigError, match="variant b differ"):
        await arun_experiment(plan, run_dir="run")


async def test_each_cell_names_the_prompts_and_settings_that_made_it(sim: Simulator, home: Path) -> None:
    write_claims(home / "claims.jsonl", facts_of(sim.world, 2))
    write_variant(home / "strict")
    plan = make_plan(home, {"packaged": {}, "strict": {"prompts": "strict", "max_searches": 2}})
    results = await arun_experiment(plan, run_dir=home / "run")
    cells = _cells(home / "run")
    made_by = {one.name: one.fingerprint for one in results.variants}
    assert len(cells) == 4
    for cell in cells:
        assert cell.fingerprint.prompts == made_by[cell.variant].prompts
        assert cell.fingerprint.max_searches == made_by[cell.variant].max_searches
    assert len({cell.fingerprint.prompts["safe/assessment"] for cell in cells}) == 2


async def test_responses_are_split_or_come_with_their_labelled_facts(sim: Simulator, home: Path) -> None:
    said = sim.world.one_response(26)
    plain = {"id": "r1", "system": "s", "prompt": said.prompt, "response": " ".join(said.sentences[:2])}
    (home / "plain.jsonl").write_text(json.dumps(plain), encoding="utf-8")
    of_sentence = [fact for fact in said.facts if fact.sentence == said.sentences[0]]
    names = {"supported": "S", "not_supported": "NS", "irrelevant": "IR"}
    facts = [{"text": fact.self_contained, "label": names[fact.label]} for fact in of_sentence]
    labelled = {**plain, "topic": "t", "sentences": [{"text": said.sentences[0], "atomic_facts": facts}]}
    (home / "labelled.jsonl").write_text(json.dumps(labelled), encoding="utf-8")
    for name, gold in (("plain", {None}), ("labelled", {True, False, None})):
        plan = make_plan(
            home, {"a": {}, "b": {"max_searches": 1}}, data=f"{name}.jsonl", k=(2,), settings={"search": "serper"}
        )
        results = await arun_experiment(plan)
        assert results.kind == "responses"
        assert {claim.gold for claim in results.claims} <= gold
        for text in results.responses:
            mine = [claim for claim in results.claims if claim.variant == text.variant]
            assert text.counts.total == len(mine) > 0
            assert {claim.group for claim in mine} == {text.response_id} == {"r1"}
            assert text.usage.calls > 0
        assert assess(results, resamples=20).k == (2,)


async def test_the_stream_says_how_much_there_is(sim: Simulator, home: Path) -> None:
    write_claims(home / "claims.jsonl", facts_of(sim.world, 2))
    events = [event async for event in astream_experiment(make_plan(home, {"a": {}}, repeats=2))]
    assert events[0] == RunStarted(4, 0)
    assert [type(event) for event in events[1:]] == [NewRecord] * 4 + [Results]


async def test_without_a_model_the_baseline_judges_and_nothing_is_asked(sim: Simulator, home: Path) -> None:
    write_claims(home / "claims.jsonl", facts_of(sim.world, 4))
    plan = make_plan(home, {"fused": {}, "paper": {"plan": "paper"}}, settings={"model": None})
    results = await arun_experiment(plan)
    assert {claim.judgement.verdict is None for claim in results.claims} == {False}
    assert sim.stats().model.requests == 0


async def test_a_claim_without_anything_to_judge_by_is_unscored_beside_others(sim: Simulator, home: Path) -> None:
    path = write_claims(home / "claims.jsonl", facts_of(sim.world, 2))
    bare = json.dumps({"id": "bare", "claim": "Ada was born in London.", "label": 1, "document": " "})
    path.write_text(path.read_text(encoding="utf-8") + "\n" + bare, encoding="utf-8")
    results = await arun_experiment(make_plan(home, {"a": {}}))
    assert [claim.judgement.unscored_reason for claim in results.claims] == [None, None, UnscoredReason.NO_SOURCE]


async def test_a_plan_that_failed_leaves_its_directory_to_the_mended_one(sim: Simulator, home: Path) -> None:
    write_claims(home / "claims.jsonl", facts_of(sim.world, 2))
    mistakes: list[dict[str, dict[str, str]]] = [
        {"a": {"model": "nobody:x"}},
        {"a": {}, "b": {}},
        {"a": {"prompts": "nowhere"}},
    ]
    for wrong in mistakes:
        with pytest.raises(ConfigError):
            await arun_experiment(make_plan(home, wrong), run_dir="run")
    results = await arun_experiment(make_plan(home, {"a": {}}), run_dir="run")
    assert len(results.claims) == 2


async def test_a_folder_of_something_else_is_left_alone(sim: Simulator, home: Path) -> None:
    write_claims(home / "claims.jsonl", facts_of(sim.world, 1))
    with pytest.raises(ConfigError, match="not a run directory, and not empty"):
        await arun_experiment(make_plan(home, {"a": {}}), run_dir=home)
    assert sim.stats().model.requests == 0


def _cells(run_dir: Path) -> list[Cell]:
    return [Cell.model_validate_json(line) for line in (run_dir / "cells.jsonl").read_bytes().splitlines()]
