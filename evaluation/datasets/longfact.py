"""LongFact: prompts that ask for long answers, 30 on each of 38 topics (Wei et al. 2024, arXiv 2403.18802, section 2).

Two layouts are read: the published one, a folder with one JSON Lines file a topic (`prompt` and `canary`, the topic in
the file's name), and one file for all (`id`, `topic`, `prompt`).
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TypeVar

from factloop.core.files.rows import NotBlank, Row
from factloop.core.files.tables import TableItem, files_of, load_items

SAMPLE_SIZE = 250
"""The number of prompts of LongFact-Objects that the paper evaluates on (section 6)."""
POSTAMBLE = "Give every specific detail and example that you can, and be as complete as possible."
"""A request for detail in our wording. The paper adds one to each prompt, so that answers are long."""


class AnyPrompt(TableItem):
    """A prompt from any file."""

    topic: str | None = None
    prompt: NotBlank


class LongFactPrompt(AnyPrompt):
    topic: NotBlank


P = TypeVar("P", bound=AnyPrompt)


def load_longfact(place: str | Path) -> Iterator[LongFactPrompt]:
    """The prompts of one file, or of a folder with one file a topic (`longfact-objects_TOPIC.jsonl`).

    Raises DataError, when it gets there, for a malformed row.
    """
    return load_items(files_of(place, "longfact*.jsonl"), LongFactPrompt, _with_topic)


def _with_topic(row: Row) -> tuple[Row]:
    """The row with its topic: the end of the file's name. The id counts from 000, where lines count from 1."""
    task, mark, topic = Path(row.path).stem.partition("_")
    if "topic" in row.fields or not mark:
        return (row,)
    named = {"id": f"{task}/{topic}/{row.line - 1:03}", "topic": topic, **row.fields}
    return (row.renamed(named, {}),)


def load_prompts(place: str | Path) -> Iterator[AnyPrompt]:
    """LongFact's prompts, or those of any file with a `prompt` in each row (JSON Lines, CSV, Parquet; `-` is stdin).

    Raises DataError, when it gets there, for a malformed row.
    """
    return load_items(files_of(place, "longfact*.jsonl"), AnyPrompt, _with_topic_of_longfact)


def _with_topic_of_longfact(row: Row) -> tuple[Row]:
    """The row with its topic, if the file is LongFact's: the name of another file says nothing of its rows."""
    return _with_topic(row) if Path(row.path).name.startswith("longfact") else (row,)


def sample_prompts(prompts: Iterable[P], n: int = SAMPLE_SIZE, *, seed: int = 0) -> list[P]:
    """`n` prompts drawn without replacement, all of them where there are no more; the first of two equal ones is kept.

    The same prompts give the same sample in any order, and the sample of 100 begins the sample of 250.

    Departure from the released code: it shuffles the prompts in the order in which the file system lists the topics,
    so which 250 the paper used cannot be known; and it may draw a question twice, as nine stand under two topics.
    """
    distinct: dict[str, P] = {}
    for prompt in sorted(prompts, key=lambda prompt: prompt.id):
        distinct.setdefault(prompt.prompt, prompt)
    order = list(distinct.values())
    random.Random(seed).shuffle(order)
    return order[:n]


def with_postamble(prompt: str) -> str:
    """The prompt with the request for detail after it, as the models under test are asked."""
    return f"{prompt.rstrip()} {POSTAMBLE}"
