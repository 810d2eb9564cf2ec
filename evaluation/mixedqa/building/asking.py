"""Asks the systems a source's questions, closed-book, until enough are answered by all of them (appendix A.3, steps 2
to 4).

Departures: the paper asks every question and samples afterwards, which gives the same sample at a greater cost; a call
that fails leaves its question undecided, to be asked again, and no other takes its place.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from factloop.agents.trustscore.stages import Subject
from factloop.core.errors import ConfigError, FactloopError, ModelOutputError, ModelRefusal
from factloop.evaluation.mixedqa.building.drawing import Draw
from factloop.evaluation.mixedqa.building.filters import NoAnswer, why_no_answer
from factloop.evaluation.mixedqa.building.records import BuiltQuestion, BuiltResponse
from factloop.evaluation.mixedqa.building.sources import SourceQuestion
from factloop.tools.calls.meter import UsageMeter
from factloop.tools.calls.together import together

SubjectReply = str | NoAnswer | FactloopError
"""A response, why there is nothing in it, or the call that failed."""


@dataclass
class Outcome:
    """What came of one source."""

    kept: list[BuiltQuestion] = field(default_factory=list)
    n_asked: int = 0
    n_failed: int = 0
    unanswered: dict[str, Counter[NoAnswer]] = field(default_factory=lambda: defaultdict(Counter))
    failures: dict[str, str] = field(default_factory=dict)
    """System to its first failed call, in words."""


async def ask_until(
    draw: Draw,
    wanted: int,
    subjects: Mapping[str, Subject],
    *,
    meter: UsageMeter,
    note: Callable[[], None] = lambda: None,
) -> Outcome:
    """The first `wanted` questions of the draw that every system answers, in its order; costs a call a system each.

    As many are asked at a time as are lacking, so that none is asked in vain. `note` is called for each question that
    was decided. Raises ConfigError.
    """
    outcome, place = Outcome(), 0
    while place < len(draw.questions):
        lacking = wanted - len(outcome.kept) - outcome.n_failed
        if lacking <= 0:
            break
        batch = draw.questions[place : place + lacking]
        place += len(batch)
        said = await together(_ask_all(question, subjects, meter, note) for question in batch)
        for question, by_system in zip(batch, said, strict=True):
            _count(question, by_system, outcome)
    return outcome


async def _ask_all(
    question: SourceQuestion, subjects: Mapping[str, Subject], meter: UsageMeter, note: Callable[[], None]
) -> Mapping[str, SubjectReply]:
    said: Sequence[SubjectReply] = await together(_ask(question, subject, meter) for subject in subjects.values())
    note()
    return dict(zip(subjects, said, strict=True))


async def _ask(question: SourceQuestion, subject: Subject, meter: UsageMeter) -> SubjectReply:
    try:
        text = await subject.answer(question.question, meter=meter)
    except ConfigError:
        raise
    except ModelRefusal:
        return NoAnswer.INCONCLUSIVE
    except ModelOutputError as error:
        return NoAnswer.BLANK if why_no_answer("", error.reply) is NoAnswer.BLANK else error
    except FactloopError as error:
        return error
    return why_no_answer(question.question, text) or text


def _count(question: SourceQuestion, said: Mapping[str, SubjectReply], outcome: Outcome) -> None:
    outcome.n_asked += 1
    for system, one in said.items():
        if isinstance(one, NoAnswer):
            outcome.unanswered[system][one] += 1
        elif isinstance(one, FactloopError):
            outcome.failures.setdefault(system, str(one))
    if any(isinstance(one, NoAnswer) for one in said.values()):
        return
    if any(isinstance(one, FactloopError) for one in said.values()):
        outcome.n_failed += 1
        return
    responses = tuple(BuiltResponse(system=system, text=str(text)) for system, text in said.items())
    outcome.kept.append(as_built(question, responses))


def as_built(question: SourceQuestion, responses: tuple[BuiltResponse, ...] = ()) -> BuiltQuestion:
    """The question as a row of the data set."""
    return BuiltQuestion(
        id=f"{question.source}/{question.id}",
        question=question.question,
        reference_answers=question.reference_answers,
        source=question.source,
        responses=responses,
    )
