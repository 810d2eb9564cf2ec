"""The published JSON Schemas of what factloop writes. `python -m factloop.schemas` writes them anew."""

from __future__ import annotations

import json
from pathlib import Path

from pydantic import TypeAdapter

from factloop.agents.trustscore.records import DistractorSet, LongFormTrustReport, TrustReport, TrustRun
from factloop.checking.cascade.records import CascadeFile
from factloop.checking.estimate import Estimate
from factloop.cli.data import DataGot, DataListing
from factloop.cli.prompts import PromptListing, ShownPrompt, StartedVariant
from factloop.core.events import Event
from factloop.core.records import FactualityReport
from factloop.correction.records import Correction
from factloop.doctor.records import Diagnosis
from factloop.evaluation.audit.report import AuditReport
from factloop.evaluation.audit.rows import PredictionRow
from factloop.evaluation.comparing.records import Comparison
from factloop.evaluation.datasets.joining import JoinReport
from factloop.evaluation.experiments.estimate import ExperimentEstimate
from factloop.evaluation.experiments.report import ExperimentReport
from factloop.evaluation.generation.records import (
    GeneratedPrompt,
    GeneratedResponse,
    GenerationEstimate,
    PromptsReport,
    ResponsesReport,
)
from factloop.evaluation.labels.adjudication import Adjudication
from factloop.evaluation.labels.disagreements import DisagreementKey
from factloop.evaluation.labels.people import PeopleAgreement
from factloop.evaluation.mixedqa.annotators import AnnotatorAgreement
from factloop.evaluation.mixedqa.building.records import BuildReport, BuiltQuestion
from factloop.evaluation.mixedqa.scores import MixedQaResult
from factloop.evaluation.reproduction.records import EntryList, Reproduction
from factloop.evaluation.runs.records import JudgedResponse, RunSummary
from factloop.evaluation.verification.records import Prediction, VerifyRun
from factloop.guarding.records import GuardEvent
from factloop.prompts.difference import PromptsDifference
from factloop.prompts.lint import LintReport
from factloop.reports.labels import AnswerFile, LabelFile
from factloop.setup.caching.clearing import CacheCleared
from factloop.setup.caching.status import CacheStatus
from factloop.trust.estimate import TrustEstimate

FOLDER = Path(__file__).parent

_PUBLISHED: dict[str, TypeAdapter[object]] = {
    "factuality_report": TypeAdapter(FactualityReport),
    "event": TypeAdapter(Event),
    "estimate": TypeAdapter(Estimate),
    "correction": TypeAdapter(Correction),
    "guard_event": TypeAdapter(GuardEvent),
    "cascade": TypeAdapter(CascadeFile),
    "run_summary": TypeAdapter(RunSummary),
    "judged_response": TypeAdapter(JudgedResponse),
    "comparison": TypeAdapter(Comparison),
    "audit_report": TypeAdapter(AuditReport),
    "audit_row": TypeAdapter(PredictionRow),
    "labels": TypeAdapter(LabelFile),
    "answers": TypeAdapter(AnswerFile),
    "people_agreement": TypeAdapter(PeopleAgreement),
    "adjudication": TypeAdapter(Adjudication),
    "disagreement_key": TypeAdapter(DisagreementKey),
    "experiment_report": TypeAdapter(ExperimentReport),
    "experiment_estimate": TypeAdapter(ExperimentEstimate),
    "prediction": TypeAdapter(Prediction),
    "verify_run": TypeAdapter(VerifyRun),
    "generated_response": TypeAdapter(GeneratedResponse),
    "generated_prompt": TypeAdapter(GeneratedPrompt),
    "responses_report": TypeAdapter(ResponsesReport),
    "prompts_report": TypeAdapter(PromptsReport),
    "generation_estimate": TypeAdapter(GenerationEstimate),
    "join_report": TypeAdapter(JoinReport),
    "reproduction": TypeAdapter(Reproduction),
    "reproduction_list": TypeAdapter(EntryList),
    "cache_status": TypeAdapter(CacheStatus),
    "cache_cleared": TypeAdapter(CacheCleared),
    "diagnosis": TypeAdapter(Diagnosis),
    "data_listing": TypeAdapter(DataListing),
    "data_got": TypeAdapter(DataGot),
    "prompt_listing": TypeAdapter(PromptListing),
    "shown_prompt": TypeAdapter(ShownPrompt),
    "started_variant": TypeAdapter(StartedVariant),
    "prompts_difference": TypeAdapter(PromptsDifference),
    "lint_report": TypeAdapter(LintReport),
    "annotator_agreement": TypeAdapter(AnnotatorAgreement),
    "mixedqa_build": TypeAdapter(BuildReport),
    "mixedqa_question": TypeAdapter(BuiltQuestion),
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
