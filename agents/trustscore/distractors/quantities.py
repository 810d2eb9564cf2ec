"""Other dates and numbers in the form of the original."""

from __future__ import annotations

import random
from collections.abc import Sequence

from factloop.agents.trustscore.distractors import dates, numbers
from factloop.agents.trustscore.distractors.base import Substitute, Target
from factloop.agents.trustscore.distractors.formats import others
from factloop.agents.trustscore.records import Source


class QuantitySource:
    """A SubstituteSource for dates and numbers: same format, another value, at a plausible distance."""

    name = "dates and numbers"

    async def substitutes(
        self, target: Target, response: str, question: str, *, limit: int, rng: random.Random
    ) -> Sequence[Substitute]:
        del question
        if target.kind not in {"date", "number"}:
            return ()
        formats = dates.FORMATS if target.kind == "date" else numbers.FORMATS
        source = Source.DATE if target.kind == "date" else Source.NUMBER
        name, texts = others(response, target.start, target.end, formats, rng, limit)
        return tuple(Substitute(text, source, f"another {name}") for text in texts)
