"""What a checker says of an answer: its claims, and whether they hold. Each is used as its own documents show.

Run as a script in the environment of one checker, of which there is one each, for their dependencies do not agree:
`python checkers.py NAME` reads a `Task` as JSON and writes what it found, with the seconds that it took.
"""

from __future__ import annotations

import asyncio
import json
import os
import re
import sys
import tempfile
import time
from collections.abc import Callable, Coroutine, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

MODEL = "gpt-4o-mini"
"""The name in requests; which model answers is up to the server."""


@dataclass(frozen=True)
class Task:
    """An answer, and the texts it is checked by."""

    question: str
    answer: str
    documents: list[str]
    base_url: str


@dataclass(frozen=True)
class Stated:
    """A claim of a checker."""

    text: str
    holds: bool | None
    """None without a verdict."""
    within: str = ""
    """Its sentence, from a checker that marks only what does not hold."""


Checker = Callable[[Task], Coroutine[Any, Any, list[Stated]]]


async def factloop(task: Task) -> list[Stated]:
    from factloop import FactChecker
    from factloop.core.records import Verdict

    async with FactChecker(model=f"openai:{MODEL}", base_url=task.base_url, plan="grounded", cache=False) as checker:
        report = await checker.acheck(task.answer, question=task.question, documents=task.documents)
    verdicts = [(claim.self_contained, claim.judgement.verdict) for claim in report.claims]
    return [Stated(text, None if verdict is None else verdict is Verdict.SUPPORTED) for text, verdict in verdicts]


async def deepeval(task: Task) -> list[Stated]:
    from deepeval.metrics import FaithfulnessMetric
    from deepeval.models import OpenAIModel
    from deepeval.test_case import LLMTestCase

    model = OpenAIModel(model=MODEL, api_key="x", base_url=task.base_url)
    metric = FaithfulnessMetric(model=model)
    case = LLMTestCase(input=task.question, actual_output=task.answer, retrieval_context=task.documents)
    await metric.a_measure(case, _show_indicator=False)
    return [
        Stated(claim, verdict.verdict.strip().lower() != "no")  # what the context does not mention counts as faithful
        for claim, verdict in zip(metric.claims, metric.verdicts, strict=False)
    ]


async def ragas(task: Task) -> list[Stated]:
    from openai import AsyncOpenAI
    from ragas.llms import llm_factory
    from ragas.metrics.collections import Faithfulness

    metric = Faithfulness(llm=llm_factory(MODEL, client=AsyncOpenAI(base_url=task.base_url, api_key="x")))
    statements = await metric._create_statements(task.question, task.answer)  # what `ascore` does, with its parts kept
    judged = await metric._create_verdicts(statements, "\n".join(task.documents))
    return [Stated(one.statement, bool(one.verdict)) for one in judged.statements]


async def trulens(task: Task) -> list[Stated]:
    from trulens.core.feedback.feedback import GroundednessConfigs
    from trulens.providers.openai import OpenAI

    provider = OpenAI(model_engine=MODEL, api_key="x", base_url=task.base_url)
    provider._set_capabilities({"structured_outputs": False})  # else it asks by the responses API
    configs = GroundednessConfigs(use_sent_tokenize=False, filter_trivial_statements=True)
    measure = provider.groundedness_measure_with_cot_reasons
    _, found = await asyncio.to_thread(measure, "\n".join(task.documents), task.answer, groundedness_configs=configs)
    return [Stated(one["criteria"], one["score"] == 1.0) for one in found["reasons"]]


async def refchecker(task: Task) -> list[Stated]:
    from refchecker import LLMChecker, LLMExtractor

    def check() -> list[Stated]:
        told = {"model": f"openai/{MODEL}", "api_base": task.base_url}
        found = LLMExtractor(**told).extract([task.answer], batch_questions=[task.question])[0]
        triplets = [claim.content for claim in found.claims]
        labels = LLMChecker(**told).check([triplets], [task.documents], batch_questions=[task.question])[0]
        return [Stated(" ".join(one), "Entailment" in each) for one, each in zip(triplets, labels, strict=True)]

    return await asyncio.to_thread(check)


async def lettucedetect(task: Task) -> list[Stated]:
    from lettucedetect.models.inference import HallucinationDetector

    cache = str(Path(tempfile.mkdtemp()) / "cache.json")
    detector = HallucinationDetector(method="llm", model=MODEL, api_key="x", base_url=task.base_url, cache_file=cache)
    found = await asyncio.to_thread(detector.predict, task.documents, task.answer, task.question, "spans")
    sentences = list(re.finditer(r"\S.*?(?:[.!?](?=\s)|$)", task.answer, re.MULTILINE))
    within = [next(part[0] for part in reversed(sentences) if part.start() <= one["start"]) for one in found]
    return [Stated(one["text"], False, sentence) for one, sentence in zip(found, within, strict=True)]


CHECKERS: Mapping[str, tuple[str, Checker]] = {
    "factloop": ("", factloop),
    "deepeval": ("deepeval==4.3.1", deepeval),
    "ragas": ("ragas==0.4.3 langchain-community<0.4.2", ragas),
    "trulens": ("trulens-providers-openai==2.16.0", trulens),
    "refchecker": ("refchecker==0.2.17", refchecker),
    "lettucedetect": ("lettucedetect==0.2.3", lettucedetect),
}
"""Each with the distributions that it needs."""


def main() -> None:
    os.environ |= {"OPENAI_API_KEY": "x", "DEEPEVAL_TELEMETRY_OPT_OUT": "1", "RAGAS_DO_NOT_TRACK": "true"}
    os.environ |= {"TRULENS_OTEL_TRACING": "0", "LITELLM_LOCAL_MODEL_COST_MAP": "True"}
    _, check = CHECKERS[sys.argv[1]]
    task = Task(**json.load(sys.stdin))
    began = time.perf_counter()
    stated = asyncio.run(check(task))
    found = {"stated": [asdict(one) for one in stated], "seconds": time.perf_counter() - began}
    sys.stdout.write("\n" + json.dumps(found) + "\n")


if __name__ == "__main__":
    main()
