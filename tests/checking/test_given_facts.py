"""`FactChecker` on facts that its user split before."""

from __future__ import annotations

from pathlib import Path

import pytest

from factloop import ConfigError, DataError, GivenFacts
from factloop.checking.estimate import estimate
from factloop.setup.settings import CheckSettings
from tests.checking.simulated import simulated_checker
from tests.simulator import Response, Simulator


@pytest.fixture
def response(sim: Simulator) -> Response:
    return min(sim.world.responses, key=lambda response: len(response.facts))


@pytest.fixture
def facts(response: Response) -> list[GivenFacts]:
    return [
        GivenFacts(sentence=sentence, facts=tuple(one.text for one in response.facts if one.sentence == sentence))
        for sentence in response.sentences
    ]


@pytest.mark.parametrize("plan", ["fused", "paper"])
async def test_verdicts_fall_on_the_facts_given(
    sim: Simulator, response: Response, facts: list[GivenFacts], plan: str
) -> None:
    sim.set(missing_hits=0.0)
    async with simulated_checker(sim, plan=plan, max_searches=3) as checker:
        report = await checker.acheck(response.text, response.prompt, facts=facts)
    assert [claim.text for claim in report.claims] == [fact for given in facts for fact in given.facts]
    assert [claim.judgement.verdict for claim in report.claims] == [fact.label for fact in response.facts]
    assert all(response.text[slice(*claim.span)] == claim.sentence for claim in report.claims)
    assert sim.bodies("AtomicFacts") == []


async def test_a_run_belongs_to_its_facts(
    sim: Simulator, response: Response, facts: list[GivenFacts], tmp_path: Path
) -> None:
    async with simulated_checker(sim) as checker:
        first = await checker.acheck(response.text, response.prompt, facts=facts[:1], run_dir=tmp_path / "run")
        again = await checker.acheck(response.text, response.prompt, facts=facts[:1], run_dir=tmp_path / "run")
        assert [claim.judgement for claim in again.claims] == [claim.judgement for claim in first.claims]
        for others in (facts[1:2], None):
            with pytest.raises(ConfigError, match="facts differ"):
                await checker.acheck(response.text, response.prompt, facts=others, run_dir=tmp_path / "run")


@pytest.mark.parametrize("fact", ["", " \n", "half \ud83d"])
def test_what_is_no_fact_is_refused_before_anything_is_spent(sim: Simulator, fact: str) -> None:
    given = [GivenFacts(sentence="A.", facts=("A is.",)), GivenFacts(sentence="B.", facts=("B is.", fact))]
    with pytest.raises(DataError, match="a fact of sentence 2"):
        simulated_checker(sim).check("A. B.", facts=given)
    assert sim.bodies() == []


def test_what_given_facts_would_cost_is_counted_by_them(response: Response, facts: list[GivenFacts]) -> None:
    n_facts = sum(len(given.facts) for given in facts)
    for plan, calls in (("fused", len(facts) + round(n_facts * 1.2)), ("paper", n_facts * (2 + 1 + 3))):
        settings = CheckSettings.of(model="openai:sim", plan=plan)
        found = estimate(settings, response.text, response.prompt, [*facts, GivenFacts(sentence="x", facts=())])
        assert (found.n_sentences, found.n_claims, found.calls) == (len(facts), n_facts, calls)
    offline = estimate(CheckSettings(), response.text, response.prompt, facts)
    assert (offline.n_claims, offline.calls) == (n_facts, 0)
