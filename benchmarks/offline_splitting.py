"""Prints how the offline linguistics do on labelled data: `python benchmarks/offline_splitting.py [DATA_FOLDER]`.

The folder (or FACTLOOP_DATA, default ../shared/data) holds factcheckgpt_dev_*.jsonl and factscore_bio.jsonl. The rules
were written without fitting to any one of them; the figures say where they stand.
"""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from factloop.tools.linguistics.claims import split_claims
from factloop.tools.linguistics.discourse import context_at, topic_of
from factloop.tools.linguistics.queries import search_query
from factloop.tools.linguistics.references import is_ambiguous, resolve_references
from factloop.tools.linguistics.relevance import is_relevant
from factloop.tools.linguistics.sentences import split_sentences
from factloop.tools.linguistics.words import content_words
from tests.simulator.building import build_world

Row = dict[str, Any]
_MEGABYTE = 1_000_000


def read_rows(folder: Path, name: str) -> list[Row]:
    with (folder / f"{name}.jsonl").open(encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


def coverage(gold: Sequence[str], pred: Sequence[str]) -> float:
    """Share of the gold facts' content words that the predicted claims hold; higher is better."""
    wanted = {word for fact in gold for word in content_words(fact)}
    found = {word for claim in pred for word in content_words(claim)}
    return len(wanted & found) / len(wanted) if wanted else 1.0


def matched(gold: Sequence[str], pred: Sequence[str]) -> float:
    """Share of gold facts for which some claim has a Jaccard overlap of content words of at least one half."""

    def overlap(one: str, other: str) -> float:
        left, right = set(content_words(one)), set(content_words(other))
        return len(left & right) / len(left | right) if left | right else 0.0

    return sum(max((overlap(fact, claim) for claim in pred), default=0.0) >= 0.5 for fact in gold) / len(gold)


def decomposition(pairs: Iterable[tuple[str, Sequence[str]]]) -> dict[str, float]:
    """Facts a sentence in gold and pred, and coverage, over (sentence, gold facts) with at least one gold fact."""
    scored = [(gold, split_claims(sentence)) for sentence, gold in pairs if gold]
    n = len(scored)
    return {
        "sentences": n,
        "gold facts a sentence": sum(len(gold) for gold, _ in scored) / n,
        "claims a sentence": sum(len(pred) for _, pred in scored) / n,
        "content words covered": sum(coverage(gold, pred) for gold, pred in scored) / n,
        "gold facts matched": sum(matched(gold, pred) for gold, pred in scored) / n,
        "sentences without claims": sum(not pred for _, pred in scored),
    }


def checkworthiness(rows: Sequence[Row]) -> dict[str, float]:
    """Sentences labelled `yes` must yield claims; the others should not."""
    worth = [bool(split_claims(row["sentence_in_response"])) for row in rows if row["label"] == "yes"]
    other = [bool(split_claims(row["sentence_in_response"])) for row in rows if row["label"] != "yes"]
    return {
        "sentences": len(rows),
        "kept of check-worthy (TPR)": sum(worth) / len(worth),
        "dropped of the rest (TNR)": 1 - sum(other) / len(other),
    }


def references(rows: Sequence[Row]) -> dict[str, float]:
    """Sentences that open with a pronoun: how many are resolved, and how many of those as the annotators did."""
    opened = right = resolved = ambiguous = 0
    before: dict[str, str] = {}
    for row in rows:
        sentence, context = row["sentence"], before.get(row["doc_id"], "")
        before[row["doc_id"]] = f"{context}{sentence} "
        if sentence.split()[0].lower() not in {"he", "she", "it", "they", "his", "her", "its", "their"}:
            continue
        opened += 1
        here = context_at(f"{context}{sentence}", len(context), row["prompt"])
        result = resolve_references(sentence, here)
        ambiguous += is_ambiguous(sentence, here)
        if result != sentence:
            resolved += 1
            added = set(content_words(result)) - set(content_words(sentence))
            right += added <= set(content_words(row["decontextualised"]))
    return {"open with a pronoun": opened, "resolved": resolved, "as annotated": right, "called ambiguous": ambiguous}


def relevance_of_facts(rows: Sequence[Row]) -> dict[str, float]:
    """Share of the annotated facts called irrelevant: of those labelled supported none should be."""
    flagged: dict[str, list[bool]] = {}
    for row in rows:
        for fact in (fact for sentence in row["sentences"] or [] for fact in sentence["atomic_facts"] or []):
            relevant = is_relevant(fact["text"], prompt=row["prompt"], response=row["response"])
            flagged.setdefault(fact["label"], []).append(not relevant)
    return {f"called irrelevant of {label}": sum(called) / len(called) for label, called in sorted(flagged.items())}


def relevance_of_digressions() -> dict[str, float]:
    """The simulator's responses, in which some facts are about entities that have nothing to do with the question."""
    pairs = [
        (fact.label == "irrelevant", not is_relevant(fact.self_contained, prompt=asked.prompt, response=asked.text))
        for asked in build_world().responses
        for fact in asked.facts
    ]
    right = sum(gold and pred for gold, pred in pairs)
    return {
        "facts": len(pairs),
        "precision of irrelevant": right / max(1, sum(pred for _, pred in pairs)),
        "recall of irrelevant": right / sum(gold for gold, _ in pairs),
    }


def read_responses(responses: Sequence[tuple[str, str]]) -> int:
    """All of the linguistics over (prompt, response) pairs; returns the number of sentences."""
    n_sentences = 0
    for prompt, response in responses:
        for sentence in split_sentences(response):
            n_sentences += 1
            context = context_at(response, sentence.start, prompt)
            for fact in split_claims(sentence.text):
                claim = resolve_references(fact, context)
                is_ambiguous(fact, context)
                is_relevant(claim, prompt=prompt, response=response)
                search_query(claim, topic_of(context))
    return n_sentences


def speed(responses: Sequence[tuple[str, str]]) -> dict[str, float]:
    """Milliseconds of CPU a sentence for all of the linguistics, and CPU seconds for a megabyte on one line."""
    started = time.process_time()
    n_sentences = read_responses(responses)
    per_sentence = (time.process_time() - started) / n_sentences * 1000
    text = " ".join(response for _, response in responses)
    line = (text * (_MEGABYTE // len(text) + 1))[:_MEGABYTE].replace("\n", " ")
    return {
        "sentences": n_sentences,
        "CPU ms a sentence": per_sentence,
        "CPU s a megabyte on one line": seconds(lambda: read_responses([(responses[0][0], line)])),
    }


def seconds(call: Callable[[], object]) -> float:
    started = time.process_time()
    call()
    return time.process_time() - started


def main() -> None:
    folder = Path(sys.argv[1] if len(sys.argv) > 1 else os.environ.get("FACTLOOP_DATA", "../shared/data"))
    checked = read_rows(folder, "factcheckgpt_dev_decomposition")
    worth = read_rows(folder, "factcheckgpt_dev_sentence_checkworthiness")
    rows = read_rows(folder, "factscore_bio")
    bios = [
        (sentence["text"], [fact["text"] for fact in sentence["atomic_facts"] or []])
        for row in rows
        for sentence in row["sentences"] or []
    ]
    responses = [(row["prompt"], row["response"]) for row in rows if row["sentences"]]
    table = Table("data", "figure", "value", title="Offline linguistics")
    parts = {
        "Factcheck-GPT decomposition": decomposition((row["sentence"], row["claims"]) for row in checked),
        "FActScore biographies": decomposition(bios),
        "Factcheck-GPT check-worthiness": checkworthiness(worth),
        "Factcheck-GPT references": references(checked),
        "FActScore relevance": relevance_of_facts(rows),
        "Simulator relevance": relevance_of_digressions(),
        "speed": speed(responses),
    }
    for data, figures in parts.items():
        for figure, value in figures.items():
            table.add_row(data, figure, f"{value:.3f}" if isinstance(value, float) else str(value))
    Console().print(table)


if __name__ == "__main__":
    main()
