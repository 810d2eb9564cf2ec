from __future__ import annotations

import asyncio
import os
import re
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field

import pytest
from hypothesis import given
from hypothesis import strategies as st

from factloop.agents.trustscore.distractors.base import Request, Substitute, SubstituteSource, Target
from factloop.agents.trustscore.distractors.generate import generate_distractors, normalised
from factloop.agents.trustscore.distractors.sources import (
    KnowledgeBaseSource,
    MadeUpSource,
    QuantitySource,
    SameClassSource,
)
from factloop.agents.trustscore.records import DistractorSet, Source, SubstitutionLevel
from factloop.core.errors import ConfigError, ToolError, ToolTimeout
from factloop.tools.names.base import LinkedEntity, Sibling
from factloop.tools.names.built_in import BuiltInKnowledgeBase
from factloop.trust.distractor_sources import make_distractors
from factloop.trust.settings import TrustSettings

TEMPLE = (
    "who built the first temple for god in jerusalem?",
    "King Solomon built the first temple for god in jerusalem.",
)
SPAIN = (
    "which state was returned to spain after the revolutionary war?",
    "Florida was returned to spain after the revolutionary war.",
)
LIONEL = ("when did all night long come out lionel richie?", "All night long came out in 1983.")


@dataclass
class Words:
    words: Sequence[str]
    name: str = "words"
    error: Exception | None = None
    asked: list[str] = field(default_factory=list)

    async def substitutes(self, target: Target, request: Request) -> Sequence[Substitute]:
        self.asked.append(target.text)
        if self.error is not None:
            raise self.error
        return [Substitute(word, Source.VOCABULARY) for word in self.words][: request.limit]


@dataclass
class Places:
    known: dict[str, Sequence[str]]
    error: Exception | None = None
    identity: str = "places 1"
    n_links: int = 0

    async def link(self, text: str, question: str) -> Sequence[LinkedEntity]:
        del question
        self.n_links += 1
        if self.error is not None:
            raise self.error
        found = [(text.index(name), name) for name in self.known if name in text]
        return [LinkedEntity(name, at, at + len(name), name, ("place", "city")) for at, name in sorted(found)]

    async def siblings(self, entity: LinkedEntity, limit: int) -> Sequence[Sibling]:
        shared = ("place", "city")
        return [
            Sibling(name, shared[: 1 + n % 2])
            for n, name in enumerate(self.known[entity.key], 1)
            if name != entity.name
        ][:limit]


def built_in() -> list[SubstituteSource]:
    names = KnowledgeBaseSource(BuiltInKnowledgeBase(), Source.BUILT_IN)
    return [names, QuantitySource(), SameClassSource(), MadeUpSource(names)]


async def made(
    question: str, response: str, sources: Sequence[SubstituteSource], wanted: int = 30, seed: int = 0
) -> DistractorSet:
    found = await generate_distractors(question, response, wanted=wanted, sources=sources, seed=seed)
    whole = re.sub("[\ud800-\udfff]", "\ufffd", response)  # as every record has half a character, place for place
    for one in found.distractors:
        assert one.text == whole[: one.span[0]] + one.by + whole[one.span[1] :]
        assert one.replaced == whole[one.span[0] : one.span[1]]
        assert normalised(one.text) not in {normalised(response), normalised(question)}
    assert are_distinct(found)
    assert len(found.distractors) <= wanted
    return found


def are_distinct(found: DistractorSet) -> bool:
    return len({normalised(one.text) for one in found.distractors}) == len(found.distractors)


async def test_the_first_temple_is_built_by_other_kings() -> None:
    found = (await made(*TEMPLE, built_in())).distractors
    assert len(found) == 30
    assert {(one.replaced, one.level, one.source) for one in found} == {
        ("Solomon", SubstitutionLevel.ENTITY, Source.BUILT_IN)
    }
    assert all(re.fullmatch(r"King \S[\w .]+ built the first temple for god in jerusalem\.", one.text) for one in found)


async def test_sources_are_asked_in_order_and_only_while_too_few_exist() -> None:
    first, second = Words(["Oslo", "Rome"]), Words(["Lima", "Bonn", "Kiel"])
    found = await made("", "It was Paris.", [first, second], wanted=4)
    assert [one.by for one in found.distractors] == ["Oslo", "Rome", "Lima", "Bonn"]
    second.asked.clear()
    await made("", "It was Paris.", [first, second], wanted=2)
    assert second.asked == []


async def test_targets_of_one_rank_are_used_by_turns_and_the_next_level_only_where_these_end() -> None:
    places = Places({"Paris": ["Oslo", "Rome", "Bonn"], "Lima": ["Kiel"]})
    source = KnowledgeBaseSource(places, Source.KNOWLEDGE_BASE)
    found = await made("", "From Paris to Lima by ship in 1983.", [source, QuantitySource()], wanted=6)
    replaced = [(one.replaced, one.by) for one in found.distractors]
    assert replaced[:4] == [("Paris", "Oslo"), ("Lima", "Kiel"), ("Paris", "Rome"), ("Paris", "Bonn")]
    assert [one for one, _ in replaced[4:]] == ["1983", "1983"]
    assert [one.detail for one in found.distractors] == [
        *("place, city", "place, city", "place (1 of 2 types)", "place, city"),
        *("another year", "another year"),
    ]


