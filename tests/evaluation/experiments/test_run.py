from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest

from factloop.core.errors import ConfigError
from factloop.core.records import UnscoredReason
from factloop.evaluation.experiments.assess import assess
from factloop.evaluation.experiments.records import Results
from factloop.evaluation.experiments.run import arun_experiment, astream_experiment
from factloop.evaluation.running.run import NewRecord
from tests.evaluation.experiments.small_plans import facts_of, make_plan, write_claims, write_variant
from tests.simulator import Simulator


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


async def test_the_budget_holds_over_all_variants_and_attempts_and_what_it_spoilt_is_mended(
    sim: Simulator, home: Path
) -> None:
    write_claims(home / "claims.jsonl", facts_of(sim.world, 6))
    write_variant(home / "strict")
    plan = make_plan(home, {"packaged": {}, "strict": {"prompts": "strict"}})
    first = await arun_experiment(plan, run_dir="run", limits={"max_calls": 7})
    assert sim.stats().model.requests == first.paid.calls == 7
    reasons = Counter(claim.judgement.unscored_reason for claim in first.claims)
    assert reasons == {None: 4, UnscoredReason.BUDGET: 8}, "two claims, each read once and judged by both, take six"
    with pytest.raises(ConfigError, match=r"^run: earlier attempts used 7 model calls .* reaching max_calls = 7"):
        await arun_experiment(plan, run_dir="run", limits={"max_calls": 7})
    assert (sim.stats().model.requests, (home / "run" / "results.json").exists()) == (7, True)
    whole = await arun_experiment(plan, run_dir="run")
    assert all(claim.judgement.verdict is not None for claim in whole.claims)
    assert sim.stats().repeated == 0
    assert sim.stats().model.requests == whole.paid.calls
    again = await arun_experiment(plan, run_dir="run", limits={"max_calls": 7})
    assert again.claims == whole.claims, "nothing is to be judged"


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


async def test_what_changes_pays_for_itself_alone(sim: Simulator, home: Path) -> None:
    """A claim is read once and judged once by each prompt: 3 claims and 2 prompts take 3 + 6 calls."""
    facts = facts_of(sim.world, 4)
    write_claims(home / "claims.jsonl", facts[:3])
    prompt = write_variant(home / "strict") / "safe" / "assessment.md"
    two = {"packaged": {}, "strict": {"prompts": "strict"}}
    await arun_experiment(make_plan(home, two), run_dir="run")
    paid = [sim.stats().model.requests]
    prompt.write_text(prompt.read_text(encoding="utf-8").replace("apart", "into parts"), encoding="utf-8")
    results = await arun_experiment(make_plan(home, two), run_dir="run")
    paid.append(sim.stats().model.requests)
    write_claims(home / "claims.jsonl", facts)
    await arun_experiment(make_plan(home, {**two, "paper": {"plan": "paper"}}), run_dir="run")
    back = await arun_experiment(make_plan(home, {"packaged": {}}), run_dir="run")
    assert paid == [9, 12]
    assert sim.stats().repeated == 0
    assert {claim.variant for claim in results.claims} == {"packaged", "strict"}
    assert (len(back.claims), len(results.claims)) == (4, 6)


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
