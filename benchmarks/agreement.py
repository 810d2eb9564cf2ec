"""Whether claims that other answers to the same question support are true: agreement over samples, without documents.

    python -m benchmarks.agreement [PEOPLE]     # of FActScore, 50 by default

No model is at hand to sample, so the samples of an answer are those of the two other systems to the same prompt, where
all three answered; the packaged baseline judges. Labels are people's, irrelevant facts left out.
"""

from __future__ import annotations

import asyncio
import os
import random
import sys
from collections import defaultdict
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table
from sklearn.metrics import brier_score_loss, roc_auc_score  # type: ignore[import-untyped]

from benchmarks.splitting.gold import read_rows
from factloop.tools.calls.meter import UsageMeter
from factloop.tools.judges.baseline import Baseline
from factloop.trust.agreement import agreement

DATA = Path(os.environ.get("FACTLOOP_DATA", "../shared/data"))
BINS = (0.0, 0.2, 0.4, 0.6)


async def measured(n_people: int) -> dict[str, list[tuple[bool, float]]]:
    """By system: whether each fact is true, and its agreement with the answers of the other systems."""
    answers: defaultdict[str, list[dict[str, Any]]] = defaultdict(list)
    for row in read_rows(DATA, "factscore_bio"):
        if row["sentences"]:
            answers[row["topic"]].append(row)
    whole = sorted(topic for topic, rows in answers.items() if len(rows) == 3)
    found: dict[str, list[tuple[bool, float]]] = {"all": []}
    for topic in random.Random(0).sample(whole, min(n_people, len(whole))):
        for row in answers[topic]:
            samples = [other["response"] for other in answers[topic] if other is not row]
            facts = [one for each in row["sentences"] for one in each["atomic_facts"] or () if one["label"] != "IR"]
            agreed = await agreement([one["text"] for one in facts], samples, Baseline(), meter=UsageMeter())
            pairs = [(one["label"] == "S", with_.value or 0.0) for one, with_ in zip(facts, agreed, strict=True)]
            found["all"] += pairs
            found.setdefault(row["system"], []).extend(pairs)
    return found


def main(n_people: int) -> None:
    if not DATA.is_dir():
        Console().print(f"skipped: there is no folder {DATA}")
        return
    table = Table("system", "facts", "true", "AUROC", "Brier score", *(f"true, from {low}" for low in BINS))
    for system, pairs in asyncio.run(measured(n_people)).items():
        truth, values = map(np.array, zip(*pairs, strict=True))
        places = np.digitize(values, BINS[1:])
        bins = (f"{truth[places == at].mean():.3f} of {(places == at).sum()}" for at in range(len(BINS)))
        figures = (truth.mean(), roc_auc_score(truth, values), brier_score_loss(truth, values))
        table.add_row(system, str(len(pairs)), *(f"{one:.3f}" for one in figures), *bins)
    Console(width=150).print(table)


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 50)
