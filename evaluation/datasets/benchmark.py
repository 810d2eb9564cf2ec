"""The fourteen data sets of LLM-AggreFact as audited in "Verify with Caution", which splits RAGTruth into four.

Names and systems come from the paper's Table 2, and task groups from its section 4.1, spelled as in the registry.
`upstream` is the name in the benchmark's rows.
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
    name: str
    upstream: str
    task: str
    has_responses: bool = True
    """Whether the claims come from longer responses."""
    part: str | None = None
    """`NAME:PART` of the labelled data set that names the systems. None if factloop cannot load it."""


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
    """Finds a data set by name, ignoring case. Raises ConfigError if the name is unknown."""
    for one in BENCHMARK:
        if one.name.casefold() == name.casefold():
            return one
    raise ConfigError(f"the benchmark has no data set {name!r}; choose one of {', '.join(NAMES)}")
