"""Measures uncertainty without documents: how well the subject's other answers to the question support each claim.

This follows the long-form scores of uqlm (Bouchard and Chauhan 2025, arXiv 2504.19254; LUQ of Zhang et al. 2024, arXiv
2403.20279), with two departures. First, the claims are SAFE's. They are compared with the samples, but the samples'
claims are not compared with the answer. Second, any judge that compares claims with texts can decide how well a sample
supports a claim, even one that does not distinguish contradicted claims from missing ones.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import fsum

from factloop.agents.trustscore.records import SampleAgreement
from factloop.core.errors import ConfigError, FactloopError
from factloop.tools.calls.meter import UsageMeter
from factloop.tools.calls.together import together
from factloop.tools.judges.base import Verifier
from factloop.tools.judges.pairs import read_all
from factloop.tools.models.gateway import ModelGateway

SAMPLE = "sample"  # name of the stage in the usage of a run
TEMPERATURE = 1.0  # temperature at which the subject is sampled, as in uqlm; at 0, all answers would be the same


async def draw_samples(question: str, n: int, subject: ModelGateway, meter: UsageMeter) -> list[str]:
    """Asks the subject the question `n` times. Returns fewer answers if some calls fail. Raises ConfigError."""

    async def one(number: int) -> str | None:
        try:
            return (await subject.ask_freely(question, stage=SAMPLE, meter=meter, draw=number)).text
        except ConfigError:
            raise
        except FactloopError:
            return None

    return [text for text in await together(one(number) for number in range(1, n + 1)) if text is not None]


async def agreement(
    claims: Sequence[str], samples: Sequence[str], judge: Verifier, *, meter: UsageMeter
) -> list[SampleAgreement]:
    """Returns how strongly the samples support each claim on average."""
    found = iter(await read_all(judge, [(claim, [sample]) for claim in claims for sample in samples], meter=meter))
    scored = [[one.score for _ in samples if (one := next(found)) is not None] for _ in claims]
    return [
        SampleAgreement(value=fsum(of) / len(of) if of else None, n=len(of), n_unscored=len(samples) - len(of))
        for of in scored
    ]
