from __future__ import annotations

import math
from pathlib import Path

import pytest

from factloop import ConfigError, DataError, FactChecker, GivenFacts, UnscoredReason
from factloop.checking.estimate import estimate
from factloop.core.records import Plan
from factloop.setup.settings import CheckSettings
from tests.checking.simulated import simulated_checker
from tests.simulator import Response, Simulator


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
            with pytest.raises(ConfigError, match="changed: facts"):
                await checker.acheck(response.text, response.prompt, facts=others, run_dir=tmp_path / "run")


@pytest.mark.parametrize("fact", ["", " \n", "half \ud83d"])
def test_what_is_no_fact_is_refused_before_anything_is_spent(sim: Simulator, fact: str) -> None:
    given = [GivenFacts(sentence="A.", facts=("A is.",)), GivenFacts(sentence="B.", facts=("B is.", fact))]
    with pytest.raises(DataError, match="a fact in sentence 2"):
        simulated_checker(sim).check("A. B.", facts=given)
    assert sim.bodies() == []


def test_what_given_facts_would_cost_is_counted_by_them(response: Response, facts: list[GivenFacts]) -> None:
    n_facts = sum(len(given.facts) for given in facts)
    calls_of = {"fused": len(facts) + round(n_facts * 1.2), "paper": n_facts * (2 + 1 + 3)}
    calls_of["grounded"] = len(facts) + math.ceil(n_facts * 0.3 / 7)
    for plan, calls in calls_of.items():
        settings = CheckSettings.of(model="openai:sim", plan=plan)
        found = estimate(settings, response.text, response.prompt, [*facts, GivenFacts(sentence="x", facts=())])
        assert (found.n_sentences, found.n_claims, found.calls) == (len(facts), n_facts, calls)
    offline = estimate(CheckSettings(), response.text, response.prompt, facts)
    assert (offline.n_claims, offline.calls) == (n_facts, 0)


TEXT = "Ada Lovelace was a mathematician. She was born in London."
SECOND = (34, 57)


@pytest.fixture
def checker(tmp_path: Path) -> FactChecker:
    (tmp_path / "ada.txt").write_text("Ada Lovelace was born in London in 1815.", encoding="utf-8")
    return FactChecker(docs=tmp_path, cache=False)


def test_only_the_named_sentence_is_judged_and_its_pronoun_is_resolved_from_the_rest(checker: FactChecker) -> None:
    report = checker.check(TEXT, spans=[SECOND])
    (claim,) = report.claims
    assert (claim.id, claim.span, claim.sentence) == ("c1.1", SECOND, "She was born in London.")
    assert claim.self_contained == "Ada Lovelace was born in London."
    assert claim.judgement.verdict == "supported"


def test_a_model_is_asked_about_the_named_sentence_alone(sim: Simulator) -> None:
    response = sim.world.responses[0]
    first = simulated_checker(sim).check(response.text, response.prompt).claims[0].span
    report = simulated_checker(sim).check(response.text, response.prompt, spans=[first])
    assert {claim.span for claim in report.claims} == {first}
    assert report.usage.stages["sentence_facts"].calls == 1


@pytest.mark.parametrize("spans", [[(5, 5)], [(-1, 3)], [(0, 1000)], [(10, 20), (15, 30)], [(10, 20), (0, 5)]])
def test_wrong_spans_are_refused_before_anything_is_spent(checker: FactChecker, spans: list[tuple[int, int]]) -> None:
    with pytest.raises(DataError, match=r"span \d"):
        checker.check(TEXT, spans=spans)


def test_spans_take_no_facts(checker: FactChecker) -> None:
    with pytest.raises(ConfigError, match="cannot be combined with `facts`"):
        checker.check(TEXT, spans=[SECOND], facts=[])


CLAIM_FREE = [
    "I don't know.",
    "",
    "  \n\t ",
    "# Heading\n\n## Another\n",
    "I'm sorry, but I can't help with that.",
    "I would love to see it.",
]


@pytest.mark.parametrize("response", CLAIM_FREE)
def test_the_offline_engine_finds_no_claims_where_there_are_none(response: str) -> None:
    report = FactChecker(cache=False, k=64).check(response)
    assert report.claims == ()
    assert report.precision is None
    assert [entry.f1 for entry in report.at_k] == [0.0]
    assert report.warnings == ()


@pytest.mark.parametrize("response", [*CLAIM_FREE[:4], None])
async def test_a_model_finds_no_claims_where_there_are_none(sim: Simulator, response: str | None) -> None:
    text = sim.world.claim_free.text if response is None else response
    async with simulated_checker(sim, k=64) as checker:
        report = await checker.acheck(text)
    assert report.claims == ()
    assert report.precision is None
    assert [entry.f1 for entry in report.at_k] == [0.0]
    assert sim.stats().search.requests == 0 or report.abstentions  # which are searched for


def test_without_a_source_the_offline_engine_finds_claims_and_judges_none() -> None:
    report = FactChecker(cache=False).check("Rome is in Italy. Oslo is in Norway.")
    assert [claim.judgement.unscored_reason for claim in report.claims] == [UnscoredReason.NO_SOURCE] * 2
    assert report.precision is None
    said = "There was nothing to check against: supply documents or a search tool."
    assert said in report.warnings, "which callers of Python, HTTP and MCP read too: no flags"


GERMAN = "Der Turm wurde 1896 errichtet und diente als Lager für Getreide. Heute gehört er der Gemeinde von Arden."
ENGLISH = "The tower was built in 1896 and was used as a store for grain."


@pytest.fixture
def documents(tmp_path: Path) -> Path:
    (tmp_path / "turm.txt").write_text(GERMAN, encoding="utf-8")
    (tmp_path / "tower.txt").write_text(ENGLISH, encoding="utf-8")
    return tmp_path


@pytest.mark.parametrize("plan", ["fused", "paper", "grounded"])
async def test_claims_in_another_language_are_unscored_whatever_the_sources(plan: Plan, documents: Path) -> None:
    async with FactChecker(docs=documents, cache=False, plan=plan) as checker:
        report = await checker.acheck(GERMAN, "Was ist der Turm?")
    assert len(report.claims) == 2
    assert {claim.judgement.unscored_reason for claim in report.claims} == {UnscoredReason.OTHER_LANGUAGE}
    assert report.counts.not_supported == 0
    assert report.usage.searches == 0 or plan == "paper"


async def test_the_english_paragraphs_of_an_answer_are_judged(documents: Path) -> None:
    async with FactChecker(docs=documents, cache=False) as checker:
        report = await checker.acheck(f"{ENGLISH}\n\n{GERMAN}")
    assert [claim.judgement.verdict is None for claim in report.claims if claim.sentence in ENGLISH] != []
    assert all(claim.judgement.verdict is not None for claim in report.claims if claim.sentence in ENGLISH)
    assert all(claim.judgement.verdict is None for claim in report.claims if claim.sentence in GERMAN)
