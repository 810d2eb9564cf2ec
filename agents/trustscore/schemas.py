"""The structured outputs requested from a model. Class names are public, because they are schema titles."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from factloop.tools.models.schema import StructuredOutput


class McqAnswer(StructuredOutput):
    """The subject's choice among five options."""

    answer: str = Field(json_schema_extra={"enum": ["A", "B", "C", "D", "E"]})
    """The letter of one option. Any text is accepted, because not every server enforces the schema."""


class Entailment(StructuredOutput):
    """What passages say about an answer to a question."""

    rationale: str
    cited: list[int]
    """Numbers of the passages that the relation is based on, starting at 1."""
    relation: Literal["support", "neutral", "contradict"]


class SubstituteGroup(StructuredOutput):
    """Possible replacements for one word."""

    word: str
    instead: list[str]


class Substitutes(StructuredOutput):
    """Possible replacements for words in a response. Each is of the same kind as the word that it replaces."""

    groups: list[SubstituteGroup]


class ClosedBookAnswer(StructuredOutput):
    """The subject's answer to a question, from memory, in a whole sentence."""

    answer: str
