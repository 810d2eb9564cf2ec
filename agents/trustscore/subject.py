"""The subject: a chat model that answers multiple-choice questions and open questions from memory."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from factloop.agents.trustscore.choices import after_thinking, letter_probabilities, read_choice
from factloop.agents.trustscore.records import Option
from factloop.agents.trustscore.schemas import ClosedBookAnswer, McqAnswer
from factloop.agents.trustscore.stages import Choice
from factloop.core.errors import ModelOutputError, ModelRefusal
from factloop.prompts.registry import PromptRegistry
from factloop.tools.calls.meter import UsageMeter
from factloop.tools.models.gateway import ModelGateway
from factloop.tools.models.logprobs import TOP_LOGPROBS

MULTIPLE_CHOICE, STATEMENT_CHOICE = "trustscore/multiple_choice", "trustscore/statement_choice"
CLOSED_BOOK = "trustscore/closed_book"
SUBJECT_PROMPTS = (MULTIPLE_CHOICE, STATEMENT_CHOICE, CLOSED_BOOK)
CHOOSE, ANSWER = "choose", "answer"
_NO_ANSWER = re.compile(
    r"""
    (?i:(?:I['’]?\s?a?m\ )?(?:very\ |so\ )?sorry[,.;:!]?\ (?:but\ )?|unfortunately,?\ |as\ an\ AI[^,.]{0,40},\ )?
    I(?:
        \ (?:do\ not|don['’]t)\ (?:know|have)\b
      | \ have\ no\ (?:idea|answer|information|knowledge|data|records?|memory|access|details?|way)\b
      | (?:\ (?:cannot|can\ not|can['’]t)|(?:\ am|['’]m)\ (?:unable|not\ able)(?:\ to)?)
        \ (?:access|answer|confirm|determine|find|give|help|identify|provide|recall|remember|say|share|tell|verify)\b
    )
    (?!.*\b(?:but|doubts?)\b)
    """,
    re.VERBOSE,
)


@dataclass(frozen=True)
class ModelSubject:
    gateway: ModelGateway
    prompts: PromptRegistry
    logprobs: bool

    @property
    def name(self) -> str:
        return self.gateway.chat.name

    async def choose(self, question: str, options: Sequence[Option], *, statements: bool, meter: UsageMeter) -> Choice:
        """Returns the option that the subject believes. Raises ModelOutputError unless the reply chooses one."""
        shown = "\n".join(f"{option.letter}) {' '.join(option.text.split())}" for option in options)
        if statements:
            prompt = self.prompts[STATEMENT_CHOICE].render(topic=question or None, options=f"\n{shown}\n")
        else:
            prompt = self.prompts[MULTIPLE_CHOICE].render(question=question, options=f"\n{shown}\n")

        def read_text(reply: str) -> McqAnswer | None:
            letter = read_choice(reply, options)
            return McqAnswer(answer=letter) if letter is not None else None

        def accept(answer: McqAnswer) -> None:
            if read_choice(answer.answer, options) is None:
                said = "answer: must be the letter of exactly one option"
                raise ModelOutputError(said, schema=McqAnswer.__name__, reply=answer.answer)

        answered = await self.gateway.ask_graded(
            prompt,
            McqAnswer,
            stage=CHOOSE,
            meter=meter,
            top_logprobs=TOP_LOGPROBS if self.logprobs else 0,
            accept=accept,
            read_text=read_text,
        )
        letter = read_choice(answered.value.answer, options)
        assert letter is not None  # otherwise the reply would have been rejected
        return Choice(letter, letter_probabilities(answered.tokens, letter))

    async def answer(self, question: str, *, meter: UsageMeter) -> str:
        """Returns the subject's answer from memory, in one line.

        Raises ModelOutputError if the answer is empty, and ModelRefusal if the subject says that it does not know.
        """

        def accept(answer: ClosedBookAnswer) -> None:
            if not answer.answer.strip():
                raise ModelOutputError("the answer is empty", schema=ClosedBookAnswer.__name__, reply=answer.answer)

        def read_text(reply: str) -> ClosedBookAnswer | None:
            said = after_thinking(reply)
            return ClosedBookAnswer(answer=said) if said and "{" not in said else None

        answered = await self.gateway.ask_graded(
            self.prompts[CLOSED_BOOK].render(question=question),
            ClosedBookAnswer,
            stage=ANSWER,
            meter=meter,
            top_logprobs=0,
            accept=accept,
            read_text=read_text,
        )
        said = " ".join(answered.value.answer.split())
        if _NO_ANSWER.match(said):
            raise ModelRefusal("the model declined to answer", schema=ClosedBookAnswer.__name__, reply=said)
        return said
