"""How often published splits are taken to be unfaithful, and how often one is that was made so.

The splits are FActScore's (by people and by InstructGPT) and Factcheck-GPT's. A sentence that holds a figure, a name, a
denial or a hedge is taken once for each, with this one altered in all of its facts.
"""

from __future__ import annotations

import json
import os
import random
import re
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from rich.console import Console

from factloop.agents.safe.faithful import Wording, complaint

DATA = Path(os.environ.get("FACTLOOP_DATA", "../shared/data"))
Split = tuple[str, list[str], str]
"""A sentence, its facts, and the answer with its question."""

ALTERED: Mapping[str, tuple[re.Pattern[str], Callable[[str], str]]] = {
    "a figure": (re.compile(r"\b\d{2,}\b"), lambda figure: str(int(figure) + 7)),
    "a name": (re.compile(r"(?<=[a-z] )[A-Z][a-z]{3,}\b"), lambda _: "Quorzel"),
    "a denial": (re.compile(r" (?:not|never)\b"), lambda _: ""),
    "a hedge": (re.compile(r" (?:may|might|perhaps|possibly|probably|reportedly|allegedly)\b"), lambda _: ""),
}


def published() -> Iterator[tuple[str, list[Split]]]:
    answers = [json.loads(line) for line in (DATA / "factscore_bio.jsonl").open(encoding="utf-8")]
    for name, field in (("FActScore, people", "atomic_facts"), ("FActScore, InstructGPT", "model_atomic_facts")):
        yield (
            name,
            [
                (one["text"], [_text(fact) for fact in one[field]], f"{answer['prompt']}\n{answer['response']}")
                for answer in answers
                for one in answer["sentences"] or ()
                if one.get(field)
            ],
        )
    rows = [json.loads(line) for line in (DATA / "factcheckgpt_dev_decomposition.jsonl").open(encoding="utf-8")]
    texts: defaultdict[str, str] = defaultdict(str)
    for row in rows:
        texts[row["doc_id"]] += f"{row['sentence']}\n"
    yield (
        "Factcheck-GPT",
        [(row["sentence"], row["claims"], f"{row['prompt']}\n{texts[row['doc_id']]}") for row in rows if row["claims"]],
    )


def _text(fact: Any) -> str:
    return str(fact["text"] if isinstance(fact, dict) else fact)


def altered(splits: list[Split], kind: str, rng: random.Random) -> Iterator[Split]:
    """The splits whose facts hold such a thing, with one of these changed wherever it stands."""
    pattern, other = ALTERED[kind]
    for sentence, facts, said in splits:
        of_facts = {match[0] for fact in facts for match in pattern.finditer(fact)}
        if found := sorted(of_facts & {match[0] for match in pattern.finditer(sentence)}):
            chosen = rng.choice(found)
            yield sentence, [fact.replace(chosen, other(chosen)) for fact in facts], said


def refused(splits: list[Split]) -> int:
    return sum(complaint(sentence, facts, Wording(said)) is not None for sentence, facts, said in splits)


def main() -> None:
    if not DATA.is_dir():
        Console().print(f"skipped: there is no folder {DATA}")
        return
    for name, splits in published():
        Console().print(f"{name}: {refused(splits)} of {len(splits)} sentences refused as published")
        for kind in ALTERED:
            changed = list(altered(splits, kind, random.Random(0)))
            Console().print(f"  with {kind} altered: {refused(changed)} of {len(changed)} refused")


if __name__ == "__main__":
    main()
