"""The simulated model must fail a prompt that hides what its question needs; otherwise it measures nothing.

The packaged prompts are rendered as in a check, and then stripped of what they need, piece by piece.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import pytest

from factloop.prompts.registry import PromptRegistry
from factloop.tools.text.outline import read_outline
from tests.simulator import GoldFact, Response, build_world
from tests.simulator.brain import Brain, SearchWish
from tests.simulator.queries import next_query
from tests.simulator.search import SearchEngine

PROMPTS = PromptRegistry.load()
WORLD = build_world()
BRAIN, ENGINE = Brain(WORLD), SearchEngine(WORLD)


def fields(name: str, **values: str | list[str] | None) -> Any:
    prompt = PROMPTS[f"safe/{name}"]
    reply = BRAIN.reply(str(prompt.output), prompt.render(**values).user)
    assert not isinstance(reply, SearchWish)
    return reply


def facts_read(shown: Callable[[str, int], str], *, question: bool = True) -> float:
    """The proportion of facts found with their subject and the right relevance.

    `shown` gives what a prompt shows of a response next to the sentence at a position.
    """
    right = total = 0
    for response in WORLD.twenty_responses:
        for part in read_outline(response.text):
            facts = [fact for fact in response.facts if fact.sentence == part.text]
            if not facts:
                continue
            reply = fields(
                "sentence_facts",
                question=response.prompt if question else None,
                answer=shown(response.text, part.start),
                above=part.above or None,
                sentence=part.text,
            )
            found = {(item["fact"], item["status"] == "irrelevant") for item in reply["facts"]}
            right += sum((fact.self_contained, fact.label == "irrelevant") in found for fact in facts)
            total += len(facts)
    return right / total


def verdicts_right(facts: Sequence[tuple[Response, GoldFact]], *, cut: int = 10_000, question: bool = True) -> float:
    """The proportion of true verdicts on passages that a search finds for each fact, the deciding passage last."""
    right = 0
    for response, fact in facts:
        found = ENGINE.search(next_query(fact.self_contained, ()), 5)
        passages = [*(passage for passage in found if passage != fact.gold), fact.gold]
        reply = fields(
            "assessment",
            question=response.prompt if question else None,
            sentence=fact.sentence,
            claim=fact.self_contained,
            evidence=[f"{one.title} ({one.date})\n{one.text}"[:cut] for one in passages],
            asked=None,
            fruitless=None,
            left="0",
        )
        right += reply["verdict"] == ("supported" if fact.is_true else "contradicted")
    return right / len(facts)


ALL = [(response, fact) for response in WORLD.twenty_responses for fact in response.facts]
OF_NAMESAKES = [
    (response, fact) for response, fact in ALL
    if ", the " in response.prompt and fact.subject == response.subject
]  # fmt: skip


def test_every_fact_is_read_right_with_the_whole_answer_and_the_question_alone() -> None:
    assert facts_read(lambda text, _: text) == 1.0
    assert facts_read(lambda text, start: text[:start][-600:]) < 0.9
    assert facts_read(lambda text, _: text, question=False) < 0.93, "strangers pass for relevant"


@pytest.mark.parametrize(
    ("facts", "hidden", "at_most"),
    [(ALL, {"cut": 120}, 0.6), (OF_NAMESAKES, {"question": False}, 0.7)],
    ids=["passages cut short", "no question tells namesakes apart"],
)
def test_every_verdict_is_true_with_whole_passages_and_the_question_alone(
    facts: list[tuple[Response, GoldFact]], hidden: dict[str, Any], at_most: float
) -> None:
    assert verdicts_right(facts) == 1.0
    assert verdicts_right(facts, **hidden) < at_most


ONE, OTHER, THIRD, FOURTH = [name for name, entity in WORLD.entities.items() if entity.kind == "person"][:4]
LISTS = "\n\n".join(f"## {name}\n\n- was married to {THIRD}" for name in (ONE, OTHER))
LEADS = [f"{name} was married to {FOURTH}." for name in (ONE, OTHER)]
PROSE = " ".join(f"{lead} She was married to {THIRD}." for lead in LEADS)


@pytest.mark.parametrize(
    ("answer", "above", "sentence", "whose"),
    [
        (LISTS, OTHER, "was married to {}", OTHER),
        (LISTS, None, "was married to {}", ONE),
        (PROSE, LEADS[0], "She was married to {}.", ONE),
        (PROSE, LEADS[1], "She was married to {}.", OTHER),
        (PROSE, None, "She was married to {}.", ONE),
    ],
)
def test_what_is_said_twice_is_told_apart_by_what_stands_above(
    answer: str, above: str | None, sentence: str, whose: str
) -> None:
    """Without its heading, or the preceding sentence, it is taken for the first."""
    asked = {"question": f"What is known about {ONE}?", "answer": answer, "above": above}
    reply = fields("sentence_facts", **asked, sentence=sentence.format(THIRD))
    assert reply["facts"][0]["fact"] == f"{whose} was married to {THIRD}."
