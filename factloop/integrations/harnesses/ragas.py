"""A ragas metric, like those in `ragas.metrics.collections`."""

from __future__ import annotations

from math import nan
from typing import Any

from ragas.metrics.collections import BaseMetric
from ragas.metrics.result import MetricResult

from factloop.integrations.harnesses.scoring import NAME, ascore
from factloop.integrations.langchain.runnable import AnyChecker, as_check


class FactualityMetric(BaseMetric):
    """Scores `response` against `retrieved_contexts`. If no claims were scored, the score is NaN, as ragas expects."""

    def __init__(self, check: AnyChecker | None = None, name: str = NAME) -> None:
        super().__init__(name=name)
        self.check = as_check(check)

    async def ascore(
        self, response: str, user_input: str | None = None, retrieved_contexts: list[str] | None = None, **_: Any
    ) -> MetricResult:
        given = {} if retrieved_contexts is None else {self.check.keys.documents: retrieved_contexts}
        found = await ascore(self.check, response, user_input, given)
        value = nan if found.value is None else found.value
        return MetricResult(value, reason=found.comment, traces={"output": found.metadata})
