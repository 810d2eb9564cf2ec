from __future__ import annotations

import json
import random
from collections.abc import Iterable
from typing import Any

from factloop.agents.trustscore.records import TrustRun
from factloop.core.files.json import to_json
from factloop.core.records import Record
from factloop.trust.question_answers import QuestionAnswer
from tests.simulator import QaPair, Simulator

VOLATILE = {"created_at", "retrieved_at", "wall_s"}


def both_answers(pairs: Iterable[QaPair]) -> list[QuestionAnswer]:
    items: list[QuestionAnswer] = []
    for number, pair in enumerate(pairs):
        for said, response in (("true", pair.answer), ("false", pair.wrong(random.Random(number)))):
            items.append(QuestionAnswer(id=f"{number} {said}", question=pair.question, response=response))
    return items


def known_to(sim: Simulator, knowledge: str, n: int) -> list[QaPair]:
    """Questions on topics that the subject knows to this degree."""
    subject = sim.subject  # asked for once: each time is a request to the simulator
    return [pair for pair in sim.world.questions[:300] if subject.knowledge(pair.topic) == knowledge][:n]


def expected(sim: Simulator, items: Iterable[QuestionAnswer]) -> list[int | None]:
    """TrustBC by what the subject knows; None if it is random."""
    subject = sim.subject
    found: list[int | None] = []
    for item in items:
        pair = sim.world.pair_of(item.question)
        assert pair is not None
        found.append(subject.expected_trust_bc(pair.topic, item.response or ""))
    return found


def values(run: TrustRun) -> list[int | None]:
    return [report.trust_bc.value for report in run.reports]


def timeless(record: Record) -> Any:
    return _stable(json.loads(to_json(record)))


def _stable(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _stable(item) for name, item in value.items() if name not in VOLATILE}
    return [_stable(item) for item in value] if isinstance(value, list) else value
