from __future__ import annotations

from typing import Any

from deepeval.metrics import BaseMetric
from deepeval.test_case import LLMTestCase

from factloop.core.sync import run_blocking
from factloop.integrations.harnesses.scoring import NAME, ascore
from factloop.integrations.langchain.runnable import AnyChecker, as_check


class FactualityMetric(BaseMetric):
    """Scores `actual_output` against `retrieval_context`. A test case passes if the score reaches the threshold and no
    claims are unscored. If no claims were scored, the metric has an `error` and no score."""

    def __init__(self, check: AnyChecker | None = None, threshold: float = 1.0) -> None:
        self.check, self.threshold = as_check(check), threshold  # DeepEval uses these names to copy a metric

    def measure(self, test_case: LLMTestCase, *args: Any, **kwargs: Any) -> float | None:
        return run_blocking(self.a_measure(test_case, *args, **kwargs))

    async def a_measure(self, test_case: LLMTestCase, *args: Any, **kwargs: Any) -> float | None:  # noqa: ARG002
        context = test_case.retrieval_context
        texts = None if context is None else [getattr(one, "context", one) for one in context]
        given = {} if texts is None else {self.check.keys.documents: texts}
        found = await ascore(self.check, test_case.actual_output, test_case.input, given)
        self.score, self.reason, self.success = found.value, found.comment, found.passes(self.threshold)
        self.score_breakdown = found.metadata
        self.error = f"no claims were scored: {found.comment}" if found.value is None else None
        return self.score

    def is_successful(self) -> bool:
        return bool(self.success) and self.error is None

    @property
    def __name__(self) -> str:
        return NAME
