"""The shared work of commands that judge a data set: the run, its outputs, its exit code."""

from __future__ import annotations

from collections import Counter
from collections.abc import AsyncGenerator, Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from functools import partial
from pathlib import Path
from typing import Any, Literal, Self

from rich.console import Console

from factloop.checking.checker import FactChecker
from factloop.cli.demands import (
    ALL_IRRELEVANT,
    NO_CLAIM,
    below_threshold,
    first_failure,
    refuse_impossible,
    results_of,
)
from factloop.cli.exits import BELOW_THRESHOLD, DONE, UNSCORED, run_until_stopped
from factloop.cli.ks import DEFAULT_KS, wanted_ks
from factloop.cli.outputs import STANDARD_OUTPUT, Terminal, say, write_files
from factloop.cli.watching import watched
from factloop.core.errors import ConfigError
from factloop.core.factuality import counted_claims
from factloop.core.files.json import to_json
from factloop.core.reasons import UnscoredReason
from factloop.evaluation.runs.items import RunItem
from factloop.evaluation.runs.longform_records import AbstentionPolicy
from factloop.evaluation.runs.records import JudgedResponse, RunSummary
from factloop.evaluation.runs.run import Debias, Kind, ReportEngine, astream_run
from factloop.evaluation.runs.run_claims import RunClaims
from factloop.evaluation.runs.summary import Scoring
from factloop.evaluation.runs.views.html import render_run_html
from factloop.evaluation.runs.views.terminal import print_run
from factloop.reports.figures import plural, reason_counts
from factloop.reports.status import tally_reasons
from factloop.reports.terminal_parts import one_line
from factloop.setup.settings import CheckSettings

WORKERS = 2
NO_CLAIMS_MADE = "no response makes a claim that can be checked"


@dataclass(frozen=True)
class RunAsk:
    """Arguments of the command, beside the settings of the checks. Names are those of the flags."""

    k: Sequence[str] | None
    abstention: Literal["zero", "exclude"]
    level: float
    resamples: int
    calibration: str | None
    evaluator: str | None
    transfer: Literal["verdicts", "error_rates"] | None
    limit: int | None
    engine: Literal["local", "ray"]
    workers: int | None
    address: str | None
    json: str | None
    html: str | None
    run_dir: Path | None
    fail_under: float | None
    strict: bool
    quiet: bool

    @classmethod
    def of(cls, given: Mapping[str, Any]) -> Self:
        """Picks the arguments from all that a command got."""
        return cls(**{field.name: given[field.name] for field in fields(cls)})


@dataclass(frozen=True)
class RunPlan:
    """A checked plan of the run, made before anything is read or spent."""

    ask: RunAsk
    settings: CheckSettings
    scoring: Scoring
    engine: ReportEngine | None
    debias: Debias | None


def plan_run(ask: RunAsk, settings: CheckSettings) -> RunPlan:
    """Plans the run.

    Raises ConfigError for flags that make no sense, and DataError for a calibration that cannot be read.
    """
    refuse_impossible(ask.fail_under)
    if not 0.0 < ask.level < 1.0:
        raise ConfigError(f"--level {ask.level:g}: a share between 0 and 1, such as 0.95")
    scoring = Scoring(
        ks=wanted_ks(ask.k, settings.k or DEFAULT_KS),
        abstention=AbstentionPolicy(ask.abstention),
        level=ask.level,
        resamples=ask.resamples,
        seed=settings.seed,
    )
    return RunPlan(ask, settings, scoring, _engine(ask, settings), _debiasing(ask, settings.seed))


def _engine(ask: RunAsk, settings: CheckSettings) -> ReportEngine | None:
    if ask.engine == "local":
        if ask.workers is not None or ask.address is not None:
            raise ConfigError("--workers and --address go with --engine ray")
        return None
    from factloop.evaluation.runs.judge import judge_on_ray

    def engine(items: Iterable[RunItem], folder: Path | None) -> AsyncGenerator[JudgedResponse, None]:
        workers = ask.workers or WORKERS
        return judge_on_ray(settings, items, directory=folder, workers=workers, address=ask.address)

    return engine


@dataclass(frozen=True)
class RunResult:
    """The outcome of a run."""

    summary: RunSummary
    why_unscored: str
    """The first failure of a claim, else the reasons of all; empty for what an earlier attempt left unscored."""


