"""Words that several entries have in common."""

from __future__ import annotations

from collections.abc import Iterable

from factloop.evaluation.datasets.benchmark import benchmark_dataset

VERIFIERS = "the evaluator of each column: gpt-4-turbo and gpt-3.5-turbo (a key), or open weights"
JOIN = "factloop data join CLAIMS --upstream KIND=PATH --out JOINED"
"""Of LLM-AggreFact: it names neither system nor response, and has the four data sets of RAGTruth as one."""
VERIFY_JOINED = f"{JOIN} && factloop verify JOINED --verifier NAME --out FILE"
PREDICTIONS = (
    "Nothing was asked of a model: give predictions of factloop verify with --results, and name the evaluators with "
    "--evaluator PAPER=OURS"
)


def verify_command(datasets: Iterable[str]) -> str:
    """The command that gives predictions with systems for these data sets of the paper."""
    parts = [benchmark_dataset(name).part for name in datasets]
    known = [part for part in parts if part is not None]
    if len(known) < len(parts):
        return VERIFY_JOINED
    part = known[0] if len(known) == 1 else "NAME:PART"
    documents = " --documents DOCUMENTS" if any(one.startswith("tofueval:") for one in known) else ""
    return f"factloop verify --dataset {part}{documents} --verifier NAME --out FILE"
