"""Tools that a model is offered beside answering, and its choice among them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from pydantic import BaseModel

from factloop.tools.models.schema import strict_schema

Args = TypeVar("Args", bound=BaseModel, covariant=True)


@dataclass(frozen=True)
class Offer(Generic[Args]):
    """A tool that the model may call instead of answering."""

    name: str
    description: str
    args: type[Args]

    def as_openai(self) -> dict[str, Any]:
        parameters = {key: value for key, value in strict_schema(self.args).items() if key != "title"}
        function = {"name": self.name, "description": self.description, "strict": True, "parameters": parameters}
        return {"type": "function", "function": function}


@dataclass(frozen=True)
class Chosen(Generic[Args]):
    """The model's choice of an offered tool, with validated arguments."""

    name: str
    args: Args
