"""Questions are asked until enough are answered by every system; a failed call decides nothing."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import pytest

from factloop.agents.trustscore.records import Option
from factloop.agents.trustscore.stages import Choice
from factloop.core.errors import ConfigError, ModelOutputError, ModelRefusal, ToolError
from factloop.evaluation.mixedqa.building.asking import Outcome, ask_until
from factloop.evaluation.mixedqa.building.drawing import Draw
from factloop.evaluation.mixedqa.building.filters import NoAnswer
from factloop.evaluation.mixedqa.building.sources import SourceQuestion
from factloop.tools.calls.meter import UsageMeter

ScriptedReply = str | Exception


@dataclass
class Scripted:
    """A subject that says what its script has for a question, else `It is so.`."""

    script: Mapping[str, ScriptedReply] = field(default_factory=dict)
    asked: list[str] = field(default_factory=list)
    name: str = "scripted"

    async def answer(self, question: str, *, meter: UsageMeter) -> str:  # noqa: ARG002 - costs nothing
        self.asked.append(question)
        said = self.script.get(question, "It is so.")
        if isinstance(said, Exception):
            raise said
        return said

    async def choose(self, question: str, options: Sequence[Option], *, statements: bool, meter: UsageMeter) -> Choice:
        raise AssertionError(f"no options are put to it, but {options} of {question!r} ({statements=}, {meter=})")


def unreadable(reply: str) -> ModelOutputError:
    return ModelOutputError("no JSON", schema="ClosedBookAnswer", reply=reply)


async def ask(wanted: int, **subjects: Scripted) -> Outcome:
    """Ten questions, Q0 to Q9, in this order."""
    questions = [SourceQuestion(id=str(n), question=f"Q{n}", reference_answers=("x",), source="s") for n in range(10)]
    return await ask_until(Draw("s", tuple(questions), 10, 0, Counter()), wanted, subjects, meter=UsageMeter())


def kept(outcome: Outcome) -> list[str]:
    return [one.question for one in outcome.kept]


async def test_what_a_system_does_not_answer_is_left_out_for_all_and_the_next_is_asked() -> None:
    one = Scripted({"Q0": "I am not sure.", "Q2": "Q2?"})
    two = Scripted({"Q1": " ", "Q2": "no no no no"})
    outcome = await ask(3, one=one, two=two)
    assert kept(outcome) == ["Q3", "Q4", "Q5"]
    assert one.asked == two.asked == ["Q0", "Q1", "Q2", "Q3", "Q4", "Q5"]
    assert outcome.unanswered == {
        "one": {NoAnswer.INCONCLUSIVE: 1, NoAnswer.ECHO: 1},
        "two": {NoAnswer.BLANK: 1, NoAnswer.REPETITIVE: 1},
    }
    assert [[response.system for response in question.responses] for question in outcome.kept] == [["one", "two"]] * 3


async def test_no_more_are_asked_than_are_lacking() -> None:
    one = Scripted({"Q1": "I don't know."})
    assert kept(await ask(4, one=one)) == ["Q0", "Q2", "Q3", "Q4"]
    assert one.asked == ["Q0", "Q1", "Q2", "Q3", "Q4"]


async def test_a_failed_call_decides_nothing_and_no_other_question_takes_its_place() -> None:
    """The sample would be another one if the question turned out to be answered."""
    one = Scripted({"Q1": ToolError("away", tool="model"), "Q2": unreadable("{answer")})
    outcome = await ask(4, one=one)
    assert (kept(outcome), outcome.n_failed, outcome.n_asked) == (["Q0", "Q3"], 2, 4)
    assert (dict(outcome.unanswered), one.asked) == ({}, ["Q0", "Q1", "Q2", "Q3"])
    assert outcome.failures == {"one": "away"}


async def test_one_system_that_does_not_answer_settles_it_where_another_failed() -> None:
    outcome = await ask(1, one=Scripted({"Q0": ToolError("away", tool="model")}), two=Scripted({"Q0": "I don't know."}))
    assert (kept(outcome), outcome.n_failed) == (["Q1"], 0)


@pytest.mark.parametrize(
    ("said", "why"),
    [
        (ModelRefusal("no", schema="ClosedBookAnswer", reply="I cannot."), NoAnswer.INCONCLUSIVE),
        (unreadable(" "), NoAnswer.BLANK),
    ],
)
async def test_refusals_and_empty_replies_are_no_answers(said: Exception, why: NoAnswer) -> None:
    outcome = await ask(1, one=Scripted({"Q0": said}))
    assert (kept(outcome), outcome.unanswered["one"]) == (["Q1"], {why: 1})


async def test_a_wrong_set_up_ends_it() -> None:
    with pytest.raises(ConfigError):
        await ask(1, one=Scripted({"Q0": ConfigError("no such model")}))


async def test_the_source_may_be_used_up() -> None:
    one = Scripted({f"Q{n}": "I don't know." for n in range(8)})
    outcome = await ask(5, one=one)
    assert (kept(outcome), outcome.n_asked) == (["Q8", "Q9"], 10)
