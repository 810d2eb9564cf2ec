"""The published JSON Schemas of what factloop writes. `python -m factloop.schemas` writes them anew."""

from __future__ import annotations

import json
from pathlib import Path

from pydantic import TypeAdapter

from factloop.estimate import Estimate
from factloop.evaluation.metrics.mixedqa import MixedQaResult
from factloop.events import Event
from factloop.records import FactualityReport
from factloop.trust_estimate import TrustEstimate
from factloop.trust_records import DistractorSet, LongFormTrustReport, TrustReport, TrustRun

FOLDER = Path(__file__).parent

_PUBLISHED: dict[str, TypeAdapter[object]] = {
    "factuality_report": TypeAdapter(FactualityReport),
    "event": TypeAdapter(Event),
    "estimate": TypeAdapter(Estimate),
    "mixedqa_result": TypeAdapter(MixedQaResult),
    "trust_estimate": TypeAdapter(TrustEstimate),
    "distractor_set": TypeAdapter(DistractorSet),
    "trust_report": TypeAdapter(TrustReport),
    "trust_run": TypeAdapter(TrustRun),
    "long_form_trust_report": TypeAdapter(LongFormTrustReport),
}


def generate() -> dict[str, str]:
    """File name to text of each schema, as the records stand now."""
    return {
        f"{name}.schema.json": json.dumps(
            {"$schema": "https://json-schema.org/draft/2020-12/schema", **adapter.json_schema(mode="serialization")},
            indent=2,
        )
        + "\n"
        for name, adapter in _PUBLISHED.items()
    }
