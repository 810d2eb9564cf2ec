"""`factloop eval factscore`: SAFE on facts that people split and labelled."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from factloop.cli.exits import messages_console
from factloop.cli.inputs import name_of_data
from factloop.cli.outputs import try_outputs, write_output
from factloop.cli.prompts_of_checks import note_unsent_prompts_of_check
from factloop.cli.responses import print_estimate
from factloop.cli.run_over import RunAsk, finish, plan_run, run_over
from factloop.cli.self_support import refuse_self_support
from factloop.core.errors import ConfigError
from factloop.entrance.settings_sources import load_settings
from factloop.evaluation.datasets.factscore import load_factscore
from factloop.evaluation.datasets.folder import find_part, named_part
from factloop.evaluation.runs.items import RunItem, labelled_item
from factloop.evaluation.runs.predictions import predictions_of
from factloop.evaluation.runs.reading import read_run
from factloop.setup.settings import CheckSettings

DATASET, PART = "factscore", "bio"


def run_factscore(
    data: str | None,
    systems: Sequence[str],
    predictions: str | None,
    ask: RunAsk,
    flags: Mapping[str, Any],
    *,
    dry_run: bool,
) -> int:
    """Judges, compares and writes; returns the exit code. Raises FactloopError for wrong input."""
    messages = messages_console()
    settings = load_settings(CheckSettings, flags, os.environ, Path.cwd())
    plan = plan_run(ask, settings)
    if predictions is not None and ask.run_dir is None:
        raise ConfigError("--predictions reads the verdicts from the run's folder: give --run-dir, too")
    place = str(find_part(DATASET, PART, data))
    inputs = (place, ask.calibration)
    try_outputs((ask.json, ask.html, predictions), inputs, settings=settings, run_dir=ask.run_dir)
    refuse_self_support(place, settings.docs, "--docs")
    note_unsent_prompts_of_check(settings)
    items = factscore_items(place, systems)
    if dry_run:
        return print_estimate(items, ask, settings)
    named = named_part(DATASET, PART) if data is None else name_of_data(data)
    ran = run_over(plan, items, data=named, kind="factscore", messages=messages)
    if predictions is not None:
        assert ask.run_dir is not None  # refused above
        write_output(predictions, predictions_of(read_run(ask.run_dir).responses(), dataset=DATASET))
    return finish(ask, ran, messages)


def factscore_items(place: str | Path, systems: Sequence[str] = ()) -> Iterator[RunItem]:
    """The responses with their facts and labels, one at a time; abstentions are there, without facts.

    Raises DataError, when it gets there, for a malformed row, and at the end ConfigError for a system of which there is
    no response.
    """
    absent = set(systems)
    for response in load_factscore(place):
        absent.discard(response.system)
        if not systems or response.system in systems:
            yield labelled_item(response)
    if absent:
        raise ConfigError(f"{place}: no response of {', '.join(sorted(absent))}")
