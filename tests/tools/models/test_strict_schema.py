from __future__ import annotations

from typing import Any, Literal

import pytest
from pydantic import BaseModel, Field

from factloop.agents.safe.schemas import (
    Assessment,
    Assessments,
    AtomicFacts,
    GroundedClaims,
    GroundedFacts,
    Rating,
    Relevance,
    SearchCall,
    SearchQuery,
    SelfContainedFact,
    SentenceFacts,
    WindowFacts,
)
from factloop.tools.models.schema import loosened, strict_schema, tool_parameters

TEXT = {"type": "string"}
NUMBERS = {"type": "array", "items": {"type": "integer"}}


def closed(properties: dict[str, Any]) -> dict[str, Any]:
    """An object of the strict dialect: every property required, no others allowed."""
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


# The titles are part of the public contract: other programs recognise requests by them.
GOLDEN: list[tuple[type[BaseModel], str, dict[str, Any]]] = [
    (AtomicFacts, "AtomicFacts", {"facts": {"type": "array", "items": TEXT}}),
    (SelfContainedFact, "SelfContainedFact", {"fact": TEXT}),
    (Relevance, "Relevance", {"reason": TEXT, "relevant": {"type": "boolean"}}),
    (SearchQuery, "SearchQuery", {"query": TEXT}),
    (
        Rating,
        "Rating",
        {
            "reasoning": TEXT,
            "cited": NUMBERS,
            "wrong": TEXT,
            "rating": {"type": "string", "enum": ["supported", "contradicted", "not_supported"]},
        },
    ),
    (
        WindowFacts,
        "WindowFacts",
        {
            "facts": {
                "type": "array",
                "items": closed(
                    {
                        "sentence": {"type": "integer"},
                        "fact": TEXT,
                        "status": {"type": "string", "enum": ["check", "irrelevant", "ambiguous"]},
                        "query": TEXT,
                    }
                ),
            },
            "without_fact": NUMBERS,
        },
    ),
    (
        SentenceFacts,
        "SentenceFacts",
        {
            "facts": {
                "type": "array",
                "items": closed(
                    {
                        "fact": TEXT,
                        "status": {"type": "string", "enum": ["check", "irrelevant", "ambiguous"]},
                        "query": TEXT,
                    }
                ),
            }
        },
    ),
    (
        Assessment,
        "Assessment",
        {
            "rationale": TEXT,
            "cited": NUMBERS,
            "wrong": TEXT,
            "verdict": {"type": "string", "enum": ["supported", "contradicted", "insufficient", "ambiguous"]},
        },
    ),
    (
        Assessments,
        "Assessments",
        {
            "claims": {
                "type": "array",
                "items": closed(
                    {
                        "claim": {"type": "integer"},
                        "rationale": TEXT,
                        "cited": NUMBERS,
                        "wrong": TEXT,
                        "verdict": {
                            "type": "string",
                            "enum": ["supported", "contradicted", "insufficient", "ambiguous"],
                        },
                        "queries": {"type": "array", "items": TEXT},
                    }
                ),
            }
        },
    ),
    (SearchCall, "SearchCall", {"missing": TEXT, "queries": {"type": "array", "items": TEXT}}),
    (
        GroundedFacts,
        "GroundedFacts",
        {
            "facts": {
                "type": "array",
                "items": closed(
                    {
                        "sentence": {"type": "integer"},
                        "fact": TEXT,
                        "verdict": {"type": "string", "enum": ["supported", "contradicted", "insufficient"]},
                        "passages": NUMBERS,
                    }
                ),
            },
            "without_fact": NUMBERS,
            "off_topic": NUMBERS,
        },
    ),
    (
        GroundedClaims,
        "GroundedClaims",
        {
            "claims": {
                "type": "array",
                "items": closed(
                    {
                        "claim": {"type": "integer"},
                        "fact": TEXT,
                        "verdict": {"type": "string", "enum": ["supported", "contradicted", "insufficient"]},
                        "passages": NUMBERS,
                        "wrong": TEXT,
                        "reason": TEXT,
                    }
                ),
            },
        },
    ),
]


@pytest.mark.parametrize(("output", "title", "properties"), GOLDEN, ids=[title for _, title, _ in GOLDEN])
def test_what_models_are_asked_for(output: type[BaseModel], title: str, properties: dict[str, Any]) -> None:
    assert strict_schema(output) == {"title": title, **closed(properties)}


@pytest.mark.parametrize("output", [output for output, _, _ in GOLDEN])
def test_the_order_of_fields_is_the_order_of_thought(output: type[BaseModel]) -> None:
    """Reasons come before verdicts: a model writes the fields in this order."""
    assert list(strict_schema(output)["properties"]) == list(output.model_fields)


class Inner(BaseModel):
    """A description that costs no tokens."""

    title: str
    default: int = 3


class Outer(BaseModel):
    kind: Literal["only"]
    inner: Inner
    maybe: Inner | None = None
    many: list[Inner] = Field(default_factory=list, description="Several.")
    share: float = Field(ge=0.0, le=1.0)


def test_definitions_are_inlined_and_words_dropped() -> None:
    inner = closed({"title": TEXT, "default": {"type": "integer"}})
    assert strict_schema(Outer) == {
        "title": "Outer",
        **closed(
            {
                "kind": {"type": "string", "const": "only"},
                "inner": inner,
                "maybe": {"anyOf": [inner, {"type": "null"}]},
                "many": {"type": "array", "items": inner},
                "share": {"type": "number", "minimum": 0.0, "maximum": 1.0},
            }
        ),
    }


def test_a_function_is_offered_without_what_only_the_strict_dialect_asks_for() -> None:
    """Names of fields stay, also where they are words of JSON Schema."""
    assert loosened(strict_schema(Outer))["properties"]["inner"] == {
        "type": "object",
        "properties": {"title": TEXT, "default": {"type": "integer"}},
        "required": ["title", "default"],
    }
    assert loosened(strict_schema(Outer)).keys() == {"type", "properties", "required"}


def test_arguments_of_a_tool_that_have_a_default_may_be_left_out() -> None:
    assert tool_parameters(SearchCall) == {
        "type": "object",
        "properties": {"missing": TEXT, "queries": {"type": "array", "items": TEXT}},
    }
    assert tool_parameters(Outer)["required"] == ["kind", "inner", "share"]
