"""Scores long answers: TrustBC for each claim, alongside SAFE's verdict. The paper leaves this to future work."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from typing import Any

from factloop.agents.trustscore.records import LongFormTrustReport
from factloop.checking.checker import FactChecker
from factloop.core.errors import ConfigError
from factloop.core.records import FactualityReport, Usage
from factloop.setup.pace import Pace
from factloop.setup.recording import Recording
from factloop.setup.settings import CheckSettings, EmbeddingSettings
from factloop.tools.calls.meter import UsageMeter
from factloop.trust.scorer import TrustScorer
from factloop.trust.settings import TrustSettings

ALIKE = ("temperature", "seed", "fail_if_unreadable")
"""Settings that checks also have, but with other defaults. Only explicitly set values apply to checks."""
SAFE_PART, TRUST_PART = "safe", "trust"


async def ascore_long_form(
    response: str,
    prompt: str | None = None,
    *,
    settings: TrustSettings,
    search: Sequence[str] = (),
    run_dir: Path | None = None,
) -> LongFormTrustReport:
    """Checks a long answer against the corpus or with a search, and then asks the subject about each claim.

    The judge is the judge model in the settings, or else the offline engine. Limits and the recording cover both parts;
    in a run directory, each part has a subfolder. Raises ConfigError like `acheck_and_score`.
    """
    checks = check_settings(settings, search)
    recording = Recording.of(settings)
    first, second = (run_dir / part if run_dir is not None else None for part in (SAFE_PART, TRUST_PART))

    async def check() -> FactualityReport:
        async with FactChecker(settings=checks, recording=recording) as checker:
            return await checker.acheck(response, prompt, run_dir=first)

    report = await acheck_and_score(check, settings=settings, recording=recording, run_dir=second)
    if recording is not None:
        recording.save()
    return report


async def acheck_and_score(
    check: Callable[[], Awaitable[FactualityReport]],
    *,
    settings: TrustSettings,
    recording: Recording | None = None,
    pace: Pace | None = None,
    meter: UsageMeter | None = None,
    run_dir: Path | None = None,
) -> LongFormTrustReport:
    """Checks a long answer with `check`, and then asks the subject about each claim.

    Limits apply to both parts combined. `meter` and `run_dir` are only for the second part. Raises ConfigError before
    calling `check` if the subject is missing or invalid.
    """
    if settings.subject_model is None:
        raise ConfigError("a long answer needs a subject model; set `subject_model`")
    no_judge = {} if settings.samples else {"judge_model": None, "nli": None}
    subject = settings.model_copy(update={"corpus": (), **no_judge})
    async with TrustScorer(settings=subject, pace=pace) as scorer:
        await scorer.aopen()  # finds errors in the setup before the check costs anything
    factuality = await check()
    left = with_remaining_limits(subject, factuality.usage)
    async with TrustScorer(settings=left, recording=recording, pace=pace) as scorer:
        return await scorer.ascore_claims(factuality, run_dir=run_dir, meter=meter)


def check_settings(settings: TrustSettings, search: Sequence[str] = ()) -> CheckSettings:
    """Returns the settings for the fact-check of a long answer."""
    names = (*EmbeddingSettings.model_fields, *ALIKE)
    shared = {name: getattr(settings, name) for name in names if name in settings.model_fields_set}
    own: dict[str, Any] = {
        "model": settings.judge_model,
        "base_url": (settings.judge_base_url or settings.base_url) if settings.judge_model is not None else None,
        "docs": settings.corpus,
        "search": tuple(search),
    }
    return CheckSettings.of(None, **shared, **{name: value for name, value in own.items() if value})


def missing_scores(report: LongFormTrustReport) -> int:
    """Returns the number of missing scores: verdicts, and TrustBC scores of claims that the subject was asked about."""
    asked = sum(item.trust_bc is not None and item.trust_bc.value is None for item in report.claims)
    return asked + report.factuality.counts.unscored


def with_remaining_limits(settings: TrustSettings, spent: Usage) -> TrustSettings:
    """Subtracts the usage from the limits on calls and cost, as far as the usage is known."""
    left: dict[str, Any] = {}
    if settings.max_calls is not None:
        left["max_calls"] = max(0, settings.max_calls - spent.calls - spent.failed_calls)
    if settings.budget_usd is not None:
        # a search with an unknown price makes the total unknown, but the known part still counts
        known = sum(stage.cost_usd or 0.0 for stage in spent.stages.values())
        paid = known if spent.cost_usd is None else spent.cost_usd
        left["budget_usd"] = max(0.0, settings.budget_usd - paid)
    return settings.model_copy(update=left)
