from __future__ import annotations

from inspect_ai.scorer import Score, Scorer, Target, mean, scorer, stderr
from inspect_ai.solver import TaskState

from factloop.integrations.harnesses.scoring import NAME, ascore
from factloop.integrations.langchain.runnable import AnyChecker, as_check


@scorer(metrics=[mean(), stderr()], name=NAME)
def factuality(check: AnyChecker | None = None) -> Scorer:
    """Scores the completion against the documents in the sample's metadata. If no claims were scored, the sample is
    unscored. Raises ConfigError or DataError."""
    checking = as_check(check)

    async def score(state: TaskState, target: Target) -> Score:  # noqa: ARG001 - the evidence serves as the target
        found = await ascore(checking, state.output.completion, state.input_text, state.metadata)
        told = {"explanation": found.comment, "metadata": found.metadata}
        if found.value is None:
            return Score.unscored(reason="scoring_failed", **told)
        return Score(value=found.value, **told)

    return score
