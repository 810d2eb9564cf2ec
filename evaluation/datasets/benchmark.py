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
_SUMMARISERS = ("BART", "T5", "PEGASUS")
_TOFU = ("GPT-3.5-Turbo", "Vicuna-7B", "WizardLM-7B", "WizardLM-13B", "WizardLM-30B")
_RAG = ("gpt-3.5-turbo", "gpt-4", "mistral-7b-instruct", "llama-2-7b-chat", "llama-2-13b-chat", "llama-2-70b-chat")


@dataclass(frozen=True)
class BenchmarkDataset:
    """One of the fourteen."""

    name: str
    upstream: str
    task: str
    sources: tuple[str, ...]
    """What made the claims, as the paper names them."""
    has_responses: bool
    """Whether its claims are parts of longer responses."""
    part: str | None = None
    """`NAME:PART` of the labelled data set that has its systems; None where factloop has no loader for one."""


BENCHMARK = (
    BenchmarkDataset("AggreFact-CNN", "AggreFact-CNN", SUMMARIES, _SUMMARISERS, has_responses=False),
    BenchmarkDataset("AggreFact-XSum", "AggreFact-XSum", SUMMARIES, _SUMMARISERS, has_responses=False),
    BenchmarkDataset(
        "TofuEval-MediaS", "TofuEval-MediaS", SUMMARIES, _TOFU, has_responses=True, part="tofueval:mediasum-dev"
    ),
    BenchmarkDataset(
        "TofuEval-MeetB", "TofuEval-MeetB", SUMMARIES, _TOFU, has_responses=True, part="tofueval:meetingbank-dev"
    ),
    BenchmarkDataset("RAGTruth-CNN/DM", "RAGTruth", SUMMARIES, _RAG, has_responses=True),
    BenchmarkDataset("RAGTruth-News", "RAGTruth", SUMMARIES, _RAG, has_responses=True),
    BenchmarkDataset(
        "Reveal", "Reveal", VERIFICATION, ("Flan-PaLM-540B", "text-davinci-003", "Flan-UL2-20B"), has_responses=True
    ),
    BenchmarkDataset(
        "ClaimVerify",
        "ClaimVerify",
        VERIFICATION,
        ("Bing Chat", "NeevaAI", "perplexity.ai", "YouChat"),
        has_responses=True,
    ),
    BenchmarkDataset(
        "FactCheck-GPT", "FactCheck-GPT", VERIFICATION, ("ChatGPT",), has_responses=False, part="factcheckgpt:stance"
    ),
    BenchmarkDataset("Wice", "Wice", WIKIPEDIA, ("people",), has_responses=False, part="wice:dev"),
    BenchmarkDataset(
        "ExpertQA", "ExpertQA", LONG_FORM, ("GPT4", "Bing Chat"), has_responses=True, part="expertqa:claims"
    ),
    BenchmarkDataset("Lfqa", "Lfqa", LONG_FORM, ("WebGPT", "GPT-3.5", "Alpaca-7b"), has_responses=True),
    BenchmarkDataset("RAGTruth-MARCO", "RAGTruth", LONG_FORM, _RAG, has_responses=True),
    BenchmarkDataset("RAGTruth-Yelp", "RAGTruth", DATA_TO_TEXT, _RAG, has_responses=True),
)
"""In the order of Table 2."""
NAMES = tuple(one.name for one in BENCHMARK)


def benchmark_dataset(name: str) -> BenchmarkDataset:
    """The data set of this name, in any case. Raises ConfigError."""
    for one in BENCHMARK:
        if one.name.casefold() == name.casefold():
            return one
    raise ConfigError(f"the benchmark has no data set {name!r}; it has {', '.join(NAMES)}")
