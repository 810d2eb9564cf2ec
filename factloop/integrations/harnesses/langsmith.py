"""A LangSmith evaluator in the style of openevals."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import nullcontext
from typing import Any

from langsmith import tracing_context
from langsmith.utils import tracing_is_enabled

from factloop.core.sync import run_blocking
from factloop.integrations.harnesses.scoring import NAME, ascore
from factloop.integrations.langchain.runnable import AnyChecker, as_check


def factuality_evaluator(check: AnyChecker | None = None) -> Callable[..., dict[str, Any]]:
    """Returns an evaluator for `Client.evaluate` and `Client.aevaluate`.

    The answer is read from `outputs`, the question from `inputs`, and documents from either of these or from
    `reference_outputs`, each under its key in `check.keys`. If the target returns a string, use
    `Keys(response="output")`. The `score` is None if no claims were scored. Raises ConfigError or DataError.
    """
    checking = as_check(check)

    def factuality(*, outputs: Any, inputs: Any = None, reference_outputs: Any = None, **_: Any) -> dict[str, Any]:
        # LangChain's tracer would upload the check even if `upload_results` is False.
        with tracing_context(enabled=False) if tracing_is_enabled() == "local" else nullcontext():
            score = run_blocking(ascore(checking, outputs, inputs, reference_outputs))
        return {"key": NAME, "score": score.value, "comment": score.comment, "metadata": score.metadata}

    return factuality
