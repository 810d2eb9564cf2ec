"""The score in other evaluation harnesses: each runs an answer that is half right, and one that cannot be judged.

Harnesses that are not installed are skipped; `make test-real` has an environment with all of them.
"""

from __future__ import annotations

import asyncio
import math
import os
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
import requests
from langsmith import Client, evaluate
from langsmith.schemas import Example

from factloop import UnscoredReason
from factloop.core.errors import ConfigError, DataError, FactloopError
from factloop.integrations.harnesses.langsmith import factuality_evaluator
from factloop.integrations.harnesses.promptfoo import factuality_assert
from factloop.integrations.harnesses.scoring import Score, ascore
from factloop.integrations.langchain import FactCheckRunnable, Keys
from factloop.reports.claims import REASON_WORDS
from tests.integrations.ada import ANSWER, PASSAGE, QUESTION, TRUE, WRONG, offline

pytestmark = pytest.mark.filterwarnings("default")  # of the harnesses, which warn of what they import
os.environ |= {"DEEPEVAL_TELEMETRY_OPT_OUT": "1", "MLFLOW_DISABLE_TELEMETRY": "1", "RAGAS_DO_NOT_TRACK": "true"}


@dataclass(frozen=True)
class Told:
    score: float | None
    comment: str
    figures: dict[str, Any] = field(default_factory=dict)
    passed: bool | None = None


Harness = Callable[[FactCheckRunnable, list[str], Path], Told]


def in_inspect_ai(check: FactCheckRunnable, documents: list[str], folder: Path) -> Told:
    pytest.importorskip("inspect_ai")
    from inspect_ai import Task, eval
    from inspect_ai.dataset import Sample
    from inspect_ai.model import ModelOutput
    from inspect_ai.solver import Generate, Solver, TaskState, solver

    from factloop.integrations.harnesses.inspect_ai import factuality

    @solver
    def application() -> Solver:
        async def solve(state: TaskState, generate: Generate) -> TaskState:  # noqa: ARG001
            state.output = ModelOutput.from_content("application", ANSWER)
            return state

        return solve

    task = Task([Sample(QUESTION, metadata={"documents": documents})], solver=application(), scorer=factuality(check))
    (log,) = eval(task, model="mockllm/model", log_dir=str(folder), display="none")
    assert log.status == "success", log.error
    score = log.samples[0].scores["factuality"]
    assert math.isnan(score.value) == (score.reason == "scoring_failed")
    mean = log.results.scores[0].metrics["mean"].value
    assert math.isnan(score.value) or mean == score.value
    return Told(None if math.isnan(score.value) else score.value, score.explanation, score.metadata)


def in_langsmith(check: FactCheckRunnable, documents: list[str], folder: Path) -> Told:  # noqa: ARG001
    sent: list[Any] = []

    class Wire(requests.Session):
        def request(self, *args: Any, **kwargs: Any) -> Any:  # noqa: ARG002 - the base class has them
            sent.append(args)
            raise requests.ConnectionError

    ran = evaluate(
        lambda inputs: {"response": ANSWER},  # noqa: ARG005
        data=[Example(id=uuid4(), inputs={"question": QUESTION, "documents": documents})],
        evaluators=[factuality_evaluator(check)],
        client=Client(api_key="none", auto_batch_tracing=False, session=Wire()),
        upload_results=False,
    )
    ((result,),) = [row["evaluation_results"]["results"] for row in ran]
    assert result.key == "factuality"
    assert sent == [], "the evaluation stays on this machine, and so does the check"
    return Told(result.score, str(result.comment), dict(result.metadata or {}))


def in_deepeval(check: FactCheckRunnable, documents: list[str], folder: Path) -> Told:  # noqa: ARG001
    pytest.importorskip("deepeval")
    from deepeval import evaluate
    from deepeval.evaluate import CacheConfig, DisplayConfig
    from deepeval.test_case import LLMTestCase

    from factloop.integrations.harnesses.deepeval import FactualityMetric

    case = LLMTestCase(input=QUESTION, actual_output=ANSWER, retrieval_context=documents)
    metric = FactualityMetric(check)
    ran = evaluate(
        [case],
        [metric],
        display_config=DisplayConfig(show_indicator=False, print_results=False),
        cache_config=CacheConfig(write_cache=False),
    )
    (data,) = ran.test_results[0].metrics_data
    assert data.name == "factuality"
    assert metric.measure(case) == data.score
    return Told(data.score, data.reason or data.error, metric.score_breakdown, data.success)


def in_ragas(check: FactCheckRunnable, documents: list[str], folder: Path) -> Told:  # noqa: ARG001
    pytest.importorskip("ragas")
    from factloop.integrations.harnesses.ragas import FactualityMetric

    metric = FactualityMetric(check)
    (result,) = metric.batch_score([{"user_input": QUESTION, "response": ANSWER, "retrieved_contexts": documents}])
    value = result.value
    return Told(None if math.isnan(value) else value, result.reason, result.traces["output"])


