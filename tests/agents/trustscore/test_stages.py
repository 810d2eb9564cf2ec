from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import pytest
from langchain_core.messages import AIMessage

from factloop.agents.trustscore.choices import NONE_OF_THE_ABOVE
from factloop.agents.trustscore.judges import ModelJudge, VerifierJudge, statement_of
from factloop.agents.trustscore.records import Letter, Option, OptionKind, Relation
from factloop.agents.trustscore.stages import Choice, PassageJudgement
from factloop.agents.trustscore.subject import ModelSubject
from factloop.core.errors import ModelOutputError, ModelRefusal
from factloop.core.records import Evidence
from factloop.prompts.registry import PromptRegistry
from factloop.tools.calls.meter import UsageMeter
from factloop.tools.judges.base import Label
from tests.agents.safe.model_parts import evidence
from tests.agents.scripted_verifier import ScriptedVerifier
from tests.tools.models.scripted_chat import saying
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
    chat, talk = saying(*replies)
    choice = await subject(talk).choose(question, OPTIONS, statements=statements, meter=talk.meter)
    assert not chat.replies, "the script was not played to its end"
    assert talk.meter.snapshot(0.0).stages["choose"].calls == len(replies)
    return choice, str(chat.asked[0][-1].text)


async def answer(*replies: str | AIMessage) -> str:
    chat, talk = saying(*replies)
    said = await subject(talk).answer(QUESTION, meter=talk.meter)
    assert not chat.replies, "the script was not played to its end"
    return said


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


ANSWER = "King Solomon built the first temple."


PASSAGES = tuple(evidence(number, passage=f"Text {number}.") for number in (1, 2, 3))


def entailment(relation: str, cited: Sequence[Any] = (), rationale: str = "It says so.") -> str:
    return json.dumps({"rationale": rationale, "cited": list(cited), "relation": relation})


async def judged(*replies: str, passages: Sequence[Evidence] = PASSAGES) -> tuple[PassageJudgement, str]:
    chat, talk = saying(*replies)
    judge = ModelJudge(talk.gateway, PromptRegistry.load())
    found = await judge.judge(QUESTION, ANSWER, passages, meter=talk.meter)
    assert not chat.replies, "the script was not played to its end"
    assert talk.meter.snapshot(0.0).stages["entailment"].calls == len(replies)
    return found, str(chat.asked[0][-1].text)


@pytest.mark.parametrize(
    ("cited", "expected"), [([], ()), ([1, 3], (0, 2)), ([3, 1, 3], (2, 0)), ([0, -1, 4, 2, 99], (1,)), ([10**30], ())]
)
async def test_only_passages_that_were_shown_can_be_cited(cited: list[int], expected: tuple[int, ...]) -> None:
    found, _ = await judged(entailment("support", cited))
    assert found == PassageJudgement(Relation.SUPPORT, "It says so.", expected)


@pytest.mark.parametrize(
    ("label", "relation"),
    [("supported", Relation.SUPPORT), ("contradicted", Relation.CONTRADICT), ("insufficient", Relation.NEUTRAL)],
)
async def test_a_verifier_s_label_on_the_answer_in_its_question_is_a_relation(label: Label, relation: Relation) -> None:
    verifier = ScriptedVerifier(label, cited=(1,))
    judge = VerifierJudge(verifier)
    found = await judge.judge(QUESTION, "King Solomon", PASSAGES, meter=UsageMeter())
    assert found == PassageJudgement(relation, "names agree", (1,))
    assert verifier.asked == [(ANSWER, ["Text 1.", "Text 2.", "Text 3."])]
    assert judge.name == "scripted"


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
