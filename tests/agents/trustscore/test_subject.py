"""A chat model as the subject: what it is asked, and how its replies become choices and answers."""

from __future__ import annotations

import math

import pytest
from langchain_core.messages import AIMessage

from factloop.agents.trustscore.questions import NONE_OF_THE_ABOVE
from factloop.agents.trustscore.records import Letter, Option, OptionKind
from factloop.agents.trustscore.stages import Choice
from factloop.agents.trustscore.subject import ModelSubject
from factloop.core.errors import ModelOutputError, ModelRefusal
from factloop.prompts.registry import PromptRegistry
from tests.agents.trustscore.scripted_chat import ScriptedChat, saying
from tests.tools.models.talk import Talk

QUESTION = "Who built the first temple?"
TEXTS = ("Gopal built it.", "A mason built it.", "King Solomon\nbuilt  it.", "Alexander built it.", NONE_OF_THE_ABOVE)
LETTERS: tuple[Letter, ...] = ("A", "B", "C", "D", "E")
KINDS = (*(OptionKind.DISTRACTOR,) * 2, OptionKind.RESPONSE, OptionKind.DISTRACTOR, OptionKind.NONE_OF_THE_ABOVE)
OPTIONS = tuple(
    Option(letter=letter, text=text, kind=kind) for letter, text, kind in zip(LETTERS, TEXTS, KINDS, strict=True)
)


def subject(talk: Talk, *, logprobs: bool = True) -> ModelSubject:
    return ModelSubject(talk.gateway, PromptRegistry.load(), logprobs)


async def choose(*replies: str | AIMessage, statements: bool = False, question: str = QUESTION) -> tuple[Choice, str]:
    """The option chosen, and the last message of the first request."""
    chat, talk = saying(*replies)
    choice = await subject(talk).choose(question, OPTIONS, statements=statements, meter=talk.meter)
    assert not chat.replies, "the script was not played to its end"
    assert talk.meter.snapshot(0.0).stages["choose"].calls == len(replies)
    return choice, _first_question(chat)


async def answer(*replies: str | AIMessage) -> str:
    chat, talk = saying(*replies)
    said = await subject(talk).answer(QUESTION, meter=talk.meter)
    assert not chat.replies, "the script was not played to its end"
    return said


def _first_question(chat: ScriptedChat) -> str:
    return str(chat.asked[0][-1].text)


async def test_the_options_are_shown_one_a_line_in_their_order() -> None:
    _, asked = await choose('{"answer": "C"}')
    shown = ["A) Gopal built it.", "B) A mason built it.", "C) King Solomon built it.", "D) Alexander built it."]
    assert "\n".join([*shown, "E) None of the above."]) in asked
    assert QUESTION in asked


async def test_statements_are_shown_with_their_topic_or_without() -> None:
    _, asked = await choose('{"answer": "C"}', statements=True, question="Temples")
    assert "Temples" in asked
    assert "C) King Solomon built it." in asked
    _, asked = await choose('{"answer": "C"}', statements=True, question="")
    assert "C) King Solomon built it." in asked
    assert "topic" not in asked


@pytest.mark.parametrize(
    "reply",
    [
        '{"answer": "C"}',
        '```json\n{"answer": "C"}\n```',
        '{"answer": "C) King Solomon built it."}',
        '{"answer": "King Solomon built it."}',
        '{"answer": "c"}',
        "C",
        "(c)",
        "C) King Solomon built it.",
        "King Solomon built it.",
        "Let me think. Alexander lived later. So the answer is C.",
        "<think>A? B?</think>C",
    ],
)
async def test_a_choice_is_read_from_the_schema_or_from_text(reply: str) -> None:
    assert (await choose(reply))[0] == Choice("C", None)


@pytest.mark.parametrize(
    "reply",
    ["A or C", "", "I cannot say.", '{"answer": "A or C"}', '{"answer": ""}', '{"answer": "F"}', '{"answer": 3}', "{}"],
)
async def test_what_is_no_choice_is_asked_once_more(reply: str) -> None:
    assert (await choose(reply, "C"))[0].letter == "C"


async def test_a_refusal_is_one() -> None:
    with pytest.raises(ModelRefusal, match="I would rather not"):
        await choose(AIMessage("", additional_kwargs={"refusal": "I would rather not."}))


@pytest.mark.parametrize(
    "reply",
    [
        "I don't know.",
        '{"answer": "I do not know who built the first temple."}',
        "I'm sorry, but I can't help with that.",
        "Sorry, I cannot answer this question.",
        "I am unable to answer that.",
        "I don’t know the answer.",
        "I have no idea.",
        "I have no way to check this.",
        "I do not have access to the internet.",
        "I don't have to answer that.",
        "I can't recall who built it.",
        "Unfortunately, I cannot verify this.",
        "As an AI language model, I have no memory of that.",
        "I am not able to help with that.",
    ],
)
async def test_a_refusal_in_words_is_no_answer(reply: str) -> None:
    with pytest.raises(ModelRefusal) as caught:
        await answer(reply)
    assert caught.value.reply


@pytest.mark.parametrize(
    "reply",
    [
        "I Don't Know How to Love Him came out in 1971.",
        "I, Robot is by Asimov.",
        "I don't know for sure, but Solomon built it.",
        "I have no doubt it was Solomon.",
        "I can't stress enough that it is Paris.",
        "I cannot imagine anyone but Solomon.",
        "I cannot name anyone except Solomon.",
    ],
)
async def test_an_answer_that_begins_alike_is_one(reply: str) -> None:
    assert await answer(reply) == reply


async def test_probabilities_are_those_of_the_place_of_the_letter() -> None:
    listed = [{"token": "C", "logprob": math.log(0.75)}, {"token": "A", "logprob": math.log(0.25)}]
    logprobs = {"content": [{"token": "C", "logprob": math.log(0.75), "top_logprobs": listed}]}
    choice, _ = await choose(AIMessage("C", response_metadata={"logprobs": logprobs}))
    assert choice.probabilities == pytest.approx({"A": 0.25, "C": 0.75})


@pytest.mark.parametrize(
    ("reply", "expected"),
    [
        ('{"answer": "King Solomon built it."}', "King Solomon built it."),
        ('{"answer": "King Solomon\\n built  it."}', "King Solomon built it."),
        ("King Solomon built it.", "King Solomon built it."),
        ("<think>\nWho? A mason?\n</think>\n\nKing Solomon built it.", "King Solomon built it."),
    ],
)
async def test_an_answer_is_one_line(reply: str, expected: str) -> None:
    assert await answer(reply) == expected


@pytest.mark.parametrize(
    "reply", ["", " \n", '{"answer": ""}', '{"answer": "  "}', '{"reply": "Solomon"}', "<think>So"]
)
async def test_no_answer_is_asked_for_once_more(reply: str) -> None:
    assert await answer(reply, "King Solomon built it.") == "King Solomon built it."


async def test_no_answer_at_all_is_an_error() -> None:
    with pytest.raises(ModelOutputError, match="the answer is empty"):
        await answer('{"answer": " "}', '{"answer": ""}', '{"answer": ""}')
