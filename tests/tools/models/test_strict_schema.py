from __future__ import annotations

from typing import Any

import pytest
from pydantic import BaseModel

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
from factloop.tools.models.schema import strict_schema

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
            "rating": {"type": "string", "enum": ["supported", "contradicted", "disputed", "not_supported"]},
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
            "verdict": {
                "type": "string",
                "enum": ["supported", "contradicted", "disputed", "insufficient", "ambiguous"],
            },
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
                            "enum": ["supported", "contradicted", "disputed", "insufficient", "ambiguous"],
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
                        "passages": NUMBERS,
                        "reason": TEXT,
                        "verdict": {
                            "type": "string",
                            "enum": ["supported", "contradicted", "disputed", "insufficient"],
                        },
                        "wrong": TEXT,
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
                        "passages": NUMBERS,
                        "reason": TEXT,
                        "verdict": {
                            "type": "string",
                            "enum": ["supported", "contradicted", "disputed", "insufficient"],
                        },
                        "wrong": TEXT,
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
