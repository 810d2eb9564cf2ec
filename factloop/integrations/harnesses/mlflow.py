"""An MLflow scorer, for `mlflow.genai.evaluate`."""

from __future__ import annotations

from typing import Any

from mlflow.entities import Feedback
from mlflow.genai.scorers import Scorer, scorer

from factloop.core.sync import run_blocking
from factloop.integrations.harnesses.scoring import NAME, ascore
from factloop.integrations.langchain.runnable import AnyChecker, as_check


def factuality_scorer(check: AnyChecker | None = None) -> Scorer:
    """Returns a scorer for `outputs`. Documents are read from `outputs`, `inputs` or `expectations`, under their key in
    `check.keys`. If no claims were scored, the feedback has an error and no value. Raises ConfigError or DataError."""
    checking = as_check(check)

    @scorer(name=NAME)
    def factuality(inputs: Any, outputs: Any, expectations: Any = None) -> Feedback:
        found = run_blocking(ascore(checking, outputs, inputs, expectations))
        return Feedback(
            name=NAME,
            value=found.value,
            error="no claims were scored" if found.value is None else None,
            rationale=found.comment,
            metadata={name: str(value) for name, value in found.metadata.items()},
        )

    return factuality
