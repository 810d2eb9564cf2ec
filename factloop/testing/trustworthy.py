"""`assert_trustworthy`: a test fails where a model does not stand by an answer, or documents speak against it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from langchain_core.language_models import BaseChatModel

from factloop.agents.trustscore.records import TrustReport
from factloop.core.errors import ConfigError, FactloopError
from factloop.core.sync import run_blocking
from factloop.setup.recording import Recording
from factloop.testing.defaults import bare, paths_here, recording_here, settings_here
from factloop.testing.running import running_test
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


def assert_trustworthy(
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
    Settings, recordings, errors and costs are as with `assert_factual`; `settings` are those of `TrustSettings`.
    """
    __tracebackhide__ = True
    try:
        required = _TrustThresholds(min_trust_bc, min_trust_fc, min_trust_ov)
        asked = _ScoreRequest(question, response, subject_model, judge_model, corpus, scorer, recording, settings)
        report = run_blocking(asked.report())
    except FactloopError as error:
        raise bare(error) from None
    _compare(required, report)
    return report


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
    """`assert_trustworthy` in the caller's event loop: other work goes on while it waits."""
    __tracebackhide__ = True
    try:
        required = _TrustThresholds(min_trust_bc, min_trust_fc, min_trust_ov)
        report = await _ScoreRequest(
            question, response, subject_model, judge_model, corpus, scorer, recording, settings
        ).report()
    except FactloopError as error:
        raise bare(error) from None
    _compare(required, report)
    return report


@dataclass(frozen=True)
class _ScoreRequest:
    """One score that a test asks for."""

    question: str
    response: str | None
    subject_model: str | BaseChatModel | None
    judge_model: str | BaseChatModel | None
    corpus: Corpus
    scorer: TrustScorer | None
    recording: str | Path | Recording | None
    settings: dict[str, Any]

    async def report(self) -> TrustReport:
        """Raises FactloopError."""
        if self.scorer is not None:
            self._refuse_two_scorers()
            return await self._scored(self.scorer)
        base = settings_here(TrustSettings, self.settings)
        async with TrustScorer(
            self.subject_model,
            judge_model=self.judge_model,
            corpus=self._paths(),
            settings=base,
            recording=recording_here(self.recording),
        ) as scorer:
            return await self._scored(scorer)

    async def _scored(self, scorer: TrustScorer) -> TrustReport:
        report = await scorer.ascore(self.question, self.response)
        test = running_test()
        if test is not None:
            test.spent.note(report.usage, 1)
        return report

    def _refuse_two_scorers(self) -> None:
        given = {"subject_model": self.subject_model, "judge_model": self.judge_model, "recording": self.recording}
        named = {**given, "corpus": self._paths() or None, **self.settings}
        first = next((name for name, value in named.items() if value is not None), None)
        if first is not None:
            raise ConfigError(f"{first} is the scorer's own: give it to the scorer, or no scorer")

    def _paths(self) -> list[str]:
        return paths_here([self.corpus] if isinstance(self.corpus, str | Path) else list(self.corpus))


def _compare(required: _TrustThresholds, report: TrustReport) -> None:
    __tracebackhide__ = True
    missed = required.missed_by(report)
    if missed:
        raise NotTrustworthy(trust_failure(missed, report), report)
