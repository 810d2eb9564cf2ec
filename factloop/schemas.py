"""Generates JSON Schemas for the records that factloop writes. `python -m factloop.schemas NAME` prints one schema, and
`python -m factloop.schemas` lists the names."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from importlib import import_module
from typing import Any

from pydantic import TypeAdapter

PUBLISHED: Mapping[str, str] = {
    "factuality_report": "core.records:FactualityReport",
    "event": "core.events:Event",
    "estimate": "checking.estimate:Estimate",
    "correction": "correction.records:Correction",
    "guard_event": "guarding.records:GuardEvent",
    "cascade": "checking.cascade.records:CascadeFile",
    "run_summary": "evaluation.runs.records:RunSummary",
    "judged_response": "evaluation.runs.records:JudgedResponse",
    "comparison": "evaluation.comparing.records:Comparison",
    "audit_report": "evaluation.audit.report:AuditReport",
    "audit_row": "evaluation.audit.rows:PredictionRow",
    "labels": "reports.labels:LabelFile",
    "answers": "reports.labels:AnswerFile",
    "people_agreement": "evaluation.labels.people:PeopleAgreement",
    "adjudication": "evaluation.labels.adjudication:Adjudication",
    "disagreement_key": "evaluation.labels.disagreements:DisagreementKey",
    "experiment_report": "evaluation.experiments.records:ExperimentReport",
    "experiment_estimate": "evaluation.experiments.estimate:ExperimentEstimate",
    "prediction": "evaluation.verification.records:Prediction",
    "verify_run": "evaluation.verification.records:VerifyRun",
    "generated_response": "evaluation.generation.records:GeneratedResponse",
    "generated_prompt": "evaluation.generation.records:GeneratedPrompt",
    "responses_report": "evaluation.generation.records:ResponsesReport",
    "prompts_report": "evaluation.generation.records:PromptsReport",
    "generation_estimate": "evaluation.generation.records:GenerationEstimate",
    "join_report": "evaluation.datasets.joining:JoinReport",
    "reproduction": "evaluation.reproduction.records:Reproduction",
    "reproduction_list": "evaluation.reproduction.records:EntryList",
    "cache_status": "setup.caching.contents:CacheStatus",
    "cache_cleared": "setup.caching.contents:CacheCleared",
    "diagnosis": "doctor.records:Diagnosis",
    "data_listing": "cli.research.data:DataListing",
    "data_got": "cli.research.data:DataGot",
    "lint_report": "prompts.lint:LintReport",
    "mixedqa_result": "evaluation.mixedqa.scores:MixedQaResult",
    "trust_estimate": "trust.estimate:TrustEstimate",
    "distractor_set": "agents.trustscore.records:DistractorSet",
    "trust_report": "agents.trustscore.records:TrustReport",
    "trust_run": "agents.trustscore.records:TrustRun",
    "long_form_trust_report": "agents.trustscore.records:LongFormTrustReport",
}
"""The module and class of each published record, imported on demand because some need extras."""


def json_schema(name: str) -> dict[str, Any]:
    """Returns the JSON Schema of a published record. Raises KeyError if the name is unknown."""
    module, record = PUBLISHED[name].split(":")
    kind = getattr(import_module(f"factloop.{module}"), record)
    made = TypeAdapter(kind).json_schema(mode="serialization")
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **made}


if __name__ == "__main__":
    asked = sys.argv[1:]
    sys.stdout.write(json.dumps(json_schema(asked[0]), indent=2) if asked else "\n".join(PUBLISHED))
    sys.stdout.write("\n")
