"""Prints how sentences are split into claims without a chat model, held against the facts that people made of them.

    python -m benchmarks.offline_splitting                       # every figure
    python -m benchmarks.offline_splitting --spacy-model NAME    # with another spaCy pipeline
    python -m benchmarks.offline_splitting --show 200            # claims of random sentences, to be read by eye

The folder (a last argument, or FACTLOOP_DATA, default ../shared/data) holds factcheckgpt_dev_*.jsonl and
factscore_bio.jsonl. Texts and lines of our own lie in `benchmarks/splitting`. Of FActScore one half (by the person
that a text is about) was looked at while the code was written, the other was not.
"""

from __future__ import annotations

import argparse
import os
import random
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from rich.console import Console
from rich.table import Table

from benchmarks.splitting.gold import Sentence, held_together, read_gold, read_rows
from benchmarks.splitting.matching import content_words, match
from factloop.tools.text.markup import plain_text
from factloop.tools.text.pieces import read, render
from factloop.tools.text.pipeline import load_pipeline
from factloop.tools.text.referents import read_claims
from factloop.tools.text.splitting import split_pieces, statements_of
from factloop.tools.text.statements import states_something

if TYPE_CHECKING:
    from spacy.language import Language

Figures = Mapping[str, float]


def claims_of(sentence: Sentence, nlp: Language) -> list[str]:
    """The claims of a sentence, with names for pronouns where its facts have them; none where it states nothing."""
    if not states_something(sentence.text, nlp):
        return []
    if not sentence.is_resolved:
        return split_claims(sentence.text, nlp)
    return [claim.self_contained for claim in read_claims(sentence.text, sentence.before, sentence.prompt, nlp)]


def split_claims(text: str, nlp: Language) -> list[str]:
    """The claims of a sentence in its own words, whatever its pronouns mean."""
    claims: list[str] = []
    for part in statements_of(plain_text(text), nlp):
        pieces, spelt = split_pieces(read(part, nlp))
        claims += [render(piece, spelt) for piece in pieces] or [part]
    return claims


def agreement(sentences: Sequence[Sentence], nlp: Language) -> Figures:
    """Claims against facts, one to one: means over the sentences."""
    matches = [match(claims_of(sentence, nlp), sentence.facts) for sentence in sentences]
    n = len(matches)
    return {
        "sentences": n,
        "facts a sentence": sum(found.n_facts for found in matches) / n,
        "claims a sentence": sum(found.n_claims for found in matches) / n,
        "precision": sum(found.precision for found in matches) / n,
        "recall": sum(found.recall for found in matches) / n,
        "F1": sum(found.f1 for found in matches) / n,
    }


def lost_conditions(nlp: Language) -> Figures:
    """Sentences of which some claim says without its condition, or in one's own name, what they do not."""
    held = held_together()
    lost = [any(under not in claim.lower() for claim in split_claims(text, nlp)) for text, under in held]
    return {"sentences": len(held), "a claim lost its condition": sum(lost)}


def checkworthiness(folder: Path, unit: str, text: str, nlp: Language) -> Figures:
    """Texts that people found check-worthy must be kept; of the others as many as possible are not."""
    rows = read_rows(folder, f"factcheckgpt_dev_{unit}_checkworthiness")
    worth = [states_something(row[text], nlp) for row in rows if row["label"] in {"yes", "factual"}]
    other = [not states_something(row[text], nlp) for row in rows if row["label"] not in {"yes", "factual"}]
    kept, dropped = sum(worth) / len(worth), sum(other) / len(other)
    return {
        "check-worthy": len(worth),
        "others": len(other),
        "kept of the check-worthy": kept,
        "dropped of the others": dropped,
        "balanced accuracy": (kept + dropped) / 2,
    }


def references(folder: Path, nlp: Language) -> Figures:
    """Claims with a pronoun or a short name replaced, and how many say no word that people do not say there."""
    before: dict[str, list[str]] = {}
    resolved = right = left_open = total = 0
    for row in read_rows(folder, "factcheckgpt_dev_decomposition"):
        earlier = before.setdefault(row["doc_id"], [])
        known = {word for text in (row["decontextualised"], *row["claims"]) for word in content_words(text)}
        for claim in read_claims(row["sentence"], earlier, row["prompt"], nlp):
            total += 1
            left_open += claim.is_open
            added = set(content_words(claim.self_contained)) - set(content_words(claim.text))
            resolved += bool(added)
            right += bool(added) and added <= known
        earlier.append(row["sentence"])
    return {"claims": total, "resolved": resolved, "as annotated": right, "open": left_open}


def speed(sentences: Sequence[Sentence], nlp: Language) -> Figures:
    """Claims a second of CPU time. Goes before all else: what was read once is kept."""
    started = time.process_time()
    n_claims = sum(len(read_claims(one.text, one.before, one.prompt, nlp)) for one in sentences)
    return {"sentences": len(sentences), "claims a second of CPU": n_claims / (time.process_time() - started)}


def figures_table(folder: Path, nlp: Language) -> Table:
    sets = read_gold(folder)
    parts = {
        "speed": speed(sets["FActScore, development"][:300], nlp),
        **{name: agreement(sentences, nlp) for name, sentences in sets.items()},
        "own conditions": lost_conditions(nlp),
        "Factcheck-GPT sentences": checkworthiness(folder, "sentence", "sentence_in_response", nlp),
        "Factcheck-GPT claims": checkworthiness(folder, "claim", "claim", nlp),
        "Factcheck-GPT references": references(folder, nlp),
    }
    table = Table("data", "figure", "value", title="Claims of sentences, read by the parse")
    for data, figures in parts.items():
        for figure, value in figures.items():
            table.add_row(data, figure, f"{value:.3f}" if isinstance(value, float) else str(value))
    return table


def show(folder: Path, n_claims: int, nlp: Language) -> None:
    """Prints random sentences of the development half with their claims."""
    sentences = random.Random(0).sample(read_gold(folder)["FActScore, development"], 700)
    for sentence in sentences:
        claims = split_claims(sentence.text, nlp)
        if n_claims > 0 and len(claims) > 1:
            sys.stdout.write("\n  - ".join([sentence.text, *claims]) + "\n")
            n_claims -= len(claims)


def main(arguments: Sequence[str]) -> None:
    parser = argparse.ArgumentParser(description="How sentences are split into claims without a chat model.")
    parser.add_argument("folder", nargs="?", type=Path, default=Path(os.environ.get("FACTLOOP_DATA", "../shared/data")))
    parser.add_argument("--spacy-model", metavar="NAME", help="a spaCy pipeline; the best installed where not given")
    parser.add_argument("--show", type=int, metavar="N", help="print some N claims of random sentences instead")
    chosen = parser.parse_args(arguments)
    nlp = load_pipeline(chosen.spacy_model)
    if chosen.show:
        show(chosen.folder, chosen.show, nlp)
    else:
        Console().print(figures_table(chosen.folder, nlp))


if __name__ == "__main__":
    main(sys.argv[1:])
