"""The simulated model fails a prompt that hides what its question needs: else nothing measured by it would mean much.

The packaged prompts are rendered as a check renders them; then what they need is taken away, piece by piece.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache

import pytest

from factloop.prompts.registry import PromptRegistry
from factloop.tools.text.outline import read_outline
from tests.simulator import GoldFact, Passage, Response, World, build_world
from tests.simulator.brain import Brain, SearchWish
from tests.simulator.queries import next_query
from tests.simulator.search import SearchEngine

PROMPTS = PromptRegistry.load()
SEEDS = (20, 21, 22)

Shown = Callable[[Response, int], str]
"""What a prompt shows of a response beside the sentence that begins at a place."""


def whole(response: Response, start: int) -> str:  # noqa: ARG001 - wherever the sentence stands
    return response.text


def six_hundred_before(response: Response, start: int) -> str:
    return response.text[:start][-600:]


def fields(world: World, name: str, **values: str | list[str] | None) -> dict[str, object]:
    prompt = PROMPTS[f"safe/{name}"]
    reply = Brain(world).reply(str(prompt.output), prompt.render(**values).user)
    assert not isinstance(reply, SearchWish)
    return dict(reply)


def facts_read(world: World, shown: Shown, *, question: bool = True) -> float:
    """Share of the facts that are found with their subject, and rightly called relevant or not."""
    right = total = 0
    for response in world.twenty_responses:
        for part in read_outline(response.text):
            facts = [fact for fact in response.facts if fact.sentence == part.text]
            if not facts:
                continue
            reply = fields(
                world,
                "sentence_facts",
                question=response.prompt if question else None,
                answer=shown(response, part.start),
                above=part.above or None,
                sentence=part.text,
            )
            found = {(item["fact"], item["status"] == "irrelevant") for item in reply["facts"]}  # type: ignore[attr-defined]
            right += sum((fact.self_contained, fact.label == "irrelevant") in found for fact in facts)
            total += len(facts)
    return right / total


@cache
def engine(seed: int) -> SearchEngine:
    return SearchEngine(build_world(seed))


def found_for(world: World, fact: GoldFact) -> Iterator[Passage]:
    """The passages found for a fact by its own words, the misleading pages among them; last the one that settles it."""
    found = engine(world.seed).search(next_query(fact.self_contained, ()), 5)
    yield from (passage for passage in found if passage != fact.gold)
    yield fact.gold


def verdicts_right(world: World, facts: list[tuple[Response, GoldFact]], *, cut: int, question: bool = True) -> float:
    right = 0
    for response, fact in facts:
        evidence = [f"{one.title} ({one.date})\n{one.text}"[:cut] for one in found_for(world, fact)]
        reply = fields(
            world,
            "assessment",
            question=response.prompt if question else None,
            sentence=fact.sentence,
            claim=fact.self_contained,
            evidence=evidence,
            asked=None,
            fruitless=None,
            left="0",
        )
        right += reply["verdict"] == ("supported" if fact.is_true else "contradicted")
    return right / len(facts)


def all_facts(world: World) -> list[tuple[Response, GoldFact]]:
    return [(response, fact) for response in world.twenty_responses for fact in response.facts]


@pytest.mark.parametrize("seed", SEEDS)
def test_with_the_whole_answer_every_fact_is_read_right(seed: int) -> None:
    assert facts_read(build_world(seed), whole) == 1.0


@pytest.mark.parametrize("seed", SEEDS)
def test_with_600_characters_before_the_sentence_it_is_not(seed: int) -> None:
    assert facts_read(build_world(seed), six_hundred_before) < 0.9


@pytest.mark.parametrize("seed", SEEDS)
def test_without_the_question_strangers_pass_for_relevant(seed: int) -> None:
    assert facts_read(build_world(seed), whole, question=False) < 0.93


@pytest.mark.parametrize("seed", SEEDS)
def test_with_whole_passages_and_the_question_every_verdict_is_true(seed: int) -> None:
    world = build_world(seed)
    assert verdicts_right(world, all_facts(world), cut=10_000) == 1.0


@pytest.mark.parametrize("seed", SEEDS)
def test_with_passages_cut_short_it_is_not(seed: int) -> None:
    world = build_world(seed)
    assert verdicts_right(world, all_facts(world), cut=120) < 0.6


@pytest.mark.parametrize("seed", SEEDS)
def test_without_the_question_a_namesake_is_taken_for_the_one_meant(seed: int) -> None:
    world = build_world(seed)
    of_namesakes = [
        (response, fact) for response, fact in all_facts(world)
        if ", the " in response.prompt and fact.subject == response.subject
    ]  # fmt: skip
    assert verdicts_right(world, of_namesakes, cut=10_000) == 1.0
    assert verdicts_right(world, of_namesakes, cut=10_000, question=False) < 0.7


def test_without_its_heading_an_item_is_taken_for_its_like_under_another() -> None:
    world = build_world(SEEDS[0])
    one, other, third = [name for name, entity in world.entities.items() if entity.kind == "person"][:3]
    item = f"was married to {third}"
    shown = {"question": f"What is known about {one}?", "answer": f"## {one}\n\n- {item}\n\n## {other}\n\n- {item}"}
    told = fields(world, "sentence_facts", **shown, above=other, sentence=item)
    untold = fields(world, "sentence_facts", **shown, above=None, sentence=item)
    assert told["facts"][0]["fact"] == f"{other} {item}."  # type: ignore[index]
    assert untold["facts"][0]["fact"] == f"{one} {item}."  # type: ignore[index]


def test_without_the_sentence_before_it_a_sentence_said_twice_is_taken_for_the_first() -> None:
    world = build_world(SEEDS[0])
    one, other, third, fourth = [name for name, entity in world.entities.items() if entity.kind == "person"][:4]
    twice = f"She was married to {third}."
    leads = [f"{name} was married to {fourth}." for name in (one, other)]
    shown = {"question": f"What is known about {one}?", "answer": f"{leads[0]} {twice} {leads[1]} {twice}"}
    told = [fields(world, "sentence_facts", **shown, above=lead, sentence=twice)["facts"] for lead in (*leads, None)]
    married = [facts[0]["fact"] for facts in told]  # type: ignore[index]
    assert married == [f"{name} was married to {third}." for name in (one, other, one)]
