"""`factloop eval responses`: SAFE over a data set of long responses."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any

from rich.console import Console

from factloop.checking.estimate import Estimate, estimate, plan_of
from factloop.cli.exits import DONE, messages_console
from factloop.cli.inputs import name_of_data
from factloop.cli.outputs import STANDARD_OUTPUT, Terminal, price, say, try_outputs, write_output
from factloop.cli.prompts_of_checks import note_unsent_prompts_of_check
from factloop.cli.run_over import RunAsk, finish, plan_run, run_over
from factloop.cli.self_support import refuse_self_support
from factloop.core.errors import ConfigError
from factloop.core.files.json import to_json
from factloop.entrance.settings_sources import load_settings
from factloop.evaluation.datasets.mapping import ColumnMapping
from factloop.evaluation.datasets.responses import FIELDS, load_responses
from factloop.evaluation.runs.items import RunItem, response_items
from factloop.reports.figures import plural
from factloop.reports.visible import visible
from factloop.setup.settings import CheckSettings
from factloop.tools.search.build import check_sources


def run_responses(data: str, columns: Sequence[str], ask: RunAsk, flags: Mapping[str, Any], *, dry_run: bool) -> int:
    """Judges, scores and writes; returns the exit code. Raises FactloopError for wrong input."""
    messages = messages_console()
    settings = load_settings(CheckSettings, flags, os.environ, Path.cwd())
    plan = plan_run(ask, settings)
    mapping = ColumnMapping(columns=wanted_columns(columns))
    items = response_items(load_responses(data, mapping, partial(_print_warning, messages)))
    try_outputs((ask.json, ask.html), (data, ask.calibration), settings=settings, run_dir=ask.run_dir)
    refuse_self_support(data, settings.docs, "--docs")
    note_unsent_prompts_of_check(settings)
    if dry_run:
        return print_estimate(items, ask, settings)
    ran = run_over(plan, items, data=name_of_data(data), kind="responses", messages=messages)
    return finish(ask, ran, messages)


def _print_warning(messages: Console, said: str) -> None:
    messages.print(f"factloop: {visible(said)}", soft_wrap=True)


def wanted_columns(given: Sequence[str]) -> dict[str, str]:
    """Field to column. Raises ConfigError unless each is FIELD=COLUMN, and for a field that is unknown or repeated."""
    columns: dict[str, str] = {}
    for one in given:
        name, mark, column = one.partition("=")
        if not mark or not column:
            raise ConfigError(f"--column {one[:80]}: FIELD=COLUMN is needed, such as prompt=question")
        if name not in FIELDS:
            raise ConfigError(f"--column {one[:80]}: there is no field {name[:40]!r}, but {', '.join(FIELDS)}")
        if columns.setdefault(name, column) != column:
            raise ConfigError(f"--column {one[:80]}: {name} is named twice")
    return columns


def print_estimate(items: Iterable[RunItem], ask: RunAsk, settings: CheckSettings) -> int:
    """Prints what the run would cost, and spends nothing; returns the exit code. Raises ConfigError, DataError."""
    check_sources(settings.search, settings.docs)
    given = settings.model_copy(update={"search": ()})  # an item's own documents cost nothing to search
    estimates, plans = [], set()
    for item in islice(items, ask.limit):
        by = settings if item.documents is None else given
        estimates.append(estimate(by, item.response, item.prompt, item.facts))
        plans.add(plan_of(by))
    total = _sum(estimates)
    if ask.json is not None:
        write_output(ask.json, to_json(total))
    if ask.json == STANDARD_OUTPUT:
        return DONE
    shown_plans = " and ".join(map(repr, sorted(plans or {plan_of(settings)})))
    lines = (
        f"Nothing was spent. Estimate for {plural(len(estimates), 'response')}, plan {shown_plans} with "
        f"{settings.model or 'the offline engine'}:",
        f"  {total.n_sentences:,} sentences, about {total.n_claims:,} claims",
        f"  about {total.calls:,} model calls, {total.searches:,} searches",
        f"  about {total.prompt_tokens:,} prompt and {total.completion_tokens:,} completion tokens",
        f"  {price(total.cost_usd)}",
    )
    say(lambda: Terminal().print("\n".join(lines)))
    return DONE


def _sum(estimates: Sequence[Estimate]) -> Estimate:
    costs = [one.cost_usd for one in estimates if one.cost_usd is not None]
    return Estimate(
        n_sentences=sum(one.n_sentences for one in estimates),
        n_claims=sum(one.n_claims for one in estimates),
        calls=sum(one.calls for one in estimates),
        searches=sum(one.searches for one in estimates),
        prompt_tokens=sum(one.prompt_tokens for one in estimates),
        completion_tokens=sum(one.completion_tokens for one in estimates),
        cost_usd=sum(costs) if len(costs) == len(estimates) else None,
    )
