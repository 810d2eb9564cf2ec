"""Tools that a model is offered beside answering, its choice among them, and the same choice without tool calling."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Generic, TypeVar

from pydantic import BaseModel, create_model

from factloop.tools.models.schema import tool_parameters

Answer = TypeVar("Answer", bound=BaseModel)
Args = TypeVar("Args", bound=BaseModel)

TOOL_FIELD = "tool"


@dataclass(frozen=True)
class ToolChoice(Generic[Args]):
    """The model's choice of an offered tool, with validated arguments."""

    name: str
    args: Args


@dataclass(frozen=True)
class Offers(Generic[Answer, Args]):
    """Tools that the model may call instead of giving its answer.

    All take the same arguments: texts and lists of texts, each with a default, of which a call gives at least one.
    """

    tools: Mapping[str, str]
    """Name to description."""
    args: type[Args]
    answer: type[Answer]
    undecided: Callable[[Answer], bool]
    """Whether an answer leaves room for a choice, where both come in one structured output."""

    @cached_property
    def as_openai(self) -> list[dict[str, Any]]:
        """The tools as OpenAI describes functions."""
        parameters = tool_parameters(self.args)
        return [
            {"type": "function", "function": {"name": name, "description": said, "parameters": parameters}}
            for name, said in self.tools.items()
        ]

    @cached_property
    def answer_or_choice(self) -> type[Answer]:
        """The answer with the arguments of a tool beside it (and its name, if there are several), all optional."""
        fields: dict[str, Any] = {name: (field.annotation, field) for name, field in self.args.model_fields.items()}
        if len(self.tools) > 1:
            fields[TOOL_FIELD] = (str, "")
        return create_model(self.answer.__name__, __base__=self.answer, **fields)

    def choice_in(self, answer: Answer) -> ToolChoice[Args] | None:
        """The choice that an `answer_or_choice` makes, if it makes one."""
        args = self.args.model_validate({name: getattr(answer, name) for name in self.args.model_fields})
        if not self.undecided(answer) or is_blank(args):
            return None
        named = getattr(answer, TOOL_FIELD, "")
        name = named if named in self.tools else next(iter(self.tools))
        return ToolChoice(name, args)


def is_blank(args: BaseModel) -> bool:
    """Whether arguments, texts and lists of texts, say nothing: a call with these chooses nothing to be done."""
    given = ([value] if isinstance(value, str) else value for _, value in args)
    return not any(text.strip() for texts in given for text in texts)
