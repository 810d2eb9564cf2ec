"""Distractors that a model proposes: one call a response, checked like all others, and no failure of the rest."""

from __future__ import annotations

import json

import pytest

from factloop.agents.trustscore.distractors.distinct import says_reference
from factloop.agents.trustscore.distractors.form import Insertion
from factloop.agents.trustscore.distractors.generate import generate_distractors
from factloop.agents.trustscore.distractors.proposed import MOST_WORDS, PROPOSE, ModelProposer
from factloop.agents.trustscore.distractors.sources import KnowledgeBaseSource
from factloop.agents.trustscore.records import DistractorSet, Source
from factloop.prompts.registry import PromptRegistry
from factloop.tools.calls.meter import UsageMeter
from factloop.tools.names.built_in import BuiltInKnowledgeBase
from tests.agents.trustscore.scripted_chat import ScriptedChat, saying

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
    """The answer is wrong, and the judge knows the right one: as a distractor it would tell the subject apart."""
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
    assert [*found.values()] == [
        ["Sun's gravity", "Gravity of the sun", "Wind", "Earth"],
        ["Wind", "Earth"],
    ]


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
