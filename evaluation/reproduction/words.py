"""Words that several entries have in common."""

from __future__ import annotations

VERIFIERS = "the evaluator of each column: gpt-4-turbo and gpt-3.5-turbo (a key), or open weights"
VERIFY = "factloop verify --dataset NAME:PART --verifier NAME --out FILE"
PREDICTIONS = (
    "Nothing was asked of a model: give predictions of factloop verify with --results, and name the evaluators with "
    "--evaluator PAPER=OURS"
)
