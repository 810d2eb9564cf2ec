"""The data sets of LLM-AggreFact as "Verify with Caution" audits them: fourteen, as RAGTruth is taken apart in four.

Names and systems are those of its Table 2, task groups those of its section 4.1 in the words of the registry.
`upstream` is the name that rows of the benchmark have, and `part` where labels with their systems are loaded from.
"""

from __future__ import annotations

from dataclasses import dataclass

from factloop.core.errors import ConfigError

SUMMARIES, VERIFICATION, WIKIPEDIA, LONG_FORM, DATA_TO_TEXT = (
    "summarization",
    "LLM response verification",
    "Wikipedia verification",
    "long-form QA",
    "Data2Text",
)


@dataclass(frozen=True)
class BenchmarkDataset:
    """One of the fourteen."""

    name: str
    upstream: str
    task: str
    has_responses: bool = True
    """Whether its claims are parts of longer responses."""
    part: str | None = None
    """`NAME:PART` of the labelled data set that has its systems; None where factloop has no loader for one."""


BENCHMARK = (
    BenchmarkDataset("AggreFact-CNN", "AggreFact-CNN", SUMMARIES, has_responses=False),
    BenchmarkDataset("AggreFact-XSum", "AggreFact-XSum", SUMMARIES, has_responses=False),
    BenchmarkDataset("TofuEval-MediaS", "TofuEval-MediaS", SUMMARIES, part="tofueval:mediasum-dev"),
    BenchmarkDataset("TofuEval-MeetB", "TofuEval-MeetB", SUMMARIES, part="tofueval:meetingbank-dev"),
    BenchmarkDataset("RAGTruth-CNN/DM", "RAGTruth", SUMMARIES),
    BenchmarkDataset("RAGTruth-News", "RAGTruth", SUMMARIES),
    BenchmarkDataset("Reveal", "Reveal", VERIFICATION),
    BenchmarkDataset("ClaimVerify", "ClaimVerify", VERIFICATION),
    BenchmarkDataset("FactCheck-GPT", "FactCheck-GPT", VERIFICATION, has_responses=False, part="factcheckgpt:stance"),
    BenchmarkDataset("Wice", "Wice", WIKIPEDIA, has_responses=False, part="wice:dev"),
    BenchmarkDataset("ExpertQA", "ExpertQA", LONG_FORM, part="expertqa:claims"),
    BenchmarkDataset("Lfqa", "Lfqa", LONG_FORM),
    BenchmarkDataset("RAGTruth-MARCO", "RAGTruth", LONG_FORM),
    BenchmarkDataset("RAGTruth-Yelp", "RAGTruth", DATA_TO_TEXT),
)
"""In the order of Table 2."""
NAMES = tuple(one.name for one in BENCHMARK)


def benchmark_dataset(name: str) -> BenchmarkDataset:
    """The data set of this name, in any case. Raises ConfigError."""
    for one in BENCHMARK:
        if one.name.casefold() == name.casefold():
            return one
    raise ConfigError(f"the benchmark has no data set {name!r}; it has {', '.join(NAMES)}")
