"""What models are asked for: the strict dialect of JSON Schema, titles that are public, and a choice of tools."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import BaseModel

from factloop.agents.safe import schemas
from factloop.agents.safe.schemas import Assessment, SearchCall, WindowFacts
from factloop.tools.models.schema import Offers, StructuredOutput, ToolChoice, strict_schema
from tests.tools.models.questions import OPEN, tools

TITLES = (
    "AtomicFacts", "SelfContainedFact", "Relevance", "SearchQuery", "Rating", "WindowFacts", "SentenceFacts",
    "Assessment", "Assessments", "SearchCall", "GroundedFacts", "GroundedClaims",
)  # fmt: skip
"""Part of the public contract: other programs recognise requests by them."""
SAID_BEFORE = {"Relevance": "reason", "Rating": "reasoning", "Assessment": "rationale"}
"""A model writes the fields in their order, so that reasons come before verdicts."""


def objects(node: Any) -> list[dict[str, Any]]:
    """All schemas of objects within a schema."""
    inner = node.values() if isinstance(node, dict) else node if isinstance(node, list) else ()
    below = [found for one in inner for found in objects(one)]
    return [node, *below] if isinstance(node, dict) and node.get("type") == "object" else below


@pytest.mark.parametrize("title", TITLES)
def test_outputs_are_in_the_strict_dialect_in_the_order_of_thought(title: str) -> None:
    output: type[BaseModel] = getattr(schemas, title)
    schema = strict_schema(output)
    assert issubclass(output, StructuredOutput)
    assert (schema["title"], list(schema["properties"])) == (title, list(output.model_fields))
    assert schema["properties"].get(SAID_BEFORE.get(title)) == ({"type": "string"} if title in SAID_BEFORE else None)
    assert SAID_BEFORE.get(title) in (None, next(iter(schema["properties"])))
    for one in objects(schema):
        assert (one["required"], one["additionalProperties"]) == (list(one["properties"]), False)
        for node in (one, *one["properties"].values()):
            assert not {"$ref", "$defs", "description", "default"} & node.keys()


def test_definitions_are_inlined_and_nothing_is_said_twice() -> None:
    text, numbers = {"type": "string"}, {"type": "array", "items": {"type": "integer"}}
    fact = {
        "sentence": {"type": "integer"},
        "fact": text,
        "status": {"type": "string", "enum": ["check", "irrelevant", "ambiguous"]},
        "query": text,
    }
    closed = {"type": "object", "properties": fact, "required": list(fact), "additionalProperties": False}
    assert strict_schema(WindowFacts) == {
        "title": "WindowFacts",
        "type": "object",
        "properties": {"facts": {"type": "array", "items": closed}, "without_fact": numbers},
        "required": ["facts", "without_fact"],
        "additionalProperties": False,
    }


@pytest.mark.parametrize(("named", "expected"), [("documents", "documents"), ("nothing", "web"), ("", "web")])
def test_of_two_tools_the_named_one_is_chosen_else_the_first(named: str, expected: str) -> None:
    both: Offers[Assessment, SearchCall] = tools("web", "documents")
    said = both.answer_or_choice.model_validate({**OPEN, "queries": ["q"], "tool": named})
    assert both.choice_in(said) == ToolChoice(expected, SearchCall(queries=["q"]))
