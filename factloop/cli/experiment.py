"""`factloop experiment`: reads a plan, and gives a comparison of its variants and an exit code."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any, Literal

from rich.console import Console

from factloop.cli.demands import NO_CLAIM
from factloop.cli.exits import DONE, UNSCORED, messages_console, run_until_stopped
from factloop.cli.fail_if_worse import demands_exit_code
from factloop.cli.outputs import STANDARD_OUTPUT, Terminal, price, say, try_outputs, write_files, write_output
from factloop.cli.self_support import refuse_self_support
from factloop.cli.watching import watched
from factloop.core.errors import ConfigError
from factloop.core.files.json import to_json, write_atomically
from factloop.entrance.settings_sources import load_settings
from factloop.evaluation.comparing.demands import read_demand
from factloop.evaluation.experiments.assess import assess
from factloop.evaluation.experiments.demands import refuse_demands
from factloop.evaluation.experiments.estimate import ExperimentEstimate, estimate_experiment
from factloop.evaluation.experiments.items import load_data
from factloop.evaluation.experiments.plan import load_plan
from factloop.evaluation.experiments.records import Results
from factloop.evaluation.experiments.report import ExperimentReport
from factloop.evaluation.experiments.run import REPORT, astream_experiment
from factloop.evaluation.experiments.variants import all_settings, prompt_warnings
from factloop.evaluation.experiments.views.html import render_experiment_html
from factloop.evaluation.experiments.views.terminal import print_experiment
from factloop.reports.figures import plural
from factloop.reports.visible import visible
from factloop.setup.settings import CheckSettings


@dataclass(frozen=True)
class ExperimentAsk:
    """Arguments of the command, beside the limits of the run."""

    plan: str
    level: float
    resamples: int
    p_adjustment: Literal["holm", "benjamini-hochberg", "none"]
    pairs: Literal["baseline", "all"]
    json: str | None
    html: str | None
    run_dir: Path | None
    dry_run: bool
    strict: bool
    quiet: bool
    fail_if_worse: tuple[str, ...] = ()


def run_experiment(ask: ExperimentAsk, limits: Mapping[str, Any]) -> int:
    """Runs, compares and writes; returns the exit code. Raises FactloopError for wrong input."""
    messages = messages_console()
    if not 0.0 < ask.level < 1.0:
        raise ConfigError(f"--level {ask.level:g}: a share between 0 and 1, such as 0.95")
    demands = [read_demand(one) for one in ask.fail_if_worse]
    refuse_demands(demands)
    load_settings(CheckSettings, limits, os.environ, Path.cwd())  # what is wrong with a flag is said of the flag
    defaults = load_settings(CheckSettings, {}, os.environ, Path.cwd())
    plan = load_plan(ask.plan)
    settings = all_settings(plan, defaults, limits)
    data = str(plan.data_path)
    for of_variant in settings.values():
        try_outputs((ask.json, ask.html), (ask.plan, data), settings=of_variant, run_dir=ask.run_dir)
        refuse_self_support(data, of_variant.docs, "docs")
    if not ask.quiet:
        for warning in prompt_warnings(settings):
            messages.print(f"factloop: {visible(warning)}", soft_wrap=True)
    if ask.dry_run:
        return _print_estimate(ask, estimate_experiment(plan, load_data(plan.data_path), settings))
    events = astream_experiment(plan, run_dir=ask.run_dir, defaults=defaults, limits=limits)
    work = watched(events, "cell", messages, quiet=ask.quiet)
    results = run_until_stopped(work, messages, run_dir=ask.run_dir, kept=False)
    report = assess(
        results,
        level=ask.level,
        resamples=ask.resamples,
        p_adjustment=ask.p_adjustment,
        pairs=ask.pairs,
        demands=demands,
        created_at=datetime.now(UTC),
    )
    if ask.run_dir is not None:
        write_atomically(ask.run_dir / REPORT, to_json(report), private=True)
    write_files({ask.json: partial(to_json, report), ask.html: partial(render_experiment_html, report)})
    if not ask.quiet and STANDARD_OUTPUT not in (ask.json, ask.html):
        say(lambda: print_experiment(report, Terminal()))
    return _exit_code(ask, results, report, messages)


def _exit_code(ask: ExperimentAsk, results: Results, report: ExperimentReport, messages: Console) -> int:
    unscored = sum(one.judgement.verdict is None for one in results.claims)
    for variant in report.variants:
        if variant.why_unscored is not None:
            n = sum(one.variant == variant.variant.name for one in results.claims)
            said = f"{variant.variant.name}: {NO_CLAIM}, {n:,} of {n:,}: {visible(variant.why_unscored)}"
            messages.print(f"factloop: {said}", soft_wrap=True)
    if any(one.why_unscored is not None for one in report.variants):
        return UNSCORED
    if ask.strict and unscored:
        messages.print(f"factloop: {plural(unscored, 'judgement')} unscored (--strict)", soft_wrap=True)
        return UNSCORED
    return demands_exit_code(report.demands, messages)


def _print_estimate(ask: ExperimentAsk, found: ExperimentEstimate) -> int:
    if ask.json is not None:
        write_output(ask.json, to_json(found))
    if ask.json != STANDARD_OUTPUT:
        noun = {"claims": "claim", "responses": "response"}[found.kind]
        lines = (
            f"Nothing was spent. Estimate for {plural(found.n_cells, 'cell')}: {plural(found.n_items, noun)}, "
            f"{plural(len(found.variants), 'variant')}, {plural(found.repeats, 'repeat')}.",
            *(
                f"  {one.variant}: about {one.calls:,} model calls a repeat, {price(one.cost_usd)}"
                for one in found.variants
            ),
            f"  together at most about {found.calls:,} model calls, {found.searches:,} searches,",
            f"  {found.prompt_tokens:,} prompt and {found.completion_tokens:,} completion tokens,",
            f"  {price(found.cost_usd)}; what variants ask in the same words is paid for once",
        )
        say(lambda: Terminal().print("\n".join(lines), soft_wrap=True))
    return DONE