def run_over(plan: RunPlan, items: Iterable[RunItem], *, data: str, kind: Kind, messages: Console) -> RunResult:
    """Judges the items, with progress on the terminal. Raises FactloopError for wrong input."""
    kept = plan.settings.model is not None and plan.settings.cache
    return run_until_stopped(_run(plan, items, data, kind, messages), messages, run_dir=plan.ask.run_dir, kept=kept)


async def _run(plan: RunPlan, items: Iterable[RunItem], data: str, kind: Kind, messages: Console) -> RunResult:
    failure: str | None = None
    reasons: Counter[UnscoredReason] = Counter()

    def look_at(judged: JudgedResponse) -> None:
        nonlocal failure
        failure = failure or first_failure(results_of(judged.report))
        reasons.update(tally_reasons(counted_claims(judged.report)))

    async with FactChecker(settings=plan.settings) as checker:
        events = astream_run(
            checker,
            items,
            data=data,
            kind=kind,
            scoring=plan.scoring,
            run_dir=plan.ask.run_dir,
            limit=plan.ask.limit,
            engine=plan.engine,
            debias=plan.debias,
        )
        summary = await watched(events, "response", messages, quiet=plan.ask.quiet, look_at=look_at)
    return RunResult(summary, failure or ", ".join(reason_counts(reasons)))


def finish(ask: RunAsk, ran: RunResult, messages: Console) -> int:
    """Writes the outputs; returns the exit code. Raises ConfigError for one that cannot be written."""
    summary = ran.summary
    write_files({ask.json: partial(to_json, summary), ask.html: partial(render_run_html, summary)})
    if not ask.quiet and STANDARD_OUTPUT not in (ask.json, ask.html):
        say(lambda: print_run(summary, Terminal()))
    return _exit_code(ask, ran, messages)


def _exit_code(ask: RunAsk, ran: RunResult, messages: Console) -> int:
    """The exit code of a run, as that of one check; one that is not 0 is said on the console."""
    counts = [system.counts for system in ran.summary.scores.systems]
    scored, unscored = sum(one.scored for one in counts), sum(one.unscored for one in counts)
    if unscored and not scored:
        why = ran.why_unscored or f"{plural(unscored, 'claim')} unscored"
        messages.print(f"factloop: {NO_CLAIM}: {why}", soft_wrap=True)
        return UNSCORED
    if ask.strict and unscored:
        messages.print(f"factloop: {plural(unscored, 'claim')} unscored (--strict)", soft_wrap=True)
        return UNSCORED
    code = DONE if ask.fail_under is None else _against_threshold(ask.fail_under, ran.summary, messages)
    if code == DONE and not scored:
        why = ALL_IRRELEVANT if any(one.total for one in counts) else NO_CLAIMS_MADE
        messages.print(f"factloop: {NO_CLAIM}: {why}", soft_wrap=True)
        return UNSCORED
    return code


def _against_threshold(threshold: float, summary: RunSummary, messages: Console) -> int:
    below = [one for one in summary.scores.systems if one.precision.value is None or one.precision.value < threshold]
    for one in below:
        of = f" of {one_line(one.system)} ({plural(one.precision.n, 'response')})"
        messages.print(f"factloop: {below_threshold('precision', one.precision.value, threshold, of)}", soft_wrap=True)
    return BELOW_THRESHOLD if below else DONE


def _debiasing(ask: RunAsk, seed: int) -> Debias | None:
    """Reads the labelled claims now, so that an error in them shows before anything is spent; returns the debiasing."""
    if ask.calibration is None:
        if ask.evaluator is not None:
            raise ConfigError("--evaluator says whose verdicts of a --calibration are meant: give that, too")
        return None
    if not ask.resamples:
        raise ConfigError("--calibration needs --resamples: a corrected F1@K is worth no more than its interval")
    import numpy as np

    from factloop.evaluation.debiasing.records import Transfer
    from factloop.evaluation.runs.calibration import calibrated, load_calibration

    sample = load_calibration(ask.calibration, evaluator=ask.evaluator)

    transfer = None if ask.transfer is None else Transfer(ask.transfer)

    def debias(summary: RunSummary, run: RunClaims) -> RunSummary:
        rng = np.random.default_rng(seed)
        return calibrated(summary, sample, transfer=transfer, rng=rng, resamples=ask.resamples, run=run)

    return debias
