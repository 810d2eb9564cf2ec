"""`factloop generate mixedqa`: a data set like MixedQA, of files of its sources; returns the exit code."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from rich.console import Console

from factloop.cli.exits import DONE, UNSCORED, messages_console, run_until_stopped
from factloop.cli.inputs import name_of_data
from factloop.cli.models_of_systems import models_given
from factloop.cli.outputs import STANDARD_OUTPUT, Terminal, say, try_outputs, write_files
from factloop.cli.pairs import pairs_given
from factloop.cli.progress import counted
from factloop.cli.unsent_prompts import note_unsent_prompts
from factloop.core.errors import ConfigError
from factloop.core.files.json import to_json, to_json_line, write_atomically
from factloop.entrance.settings_sources import load_settings
from factloop.evaluation.mixedqa.building.build import BuildRequest, build_mixedqa
from factloop.evaluation.mixedqa.building.drawing import draw_open
from factloop.evaluation.mixedqa.building.records import BuildReport, BuiltQuestion
from factloop.evaluation.mixedqa.building.settings import BuildSettings
from factloop.evaluation.mixedqa.building.sources import load_source
from factloop.reports.figures import calls, cost, plural
from factloop.reports.visible import visible


@dataclass(frozen=True)
class BuildAsk:
    """Arguments of the command, beside the settings of the models."""

    out: Path
    sources: tuple[str, ...]
    """Each `NAME=FILE`."""
    systems: tuple[str, ...]
    """Each `SYSTEM=MODEL`."""
    system_urls: tuple[str, ...]
    n: int
    json: str | None
    run_dir: Path | None
    dry_run: bool
    strict: bool
    quiet: bool


def run_build_mixedqa(ask: BuildAsk, flags: Mapping[str, Any]) -> int:
    """Draws, asks and writes; returns the exit code. Raises FactloopError for wrong input."""
    messages = messages_console()
    settings = load_settings(BuildSettings, flags, os.environ, Path.cwd())
    files = pairs_given("--source", ask.sources, "NAME=FILE, such as HotpotQA=hotpot_dev_distractor_v1.json")
    models = models_given("--system", ask.systems, "--system-url", ask.system_urls)
    if str(ask.out) == STANDARD_OUTPUT:
        raise ConfigError("--out: name a file")
    try_outputs((str(ask.out), ask.json), files.values(), settings=settings, run_dir=ask.run_dir)
    note_unsent_prompts(settings.prompts, models, remedy="--system")
    draws = [draw_open(name, load_source(name, place), settings.seed) for name, place in files.items()]
    request = BuildRequest(
        draws, {name: name_of_data(place) for name, place in files.items()}, models, ask.n, str(ask.out)
    )
    if ask.dry_run:
        return _print_estimate(request)
    if ask.out.exists():
        raise ConfigError(f"{ask.out}: is there already; name another file")
    work = _built(request, settings, ask, messages)
    rows, report = run_until_stopped(work, messages, run_dir=ask.run_dir, kept=settings.cache)
    if rows:
        write_atomically(ask.out, "".join(map(to_json_line, rows)))
    write_files({ask.json: partial(to_json, report)})
    if not ask.quiet and ask.json != STANDARD_OUTPUT:
        say(lambda: Terminal().print("\n".join(map(visible, _in_words(report))), soft_wrap=True))
    if not rows:
        messages.print("factloop: no question is left, and nothing was written", soft_wrap=True)
        return UNSCORED
    if ask.strict and report.is_short:
        messages.print("factloop: a source gave fewer questions than wanted (--strict)", soft_wrap=True)
        return UNSCORED
    return DONE


async def _built(
    request: BuildRequest, settings: BuildSettings, ask: BuildAsk, messages: Console
) -> tuple[list[BuiltQuestion], BuildReport]:
    total = sum(min(request.n, len(draw.questions)) for draw in request.draws)
    with counted(messages, "question", total, quiet=ask.quiet or not request.systems) as progress:
        return await build_mixedqa(request, settings, run_dir=ask.run_dir, note=progress.one_more)


def _print_estimate(request: BuildRequest) -> int:
    n_least = sum(min(request.n, len(draw.questions)) for draw in request.draws)
    n_most = sum(len(draw.questions) for draw in request.draws)
    systems = len(request.systems)
    lines = [
        "Nothing was spent. Retries apart:",
        f"  from {plural(n_least * systems, 'model call')}, where every question is answered,",
        f"  to {plural(n_most * systems, 'model call')}, where hardly any is; --max-calls and --budget-usd bound them",
    ]
    say(lambda: Terminal().print("\n".join(lines)))
    return DONE


def _in_words(report: BuildReport) -> Iterator[str]:
    names = ", ".join(one.system for one in report.systems) or "no system asked"
    yield f"{report.out}: {plural(report.n_kept, 'question')} ({names}), seed {report.seed}"
    for one in report.sources:
        fewer = "" if one.n_kept >= report.n_wanted else f", not {report.n_wanted:,}"
        left_out = ", ".join(f"{n:,} {why.value.replace('_', '-')}" for why, n in sorted(one.n_not_open.items()))
        not_open = f"; not open-ended: {left_out}" if left_out else ""
        repeated = f"; {one.n_repeated:,} repeated" if one.n_repeated else ""
        yield f"  {one.source}: {one.n_kept:,}{fewer} of {one.n_read:,} read, {one.n_asked:,} asked{not_open}{repeated}"
        for system, reasons in one.n_unanswered.items():
            said = ", ".join(f"{n:,} {why.value}" for why, n in sorted(reasons.items()))
            yield f"    {system} answers not: {said}"
        if one.n_failed:
            undecided = f"{plural(one.n_failed, 'question')} undecided, as a call failed"
            yield f"    {undecided}: the same command with another --out asks again"
    yield from (f"  the first failure of {said}" for said in report.failures)
    if report.systems:
        yield f"  {calls(report.usage)}; {cost(report.usage)}"
