"""Prints how the offline rules do on labelled data.

    python -m benchmarks.offline_splitting                           # every figure
    python -m benchmarks.offline_splitting --without "verb phrases"  # the same without a family of rules
    python -m benchmarks.offline_splitting --families                # what each family brings (two minutes)
    python -m benchmarks.offline_splitting --spacy-model FOLDER      # how the parse of a spaCy pipeline splits

The folder (a last argument, or FACTLOOP_DATA, default ../shared/data) holds factcheckgpt_dev_*.jsonl and
factscore_bio.jsonl. Texts and lines of our own lie in `benchmarks/splitting`. Of FActScore one half (by the person
that a text is about) was looked at while rules were taken out or changed, the other was not.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
from rich.console import Console
from rich.table import Table

from benchmarks.splitting.families import Splitter, Worth, n_lines, scores_by_set, worth_by_set
from benchmarks.splitting.gold import Row, Sentence, held_together, read_gold, read_rows
from benchmarks.splitting.matching import is_self_contained, joints
from factloop.tools.linguistics.claims import split_claims
from factloop.tools.linguistics.discourse import context_at, topic_of
from factloop.tools.linguistics.pipeline import load_pipeline
from factloop.tools.linguistics.queries import search_query
from factloop.tools.linguistics.references import is_ambiguous, resolve_references
from factloop.tools.linguistics.relevance import is_relevant
from factloop.tools.linguistics.sentences import split_sentences
from factloop.tools.linguistics.words import content_words
from tests.simulator.building import build_world

Figures = Mapping[str, float]
_MEGABYTE = 1_000_000
_BEGINNING = 30
"""Characters by which a sentence is found in its response: later ones may hold a citation that was cut."""


def coverage(gold: Sequence[str], pred: Sequence[str]) -> float:
    """Share of the gold facts' content words that the predicted claims hold; higher is better."""
    wanted = {word for fact in gold for word in content_words(fact)}
    found = {word for claim in pred for word in content_words(claim)}
    return len(wanted & found) / len(wanted) if wanted else 1.0


def agreement(splitter: Splitter, sentences: Sequence[Sentence]) -> Figures:
    """Claims against facts, one to one: means over the sentences."""
    claims = [splitter.claims(sentence) for sentence in sentences]
    matches = splitter.matches(sentences)
    n, n_claims = len(sentences), sum(map(len, claims))
    n_facts = sum(len(sentence.facts) for sentence in sentences)
    return {
        "sentences": n,
        "facts a sentence": n_facts / n,
        "claims a sentence": n_claims / n,
        "precision": sum(found.precision for found in matches) / n,
        "recall": sum(found.recall for found in matches) / n,
        "F1": sum(found.f1 for found in matches) / n,
        "content words covered": sum(coverage(one.facts, pred) for one, pred in zip(sentences, claims, strict=True))
        / n,
        "facts without a pronoun": sum(is_self_contained(fact) for one in sentences for fact in one.facts) / n_facts,
        "claims without a pronoun": sum(is_self_contained(claim) for pred in claims for claim in pred) / n_claims,
    }


def splits_at_joints(splitter: Splitter, sentences: Sequence[Sentence]) -> Figures:
    """Over-splitting: share split of the joints that people leave; under-splitting: share left of those they split."""
    counts: Counter[tuple[str, bool, bool]] = Counter()
    for sentence in sentences:
        if sentence.facts:
            counts.update(joints(sentence.text, splitter.claims(sentence), sentence.facts))
    figures: dict[str, float] = {}
    for kind in dict.fromkeys(kind for kind, _, _ in counts):
        left, split = counts[kind, True, False], counts[kind, True, True]
        n_left, n_split = left + counts[kind, False, False], split + counts[kind, False, True]
        figures[f"{kind}: split by people"] = n_split
        figures[f"{kind}: left by people"] = n_left
        if n_split:
            figures[f"{kind}: under-split"] = 1 - split / n_split
        if n_left:
            figures[f"{kind}: over-split"] = left / n_left
    return figures


def lost_conditions(splitter: Splitter) -> Figures:
    """Sentences of which some claim says without its condition, or in one's own name, what they do not."""
    held = held_together()
    lost = (
        any(under not in claim.lower() for claim in split_claims(text, rules=splitter.rules)) for text, under in held
    )
    return {"sentences": len(held), "a claim lost its condition": sum(lost)}


def checkworthiness(splitter: Splitter, rows: Sequence[Row]) -> Figures:
    """Sentences labelled `yes` must yield claims; the others should not."""

    def kept(row: Row) -> bool:
        return bool(split_claims(row["sentence_in_response"], rules=splitter.rules))

    worth = [kept(row) for row in rows if row["label"] == "yes"]
    other = [kept(row) for row in rows if row["label"] != "yes"]
    return {
        "sentences": len(rows),
        "kept of check-worthy (TPR)": sum(worth) / len(worth),
        "dropped of the rest (TNR)": 1 - sum(other) / len(other),
    }


def references(splitter: Splitter, rows: Sequence[Row]) -> Figures:
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
        result = resolve_references(sentence, here, rules=splitter.resolvers)
        ambiguous += is_ambiguous(sentence, here)
        if result != sentence:
            resolved += 1
            added = set(content_words(result)) - set(content_words(sentence))
            right += added <= set(content_words(row["decontextualised"]))
    return {"open with a pronoun": opened, "resolved": resolved, "as annotated": right, "called ambiguous": ambiguous}


