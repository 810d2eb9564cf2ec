"""The open-ended questions of a source in a drawn order: those at its head become the sample."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from factloop.evaluation.mixedqa.building.filters import NotOpen, why_not_open
from factloop.evaluation.mixedqa.building.sources import SourceQuestion


@dataclass(frozen=True)
class Draw:
    """All open-ended questions of a source, drawn without replacement."""

    source: str
    questions: tuple[SourceQuestion, ...]
    n_read: int
    n_repeated: int
    not_open: Counter[NotOpen]


def draw_open(source: str, questions: Iterable[SourceQuestion], seed: int) -> Draw:
    """The open-ended questions in the order of the seed; of equal ones the first by id.

    Those of the first that pass a filter are a simple random sample of all that would pass it, so that only as many
    need be asked as it takes. The order of the file changes nothing, and a source nothing of another.
    """
    given = sorted(questions, key=lambda one: one.id)
    not_open: Counter[NotOpen] = Counter()
    distinct: dict[str, SourceQuestion] = {}
    n_repeated = 0
    for one in given:
        if one.question.casefold() in distinct:
            n_repeated += 1
            continue
        why = why_not_open(one.question, one.reference_answers, is_comparison=one.is_comparison)
        if why is not None:
            not_open[why] += 1
            continue
        distinct[one.question.casefold()] = one
    order = list(distinct.values())
    random.Random(f"{seed}\n{source}").shuffle(order)
    return Draw(source, tuple(order), len(given), n_repeated, not_open)
