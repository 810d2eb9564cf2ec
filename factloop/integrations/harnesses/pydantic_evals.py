from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from pydantic_evals.evaluators import EvaluationReason, Evaluator, EvaluatorContext

from factloop.integrations.harnesses.scoring import NAME, ascore
from factloop.integrations.langchain.runnable import AnyChecker, as_check


@dataclass
class FactualityEvaluator(Evaluator[Any, Any, Any]):
    """Scores a case's output. Documents are read from the output, inputs or metadata, under their key in `check.keys`.

    Also reports how many claims are scored (`n_scored`) and unscored (`n_unscored`). If no claims were scored, these
    are the only values, so averages leave the case out.
    """

    check: AnyChecker | None = None

    def __post_init__(self) -> None:
        self._check = as_check(self.check)

    async def evaluate(self, ctx: EvaluatorContext[Any, Any, Any]) -> dict[str, EvaluationReason]:
        found = await ascore(self._check, ctx.output, ctx.inputs, ctx.metadata)
        figures = {NAME: found.value, **{name: found.metadata[name] for name in ("n_scored", "n_unscored")}}
        return {name: EvaluationReason(n, found.comment) for name, n in figures.items() if n is not None}

    def build_serialization_arguments(self) -> dict[str, Any]:
        return {}  # a checker cannot be serialized, so reports show only the evaluator's name
