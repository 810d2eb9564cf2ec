"""factloop's score as an evaluator of pydantic-evals."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from pydantic_evals.evaluators import EvaluationReason, Evaluator, EvaluatorContext

from factloop.integrations.harnesses.scoring import NAME, ascore
from factloop.integrations.langchain.runnable import AnyChecker, as_check


@dataclass
class FactualityEvaluator(Evaluator[Any, Any, Any]):
    """Scores the output of a case; documents are in the output, the inputs or the metadata, under the check's key.

    Beside the score stand `n_scored` and `n_unscored`, numbers of claims. A case of which no claim was scored has only
    these, so that no average counts it.
    """

    check: AnyChecker | None = None

    def __post_init__(self) -> None:
        self._check = as_check(self.check)

    async def evaluate(self, ctx: EvaluatorContext[Any, Any, Any]) -> dict[str, EvaluationReason]:
        found = await ascore(self._check, ctx.output, ctx.inputs, ctx.metadata)
        figures = {NAME: found.value, **{name: found.metadata[name] for name in ("n_scored", "n_unscored")}}
        return {name: EvaluationReason(n, found.comment) for name, n in figures.items() if n is not None}

    def build_serialization_arguments(self) -> dict[str, Any]:
        return {}  # a checker is no data: reports name the evaluator alone
