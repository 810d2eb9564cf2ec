"""Loads LongFact: prompts that ask for long answers, 30 on each of 38 topics (Wei et al. 2024, arXiv 2403.18802,
section 2).

The published layout is a folder with one JSON Lines file per topic (`prompt` and `canary`, with the topic in the file
name). The other layout is a single file for all topics (`id`, `topic`, `prompt`).
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TypeVar

from factloop.core.files.rows import NotBlank, Row
from factloop.core.files.tables import TableItem, files_of, load_items
from factloop.evaluation.datasets.responses import MaybeDocuments

SAMPLE_SIZE = 250
"""The number of LongFact-Objects prompts in the paper's evaluation (section 6)."""
POSTAMBLE = "Give every specific detail and example that you can, and be as complete as possible."
"""The paper adds such a request to each prompt to get long answers. The wording is ours."""


class AnyPrompt(TableItem):
    topic: str | None = None
    prompt: NotBlank
    sent: NotBlank | None = None
    """The text to send to a model in place of the prompt, for example the prompt with its document."""
    documents: MaybeDocuments = None


P = TypeVar("P", bound=AnyPrompt)


def _with_topic(row: Row) -> tuple[Row]:
    """Takes the topic from the end of the file name. Ids start at 000, but lines start at 1."""
    task, mark, topic = Path(row.path).stem.partition("_")
    fields = {**row.fields, "sent": None, "documents": None}  # columns with these names may contain anything
    if "topic" not in fields and mark and task.startswith("longfact"):
        fields = {"id": f"{task}/{topic}/{row.line - 1:03}", "topic": topic, **fields}
    return (row.renamed(fields, {}),)


def load_prompts(place: str | Path) -> Iterator[AnyPrompt]:
    """Loads the prompts of LongFact, or of any file whose rows have a `prompt`.

    LongFact may be one file, or a folder with one file per topic (`longfact-objects_TOPIC.jsonl`). Other files may be
    JSON Lines, CSV or Parquet, and `-` is standard input. Raises DataError during iteration if a row is malformed.
    """
    return load_items(files_of(place, "longfact*.jsonl"), AnyPrompt, _with_topic)


def load_simpleqa(place: str | Path) -> Iterator[AnyPrompt]:
    """Loads SimpleQA Verified (Haas et al. 2025, arXiv 2509.07968): each question with its answer as the only document.

    The CSV file has the columns `original_index`, `problem`, `answer` and `topic`. Departure: in SimpleQA, a model
    grades the whole response as correct, incorrect or not attempted. Here, each claim in the response is judged against
    the question with its answer. Raises DataError during iteration if a row is malformed.
    """
    return load_items([place], AnyPrompt, _with_answer)


def _with_answer(row: Row) -> tuple[Row]:
    columns = {"id": "original_index", "prompt": "problem", "documents": "answer"}
    found = {name: row.fields.get(column) for name, column in columns.items()}
    if not str(found["documents"] or "").strip():
        raise row.error("must be set", "answer")
    found["documents"] = f"{found['prompt']}\n{found['documents']}"
    return (row.renamed({**found, "topic": row.fields.get("topic")}, columns),)


def sample_prompts(prompts: Iterable[P], n: int = SAMPLE_SIZE, *, seed: int = 0) -> list[P]:
    """Draws `n` prompts without replacement, or all if there are fewer. Duplicate prompts are dropped.

    The sample does not depend on the order of the prompts. A smaller sample is the beginning of a larger one.

    Departure: the released code shuffles the prompts in the order in which the file system lists the topics, so it is
    unknown which 250 the paper used. It may also draw a question twice, because nine are listed under two topics.
    """
    distinct: dict[str, P] = {}
    for prompt in sorted(prompts, key=lambda prompt: prompt.id):
        distinct.setdefault(prompt.prompt, prompt)
    order = list(distinct.values())
    random.Random(seed).shuffle(order)
    return order[:n]


def with_postamble(prompt: AnyPrompt) -> AnyPrompt:
    return prompt.model_copy(update={"prompt": f"{prompt.prompt.rstrip()} {POSTAMBLE}"})