@pytest.mark.parametrize(
    "error", [ToolError("status 500", tool="DBpedia", status=500), ToolTimeout(tool="DBpedia", timeout_s=5)]
)
async def test_a_source_that_fails_is_noted_once_and_the_next_is_used(error: ToolError) -> None:
    failing = KnowledgeBaseSource(Places({}, error=error), Source.DBPEDIA)
    places = KnowledgeBaseSource(Places({"Paris": ["Oslo"], "Lima": ["Kiel"]}), Source.KNOWLEDGE_BASE)
    found = await made("", "From Paris to Lima.", [failing, places])
    assert [one.by for one in found.distractors] == ["Oslo", "Kiel"]
    assert found.notes == (f"DBpedia did not answer ({error}), so the next source was used",)


async def test_a_source_that_fails_for_a_target_is_not_asked_again() -> None:
    failing = Words([], name="vectors", error=ToolTimeout(tool="vectors", timeout_s=5))
    found = await made("", "From Paris to Lima.", [failing, Words(["Kiel", "Oslo"])], wanted=3)
    assert len(failing.asked) == 1
    assert len(found.distractors) == 3
    assert len(found.notes) == 1
    assert found.notes[0].startswith("vectors did not answer")


async def test_a_wrong_set_up_stops_the_run() -> None:
    with pytest.raises(ConfigError):
        await made("", "It was Paris.", [Words([], error=ConfigError("no table"))])


@pytest.mark.parametrize(
    ("question", "response", "least", "most"),
    [
        ("What was it?", "2017", 30, 30),
        ("Who was it?", "Peter Billingsley", 30, 30),
        ("Who was it?", "The Beatles", 9, 30),
        ("What is it?", "the dao de jing", 0, 0),  # of no known kind: no filler gives it away
        ("What type of government was it?", "It was a communist government.", 0, 0),
    ],
)
async def test_very_short_responses(question: str, response: str, least: int, most: int) -> None:
    assert least <= len((await made(question, response, built_in())).distractors) <= most


@pytest.mark.parametrize(
    ("question", "response", "replaced"),
    [
        ("Who sang it?", "American singer Jesse Frederick sang it.", "Jesse Frederick"),
        ("What sport does he play?", "He is a South Korean baseball player.", "baseball"),
        ("What is his occupation?", "He was a French biologist.", "biologist"),
        ("In which city is it?", "It is in Lima, Peru.", "Lima, Peru"),
        ("", "It opened in Paris in 1889.", "Paris"),
    ],
)
async def test_what_the_question_asks_for_is_replaced_first(question: str, response: str, replaced: str) -> None:
    assert {one.replaced for one in (await made(question, response, built_in(), wanted=6)).distractors} == {replaced}


async def test_a_made_up_name_comes_last_and_says_so() -> None:
    found = (await made("Who was ousted?", "James Quillam was ousted.", built_in(), wanted=3)).distractors
    assert {(one.source, one.detail) for one in found} == {(Source.BUILT_IN, "made-up name")}
    known = (await made("Who painted it?", "Rembrandt painted it.", built_in())).distractors
    assert "made-up name" not in {one.detail for one in known}


@pytest.mark.parametrize(
    ("question", "response"),
    [
        ("", ""),
        ("Why?", "… !?"),
        ("谁写了《狂人日记》?", "鲁迅写了《狂人日记》。"),
        ("In what country is Kozići?", "In what country is Kozići?"),
        ("Who?", "I don't know."),
        ("Who?", "a" * 5_000),
        ("How many?", "It is 12345678901234567890123456789."),
        ("Who?", "one hundred " * 400),
        ("Who \ud800?", "King \ud800olomon built it \udfff."),
    ],
)
async def test_any_text_is_accepted(question: str, response: str) -> None:
    assert are_distinct(await made(question, response, built_in()))


ANSWERS = st.sampled_from([TEMPLE, SPAIN, LIONEL, ("who?", "It was An Apple in the Netherlands, 50% of them.")])


@given(ANSWERS, st.integers(0, 10**6), st.integers(0, 40))
async def test_the_same_arguments_give_the_same_set(asked: tuple[str, str], seed: int, wanted: int) -> None:
    one, other = [await made(*asked, built_in(), wanted, seed) for _ in range(2)]
    assert one == other
    fewer = await made(*asked, built_in(), wanted // 2, seed)
    assert len(fewer.distractors) == min(wanted // 2, len(one.distractors))


@given(st.text(max_size=60), st.text(max_size=60), st.integers(0, 3))
async def test_any_text_gives_distinct_distractors(question: str, response: str, seed: int) -> None:
    assert are_distinct(await made(question, response, built_in(), 12, seed))


@pytest.mark.process
def test_another_process_with_other_hashes_makes_the_same() -> None:
    asked = ("who sang it in 1983?", "The Osmonds and Tom Hanks sang it, a rare bird.")
    code = (
        "import asyncio, gc, sys; from factloop.trust.distractor_sources import make_distractors;"
        "from factloop.trust.settings import TrustSettings;"
        f"made = make_distractors(TrustSettings(), *{asked!r}, n=60);"
        "sys.stdout.write(asyncio.run(made).model_dump_json());"
        "assert gc.get_freeze_count() == 0"  # what an application holds stays its collector's to find
    )
    environment = {**os.environ, "PYTHONHASHSEED": "1"}
    other = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, check=True, text=True)
    made_here = asyncio.run(make_distractors(TrustSettings(), *asked, n=60))
    assert len(made_here.distractors) == 60
    assert other.stdout == made_here.model_dump_json()
