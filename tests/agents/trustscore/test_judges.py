"""Judges of passages: what a model is shown and may cite, and what a verifier is given for a claim."""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

import pytest

from factloop.agents.trustscore.judges import ModelJudge, VerifierJudge, statement_of
from factloop.agents.trustscore.records import Relation
from factloop.agents.trustscore.stages import PassageJudgement
from factloop.core.records import Evidence
from factloop.prompts.registry import PromptRegistry
from factloop.tools.calls.meter import UsageMeter
from factloop.tools.judges.base import Label
from factloop.tools.judges.baseline import Baseline
from tests.agents.scripted_verifier import ScriptedVerifier
from tests.agents.trustscore.scripted_chat import saying

QUESTION, ANSWER = "Who built the first temple?", "King Solomon built the first temple."


def passage(text: str, number: int = 1, title: str = "Temple") -> Evidence:
    return Evidence(
        id=f"p{number}",
        source=f"corpus#{number}",
        title=title,
        passage=text,
        query="q",
        rank=number,
        retrieved_at=datetime(2025, 1, 1, tzinfo=UTC),
    )


PASSAGES = tuple(passage(f"Text {number}.", number) for number in (1, 2, 3))


def entailment(relation: str, cited: Sequence[Any] = (), rationale: str = "It says so.") -> str:
    return json.dumps({"rationale": rationale, "cited": list(cited), "relation": relation})


async def judged(*replies: str, passages: Sequence[Evidence] = PASSAGES) -> tuple[PassageJudgement, str]:
    """The model's finding, and what it was asked first."""
    chat, talk = saying(*replies)
    judge = ModelJudge(talk.gateway, PromptRegistry.load())
    found = await judge.judge(QUESTION, ANSWER, passages, meter=talk.meter)
    assert not chat.replies, "the script was not played to its end"
    assert talk.meter.snapshot(0.0).stages["entailment"].calls == len(replies)
    return found, str(chat.asked[0][-1].text)


@pytest.mark.parametrize("relation", list(Relation))
async def test_a_relation_is_taken_as_it_is(relation: Relation) -> None:
    found, _ = await judged(entailment(relation.value, [2]))
    assert found == PassageJudgement(relation, "It says so.", (1,))


@pytest.mark.parametrize(
    ("cited", "expected"),
    [([], ()), ([1, 3], (0, 2)), ([3, 1, 3], (2, 0)), ([0, -1, 4, 2, 99], (1,)), ([10**30], ())],
)
async def test_only_passages_that_were_shown_can_be_cited(cited: list[int], expected: tuple[int, ...]) -> None:
    assert (await judged(entailment("support", cited)))[0].cited == expected


@pytest.mark.parametrize(
    ("label", "relation"),
    [
        ("supported", Relation.SUPPORT),
        ("contradicted", Relation.CONTRADICT),
        ("insufficient", Relation.NEUTRAL),
    ],
)
async def test_a_verifier_s_label_is_a_relation(label: Label, relation: Relation) -> None:
    verifier = ScriptedVerifier(label, cited=(1,))
    judge = VerifierJudge(verifier)
    found = await judge.judge(QUESTION, ANSWER, PASSAGES, meter=UsageMeter())
    assert found == PassageJudgement(relation, "names agree", (1,))
    assert verifier.asked == [(ANSWER, ["Text 1.", "Text 2.", "Text 3."])]
    assert judge.name == "scripted"


@pytest.mark.parametrize(
    ("answer", "claim"),
    [
        ("2017", "2017 built the first temple."),
        ("King Solomon", "King Solomon built the first temple."),
        ("Solomon was the first king.", "Solomon was the first king."),
    ],
)
async def test_a_short_answer_is_put_into_its_question(answer: str, claim: str) -> None:
    verifier = ScriptedVerifier("supported")
    await VerifierJudge(verifier).judge(QUESTION, answer, PASSAGES, meter=UsageMeter())
    assert verifier.asked[0][0] == claim


@pytest.mark.parametrize(
    ("answer", "text", "relation"),
    [
        ("2017", "The bridge was opened in 2017 after six years of work.", Relation.SUPPORT),
        ("The bridge was opened in 2017.", "The bridge was opened in 2017 after six years.", Relation.SUPPORT),
        ("2017", "Trains are quicker than cars.", Relation.NEUTRAL),
    ],
)
async def test_the_offline_rater_as_judge(answer: str, text: str, relation: Relation) -> None:
    judge = VerifierJudge(Baseline())
    found = await judge.judge("When was the bridge opened?", answer, [passage(text)], meter=UsageMeter())
    assert found.relation is relation


@pytest.mark.parametrize(
    ("question", "answer", "statement"),
    [
        ("When did Voss die?", "1958", "Voss did die in 1958."),
        ("Where did Marie Curie win the prize?", "in Oslo", "Marie Curie did win the prize in Oslo."),
        ("Whom did Voss marry?", "Thomas Pyle", "Voss did marry Thomas Pyle."),
        ("When was the Brill tower built?", "1814.", "the Brill tower was built in 1814."),
        ("Where is Paris?", "France", "Paris is in France."),
        ("What is the capital of France?", "Paris", "the capital of France is Paris."),
        ("Who wrote Moby-Dick?", "Herman Melville", "Herman Melville wrote Moby-Dick."),
        ("How many people live there?", "300", "How many people live there? 300"),
        ("Capital of France", "Paris", "Capital of France Paris"),
    ],
)
def test_an_answer_is_put_into_its_question(question: str, answer: str, statement: str) -> None:
    assert statement_of(question, answer) == statement
