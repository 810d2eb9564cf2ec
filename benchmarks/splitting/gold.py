"""Sentences and the facts that people made of them: FActScore, Factcheck-GPT, and texts written for this benchmark."""

from __future__ import annotations

import json
import random
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

Row = dict[str, Any]

TEXTS = Path(__file__).with_name("texts.json")
"""Short answers on many topics and the facts of their sentences, written before anything was measured on them."""

LINES = Path(__file__).with_name("lines.json")
"""Short lines of our own: half of them talk, advice, opinions and headings, half statements that look like such."""

N_SENTENCES = 750
"""Sentences drawn from each half of FActScore."""


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence where it stands, and what people say that it states."""

    text: str
    facts: tuple[str, ...]
    before: tuple[str, ...]
    """The sentences of the text before it."""
    prompt: str | None
    is_resolved: bool
    """Whether the facts name what the sentence refers to: FActScore's say *he* where the sentence does."""


def read_rows(folder: Path, name: str) -> list[Row]:
    with (folder / f"{name}.jsonl").open(encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


def factscore(folder: Path) -> dict[str, list[Sentence]]:
    """Two halves, parted by the person that a text is about; sentences without facts are left out."""
    halves: dict[str, list[Sentence]] = {"FActScore, development": [], "FActScore, held out": []}
    for row in read_rows(folder, "factscore_bio"):
        half = "FActScore, held out" if sha256(row["topic"].encode()).digest()[0] % 2 else "FActScore, development"
        for one in row["sentences"] or []:
            facts = tuple(fact["text"] for fact in one["atomic_facts"] or [])
            if facts:
                halves[half].append(Sentence(one["text"], facts, (), row["prompt"], is_resolved=False))
    return {half: random.Random(0).sample(found, N_SENTENCES) for half, found in halves.items()}


def factcheckgpt(folder: Path) -> list[Sentence]:
    """Every sentence; those that people found nothing to check in have no fact."""
    before: dict[str, tuple[str, ...]] = {}
    found = []
    for row in read_rows(folder, "factcheckgpt_dev_decomposition"):
        earlier = before.get(row["doc_id"], ())
        before[row["doc_id"]] = (*earlier, row["sentence"])
        found.append(Sentence(row["sentence"], tuple(row["claims"]), earlier, row["prompt"], is_resolved=True))
    return found


def own_texts() -> list[Sentence]:
    """The sentences of `TEXTS`."""
    return [sentence for text in json.loads(TEXTS.read_text(encoding="utf-8")) for sentence in _own_sentences(text)]


def _own_sentences(text: Row) -> list[Sentence]:
    texts = tuple(one["text"] for one in text["sentences"])
    return [
        Sentence(one["text"], tuple(one["facts"]), texts[:place], text["prompt"], is_resolved=True)
        for place, one in enumerate(text["sentences"])
    ]


def own_lines() -> list[Sentence]:
    """The lines of `LINES`; one that states something is its own fact."""
    return [
        Sentence(row["text"], (row["text"],) * row["states"], (), None, is_resolved=False)
        for row in json.loads(LINES.read_text(encoding="utf-8"))
    ]


HELD = Path(__file__).with_name("held.json")
"""Sentences of our own whose parts hold only under a condition, or are the words of another person."""


def held_together() -> list[tuple[str, str]]:
    """The sentences of `HELD`, each with the words that every claim made of it must keep."""
    return [(row["text"], row["under"]) for row in json.loads(HELD.read_text(encoding="utf-8"))]


def read_gold(folder: Path) -> dict[str, list[Sentence]]:
    """The sentences of every set by its name."""
    return {
        **factscore(folder),
        "Factcheck-GPT": factcheckgpt(folder),
        "own texts": own_texts(),
        "own lines": own_lines(),
    }