def in_pydantic_evals(check: FactCheckRunnable, documents: list[str], folder: Path) -> Told:  # noqa: ARG001
    from pydantic_evals import Case, Dataset

    from factloop.integrations.harnesses.pydantic_evals import FactualityEvaluator

    case = Case(name="ada", inputs={"question": QUESTION, "documents": documents})
    dataset = Dataset(name="ada", cases=[case], evaluators=[FactualityEvaluator(check)])
    ran = asyncio.run(dataset.evaluate(lambda inputs: ANSWER, progress=False))  # noqa: ARG005
    (one,) = ran.cases
    assert not one.evaluator_failures
    scores = {name: score.value for name, score in one.scores.items()}
    return Told(scores.get("factuality"), one.scores["n_unscored"].reason or "", scores)


def in_mlflow(check: FactCheckRunnable, documents: list[str], folder: Path) -> Told:
    pytest.importorskip("mlflow.genai")
    import mlflow

    from factloop.integrations.harnesses.mlflow import factuality_scorer

    mlflow.set_tracking_uri(f"sqlite:///{folder}/mlflow.db")
    data = [{"inputs": {"question": QUESTION, "documents": documents}, "outputs": ANSWER}]
    ran = mlflow.genai.evaluate(data=data, scorers=[factuality_scorer(check)])
    (row,) = ran.result_df.to_dict("records")
    (one,) = [each for each in row["assessments"] if each["assessment_name"] == "factuality"]
    value = one.get("feedback", {}).get("value")
    figures = {name: int(count) for name, count in one["metadata"].items() if name.startswith("n_")}
    return Told(value, one["rationale"], figures)


def in_promptfoo(check: FactCheckRunnable, documents: list[str], folder: Path) -> Told:  # noqa: ARG001
    context = {"prompt": QUESTION, "vars": {"question": QUESTION}, "config": {"documents": documents}, "metadata": None}
    try:
        result = factuality_assert(check)(ANSWER, context)
    except FactloopError as error:  # which promptfoo shows
        return Told(None, str(error), {"n_scored": 0, "n_unscored": 2}, False)
    assert [part["pass"] for part in result["componentResults"]] == [True, False]
    assert [part["score"] for part in result["componentResults"]] == [1.0, 0.0]
    return Told(result["score"], result["reason"], result["namedScores"], result["pass"])


HARNESSES = [
    in_inspect_ai, in_langsmith, in_deepeval, in_ragas, in_pydantic_evals, in_mlflow, in_promptfoo,
]  # fmt: skip


@pytest.fixture(autouse=True)
def _in_a_folder_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Harnesses save their results in the working directory."""
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize("run", HARNESSES)
def test_the_score_is_the_precision_and_the_comment_names_what_fails(run: Harness, tmp_path: Path) -> None:
    told = run(offline(), [PASSAGE], tmp_path)
    assert told.score == 0.5
    assert told.passed in (None, False)
    assert f"contradicted: {WRONG}" in told.comment
    assert PASSAGE in told.comment
    assert TRUE not in told.comment.replace(PASSAGE, "")
    assert (told.figures["n_scored"], told.figures["n_unscored"]) == (2, 0)


@pytest.mark.parametrize("run", HARNESSES)
def test_what_nobody_could_judge_has_no_score(run: Harness, tmp_path: Path) -> None:
    """The search finds nothing, so the claims are unscored, not false."""
    told = run(offline(), [], tmp_path)
    assert told.score is None
    assert told.passed in (None, False)
    assert f"unscored: {REASON_WORDS[UnscoredReason.NO_SOURCE]}: {TRUE}" in told.comment
    assert (told.figures["n_scored"], told.figures["n_unscored"]) == (0, 2)


async def test_records_are_read_by_the_keys_of_the_check() -> None:
    @dataclass(frozen=True)
    class Case:
        input: str
        context: list[str]

    check = offline(keys=Keys(response="output", question="input", documents="context"))
    score = await ascore(check, {"output": ANSWER}, Case(QUESTION, [PASSAGE]), {"context": ["Bees make honey."]})
    assert (score.value, score.report.prompt) == (0.5, QUESTION)
    with pytest.raises(DataError, match="output"):
        await ascore(check, {"answer": ANSWER}, Case(QUESTION, [PASSAGE]))
    with pytest.raises(ConfigError, match="'context'"):
        await ascore(check, ANSWER, QUESTION)


async def test_an_answer_passes_where_all_of_it_was_scored() -> None:
    score = await ascore(offline(), TRUE, QUESTION, {"documents": [PASSAGE]})
    assert score.passes(1.0)
    counts = score.report.counts.model_copy(update={"unscored": 1})
    assert not Score(score.report.model_copy(update={"counts": counts})).passes(0.0)
