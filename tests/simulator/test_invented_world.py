from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from factloop.agents.longfact import writer as longfact_schemas
from factloop.agents.safe import schemas as safe_schemas
from factloop.agents.trustscore import schemas as trust_schemas
from factloop.core.records import Claim, Evidence, Judgement, UnscoredReason, Verdict
from factloop.correction import rewriters
from factloop.evaluation.experiments import optimise
from factloop.tools.judges import served
from tests.simulator import GoldFact, Passage, World, build_world
from tests.simulator.brain import TITLES, Brain, SearchWish
from tests.simulator.evidence import read_article
from tests.simulator.scoring import Score, score


@pytest.fixture(scope="module")
def world() -> World:
    return build_world()


@pytest.fixture(scope="module")
def brain(world: World) -> Brain:
    return Brain(world)


def first_fact(world: World, label: str) -> GoldFact:
    return next(fact for response in world.responses for fact in response.facts if fact.label == label)


def answer(brain: Brain, title: str, message: str) -> Any:
    given = brain.reply(title, message)
    assert not isinstance(given, SearchWish)
    return given


def claim_message(fact: GoldFact) -> str:
    return f'<claim>{fact.self_contained}</claim>\n<evidence id="1">{_shown(fact.gold)}</evidence>'


class TestWorld:
    def test_articles_tell_the_truth_and_nothing_else(self, world: World) -> None:
        for response in world.responses:
            for fact in response.facts:
                told = [(one.subject, one.clause.value) for one in read_article(_shown(fact.gold)).told]
                assert (fact.subject, fact.topic.value) in told
                assert (fact.self_contained == fact.topic.claim(fact.topic.value)) == fact.is_true
                assert fact.label == "irrelevant" or (fact.label == "supported") == fact.is_true


def _shown(passage: Passage) -> str:
    return f"{passage.title} ({passage.date})\n{passage.text}"


class TestBrain:
    def test_knows_all_titles_and_their_fields(self, world: World, brain: Brain) -> None:
        response = world.responses[0]
        fact = next(fact for fact in response.facts if fact.label == "supported")
        message = (
            f"<question>{response.prompt}</question><answer>{response.text}</answer>"
            f"<sentence>{fact.sentence}</sentence><response>{response.text}</response><fact>{fact.text}</fact>"
            + claim_message(fact)
        )
        for title in TITLES:
            reply = answer(brain, title, message)
            modules = (safe_schemas, trust_schemas, longfact_schemas, served, rewriters, optimise)
            schema = next(getattr(module, title) for module in modules if hasattr(module, title))
            schema.model_validate(reply)
            assert set(reply) >= set(schema.model_fields)

    def test_judges_windows_by_the_passages_alone(self, brain: Brain, world: World) -> None:
        for response in world.responses[:6]:
            shown = [passage for passage in response.passages if passage != response.facts[0].gold]
            numbered = "".join(
                f'<passage id="{number}">{_shown(passage)}</passage>' for number, passage in enumerate(shown, 1)
            )
            lines = [line for line in response.text.split("\n") if line.strip()]
            sentences = "".join(f'<sentence id="{number}">{line}</sentence>' for number, line in enumerate(lines, 1))
            reply = answer(brain, "GroundedFacts", f"{numbered}<question>{response.prompt}</question>{sentences}")
            assert [item["fact"] for item in reply["facts"]] == [fact.self_contained for fact in response.facts]
            for item, fact in zip(reply["facts"], response.facts, strict=True):
                settled = "supported" if fact.is_true else "contradicted"
                assert item["verdict"] == (settled if fact.gold in shown else "insufficient")
                assert [shown[place - 1] for place in item["passages"]] == ([fact.gold] if fact.gold in shown else [])
            assert {item["sentence"] for item in reply["facts"]} | set(reply["without_fact"]) == {
                *range(1, len(lines) + 1)
            }


class TestScoring:
    def claim(self, fact: GoldFact, judgement: Judgement, text: str | None = None) -> Claim:
        evidence = Evidence(
            id="e1", source="u", passage="p", query="q", rank=1, retrieved_at=datetime(2024, 1, 1, tzinfo=UTC)
        )
        said = text if text is not None else fact.self_contained
        return Claim(
            id=said, sentence=fact.sentence, span=(0, 1), text=said, self_contained=said, evidence=(evidence,),
            judgement=judgement,
        )  # fmt: skip

    def test_every_fact_is_matched_failed_or_lost(self, world: World) -> None:
        facts = world.one_response(43).facts
        first, second = [fact for fact in facts if fact.label == "supported"][:2]
        third = next(fact for fact in facts if fact.sentence not in {first.sentence, second.sentence})
        right = Judgement(verdict=Verdict.SUPPORTED)
        unscored = Judgement(unscored_reason=UnscoredReason.TIMEOUT)
        claims = [
            self.claim(first, right),
            self.claim(second, unscored),
            self.claim(third, unscored, text="the whole sentence"),
        ]
        fourth = next(fact for fact in facts if fact.sentence not in {item.sentence for item in (first, second, third)})
        found = score(claims, [first, second, third, fourth])
        assert found == Score(n_facts=4, n_matched=2, n_equal=1, n_unscored=1, n_failed=1, n_lost=1)
        assert found.agreement == 0.25
        assert Score().agreement is None

    def test_what_is_hidden_or_wrongly_passed_is_counted(self, world: World) -> None:
        false = first_fact(world, "not_supported")
        hidden = self.claim(false, Judgement(verdict=Verdict.IRRELEVANT))
        passed = self.claim(false, Judgement(verdict=Verdict.SUPPORTED))
        assert score([hidden], [false]) == Score(n_facts=1, n_matched=1, n_hidden=1, n_hidden_false=1)
        assert score([passed], [false]) == Score(n_facts=1, n_matched=1, n_passed_false=1)
        beside = first_fact(world, "irrelevant")
        judged = [self.claim(beside, Judgement(verdict=Verdict.SUPPORTED))]
        assert score(judged, [beside]).n_equal == 0
        assert score(judged, [beside], gated=False).n_equal == int(beside.is_true)
