"""`assert_trustworthy`: a test fails where a model does not stand by an answer, or documents speak against it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from langchain_core.language_models import BaseChatModel

from factloop.agents.trustscore.records import TrustReport
from factloop.core.errors import ConfigError, FactloopError
from factloop.setup.recording import Recording
from factloop.testing.defaults import (
    bare,
    blocking,
    note_spending,
    paths_here,
    recording_here,
    refuse_beside,
    settings_here,
)
from factloop.testing.words import trust_failure
from factloop.trust.scorer import TrustScorer
from factloop.trust.settings import TrustSettings

Corpus = str | Path | Sequence[str | Path]


class NotTrustworthy(AssertionError):
    """An answer missed the score required of it, or has none. `report` is the whole report."""

    def __init__(self, message: str, report: TrustReport) -> None:
        self.report = report
        super().__init__(message)


@dataclass(frozen=True)
class _TrustThresholds:
    min_trust_bc: float | None
    min_trust_fc: float | None
    min_trust_ov: float | None

    def __post_init__(self) -> None:
        given = {name: value for name, value in vars(self).items() if value is not None}
        if not given:
            raise ConfigError("assert_trustworthy requires nothing: give min_trust_bc, min_trust_fc or min_trust_ov")
        for name, value in given.items():
            if not 0.0 <= value <= 1.0:
                raise ConfigError(f"{name} = {value!r}: scores are between 0 and 1")

    def missed_by(self, report: TrustReport) -> list[str]:
        """The scores that are too low, or missing, in words."""
        scores = (
            ("TrustBC", self.min_trust_bc, report.trust_bc.value),
            ("TrustFC", self.min_trust_fc, report.trust_fc.value),
            ("TrustOV", self.min_trust_ov, report.trust_ov.value),
        )
        return [
            f"{name} at least {least:g}, and {'it has no value' if value is None else f'it is {value:g}'}"
            for name, least, value in scores
            if least is not None and (value is None or value < least)
        ]


async def aassert_trustworthy(
    question: str,
    response: str | None = None,
    *,
    min_trust_bc: float | None = None,
    min_trust_fc: float | None = None,
    min_trust_ov: float | None = None,
    subject_model: str | BaseChatModel | None = None,
    judge_model: str | BaseChatModel | None = None,
    corpus: Corpus = (),
    scorer: TrustScorer | None = None,
    recording: str | Path | Recording | None = None,
    **settings: Any,
) -> TrustReport:
    """The TrustScore of an answer, where it reaches what is required; else NotTrustworthy, an AssertionError.

    Without a response the subject is asked for one. An unscored part misses any requirement for it.
    Settings, recordings, errors and costs are as with `aassert_factual`; `settings` are those of `TrustSettings`.
    """
    __tracebackhide__ = True
    try:
        required = _TrustThresholds(min_trust_bc, min_trust_fc, min_trust_ov)
        paths = paths_here([corpus] if isinstance(corpus, str | Path) else list(corpus))
        if scorer is not None:
            own = {"subject_model": subject_model, "judge_model": judge_model, "recording": recording, "corpus": paths}
            refuse_beside("scorer", {**own, **settings})
            report = await scorer.ascore(question, response)
        else:
            base = settings_here(TrustSettings, settings)
            tape = recording_here(recording)
            async with TrustScorer(
                subject_model, judge_model=judge_model, corpus=paths, settings=base, recording=tape
            ) as built:
                report = await built.ascore(question, response)
        note_spending(report.usage, 1)
    except FactloopError as error:
        raise bare(error) from None
    missed = required.missed_by(report)
    if missed:
        raise NotTrustworthy(trust_failure(missed, report), report)
    return report


assert_trustworthy = blocking(aassert_trustworthy)
"""`aassert_trustworthy` for tests that are not asynchronous."""