def relevance_of_sentences(rows: Sequence[Row]) -> Figures:
    """Claims called irrelevant of the sentences that people found to be about another person, and of the others."""
    called: dict[bool, list[bool]] = {True: [], False: []}
    for row in rows:
        position = 0
        for one in row["sentences"] or []:
            start = row["response"].find(one["text"][:_BEGINNING], position)
            if start < 0:
                continue
            position = start
            context = context_at(row["response"], start, row["prompt"])
            for fact in split_claims(one["text"]):
                claim = resolve_references(fact, context)
                relevant = is_relevant(claim, prompt=row["prompt"], response=row["response"])
                called[one["atomic_facts"] is not None].append(not relevant)
    return {
        "claims about another person": len(called[False]),
        "of these called irrelevant": sum(called[False]),
        "other claims": len(called[True]),
        "of those called irrelevant": sum(called[True]),
    }


def relevance_of_digressions() -> Figures:
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
                search_query(claim, topic_of(context.asked))
    return n_sentences


def speed(responses: Sequence[tuple[str, str]]) -> Figures:
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


def figures_table(splitter: Splitter, folder: Path) -> Table:
    rows = read_rows(folder, "factscore_bio")
    sets = read_gold(folder)
    together = [sentence for sentences in sets.values() for sentence in sentences]
    parts = {
        **{name: agreement(splitter, sentences) for name, sentences in sets.items()},
        "joints, all sets": splits_at_joints(splitter, together),
        "own conditions": lost_conditions(splitter),
        "Factcheck-GPT check-worthiness": checkworthiness(
            splitter, read_rows(folder, "factcheckgpt_dev_sentence_checkworthiness")
        ),
        "Factcheck-GPT references": references(splitter, read_rows(folder, "factcheckgpt_dev_decomposition")),
        "FActScore relevance": relevance_of_sentences(rows),
        "Simulator relevance": relevance_of_digressions(),
        "speed": speed([(row["prompt"], row["response"]) for row in rows if row["sentences"]]),
    }
    table = Table("data", "figure", "value", title="Offline linguistics")
    for data, figures in parts.items():
        for figure, value in figures.items():
            table.add_row(data, figure, f"{value:.3f}" if isinstance(value, float) else str(value))
    return table


def parsed_table(splitter: Splitter, folder: Path) -> Table:
    """The rules beside the parse: F1 on each set, and what the parse brings, in hundredths."""
    sets = read_gold(folder)
    by_rules, by_parse = scores_by_set(replace(splitter, nlp=None), sets), scores_by_set(splitter, sets)
    table = Table("data", "n", "rules", "parse", "the parse brings", title="F1 of claims, in hundredths")
    for name, brought in worth_by_set(by_parse, by_rules).items():
        rules, parse = (
            np.concatenate(list(scores.values())) if name == "all" else scores[name] for scores in (by_rules, by_parse)
        )
        table.add_row(name, str(len(rules)), f"{rules.mean() * 100:.1f}", f"{parse.mean() * 100:.1f}", _shown(brought))
    return table


def families_table(splitter: Splitter, folder: Path) -> Table:
    """For each family its lines of code, and what it brings on each set, in hundredths of F1."""
    sets = read_gold(folder)
    table = Table("family", "lines", title="F1 with all rules less F1 without the family, in hundredths")
    scores = scores_by_set(splitter, sets)
    for name, reached in scores.items():
        table.add_column(f"{name} ({len(reached)}: {reached.mean() * 100:.1f})", justify="right")
    table.add_column("all", justify="right")
    for family in splitter.families:
        found = worth_by_set(scores, scores_by_set(splitter.without(family), sets))
        table.add_row(family, str(n_lines(family, splitter)), *map(_shown, found.values()))
    return table


def _shown(worth: Worth) -> str:
    """Points, interval, and how many sentences the family changes."""
    if not worth.n_changed:
        return "0"
    return f"{worth.points:+.2f} ({worth.low:+.2f} to {worth.high:+.2f}; {worth.n_changed})"


def main(arguments: Sequence[str]) -> None:
    parser = argparse.ArgumentParser(description="How the offline rules split, resolve and sort claims.")
    parser.add_argument("folder", nargs="?", type=Path, default=Path(os.environ.get("FACTLOOP_DATA", "../shared/data")))
    parser.add_argument("--without", action="append", default=[], metavar="FAMILY", help="leave a family of rules out")
    parser.add_argument("--families", action="store_true", help="what each family brings")
    parser.add_argument("--spacy-model", metavar="NAME", help="how the parse of this pipeline splits, beside the rules")
    chosen = parser.parse_args(arguments)
    splitter = Splitter(nlp=load_pipeline(chosen.spacy_model) if chosen.spacy_model else None)
    for family in chosen.without:
        splitter = splitter.without(family)
    build = parsed_table if chosen.spacy_model else families_table if chosen.families else figures_table
    Console(width=200 if chosen.families else None).print(build(splitter, chosen.folder))


if __name__ == "__main__":
    main(sys.argv[1:])
