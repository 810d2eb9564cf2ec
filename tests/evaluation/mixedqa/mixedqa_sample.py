from __future__ import annotations

import random
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

from factloop.agents.trustscore.records import TrustFingerprint
from factloop.core.records import StageUsage, Usage
from factloop.evaluation.mixedqa.scores import MixedQaResult, ScoredResponse, correlate_with_labels

WHEN = datetime(2025, 3, 1, 12, 30, tzinfo=UTC)
SYSTEMS = ("flan-t5-xxl", "llama-7b", "gpt-3.5-turbo")


def fingerprint(**changes: Any) -> TrustFingerprint:
    given: dict[str, Any] = {
        "factloop_version": "0.1.0",
        "subject_model": "openai:gpt-4o-mini",
        "judge": "openai:gpt-4o",
        "corpus": "sha256:1234",
        "max_checks": 10,
        "passages": 10,
        "seed": 7,
    }
    return TrustFingerprint(**{**given, **changes})


def usage() -> Usage:
    stage = StageUsage(calls=1200, cache_hits=3, prompt_tokens=90_000, completion_tokens=2_400, cost_usd=0.015)
    return Usage(**stage.model_dump(), stages={"check": stage})


def respond(question: int, system: str, correct: int, **scores: float | None) -> ScoredResponse:
    return ScoredResponse(question_id=f"q{question}", system=system, human_correct=correct, **scores)  # type: ignore[arg-type]  # the validator narrows it


def result_of(responses: Sequence[ScoredResponse], **changes: Any) -> MixedQaResult:
    given: dict[str, Any] = {"fingerprint": fingerprint(), "usage": usage(), "created_at": WHEN, "resamples": 200}
    return correlate_with_labels(responses, **{**given, **changes})


def many_responses(n_questions: int = 60, seed: int = 1, systems: Sequence[str] = SYSTEMS) -> list[ScoredResponse]:
    """TrustBC follows the labels loosely and TrustFC closely; some are unscored. There are no probabilities."""
    rng = random.Random(seed)
    responses = []
    for question in range(n_questions):
        for system in systems:
            correct = int(rng.random() < 0.5)
            insists = int(rng.random() < (0.7 if correct else 0.4))
            documents = (1.0 if correct else 0.0) if rng.random() < 0.6 else 0.5
            scored = rng.random() < 0.9
            responses.append(
                respond(
                    question,
                    system,
                    correct,
                    trust_bc=insists if scored else None,
                    trust_fc=documents,
                    trust_ov=0.2 * insists + 0.8 * documents if scored else None,
                )
            )
    return responses


def sample_result(**changes: Any) -> MixedQaResult:
    return result_of(many_responses(), data="mixedqa.jsonl", warnings=("3 calls failed and were retried.",), **changes)
