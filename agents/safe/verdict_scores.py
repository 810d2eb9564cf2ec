"""A score for each verdict of a chat model: how probable it was that the model would say "supported" in its place.

P(supported) is the probability of the tokens that begin "supported", over that of the tokens that begin any verdict,
where the model wrote its verdict. It is the model's own uncertainty, and not calibrated. There is one only where the
server gives log-probabilities and the verdict is found among the tokens; it is never read from the words of a reply.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import get_args

from pydantic import BaseModel

from factloop.agents.safe.schemas import Assessment, GroundedFact, Rating
from factloop.core.records import Judgement
from factloop.tools.models.logprobs import VALUE, option_probabilities
from factloop.tools.models.wire import ReplyToken

SUPPORTED = "supported"
NO_VERDICT = "ambiguous"
"""What an assessment may say beside the verdicts: it leaves the claim unscored."""
LEAST_FOUND = 0.5
"""Probability that what the field may say must have had: where a model was mostly about to write something else, its
tokens tell nothing of its verdict."""


@dataclass(frozen=True)
class VerdictField:
    """The field of a JSON reply that holds a verdict, and what it may say."""

    name: str
    options: tuple[str, ...]

    @classmethod
    def of(cls, output: type[BaseModel], name: str) -> VerdictField:
        return cls(name, get_args(output.model_fields[name].annotation))

    @cached_property
    def pattern(self) -> re.Pattern[str]:
        """Finds the field with its value; a quote within a text of the reply is escaped, and so no such field."""
        return re.compile(rf'"{re.escape(self.name)}"\s*:\s*"(?P<{VALUE}>[^"\\]*)"')

    def scores(self, tokens: Sequence[ReplyToken], said: Sequence[str]) -> list[float | None]:
        """P(supported) in [0, 1] of each verdict that was `said`, in the order of the reply.

        None where it is not known; for all of them where the tokens do not spell just these verdicts.
        """
        found = list(self.pattern.finditer("".join(token.text for token in tokens)))
        if [match[VALUE] for match in found] != list(said):
            return [None] * len(said)
        return [self._score(tokens, match.span(VALUE)) for match in found]

    def _score(self, tokens: Sequence[ReplyToken], span: tuple[int, int]) -> float | None:
        shares = option_probabilities(tokens, span, self.options, closing='"')
        if shares is None or sum(shares.values()) < LEAST_FOUND:
            return None
        of_verdicts = math.fsum(share for option, share in shares.items() if option != NO_VERDICT)
        return min(shares[SUPPORTED] / of_verdicts, 1.0) if of_verdicts > 0.0 else None


ASSESSED = VerdictField.of(Assessment, "verdict")
RATED = VerdictField.of(Rating, "rating")
GROUNDED = VerdictField.of(GroundedFact, "verdict")


def with_score(judgement: Judgement, score: float | None) -> Judgement:
    """The judgement with its score, where it is a verdict."""
    return judgement if score is None or judgement.verdict is None else judgement.model_copy(update={"score": score})
