"""`factloop distractors`: makes the distractors of a response; asks a model only where it is told to."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from factloop.cli.exits import DONE, messages_console, run_alone, stopped_with
from factloop.cli.outputs import STANDARD_OUTPUT, Terminal, say, try_outputs, write_output
from factloop.cli.unsent_prompts import note_unsent_prompts
from factloop.core.files.json import to_json
from factloop.entrance.settings_sources import load_settings
from factloop.trust.distractor_sources import make_distractors
from factloop.trust.settings import TrustSettings
from factloop.trust.views.distractors_terminal import print_distractors


def run_distractors(
    question: str, response: str, references: Sequence[str], n: int, json: str | None, flags: Mapping[str, Any]
) -> int:
    """Makes the distractors and writes them; returns the exit code. Raises FactloopError for wrong input."""
    settings = load_settings(TrustSettings, flags, os.environ, Path.cwd())
    try_outputs((json,), (), settings=settings)
    proposing = settings.judge_model if settings.distractors == "model" else None
    note_unsent_prompts(settings.prompts, [proposing], remedy="--distractors model and --judge-model")
    with stopped_with("Nothing was written.", messages_console()):
        found = run_alone(make_distractors(settings, question, response, n=n, references=references))
    if json is not None:
        write_output(json, to_json(found))
    if json != STANDARD_OUTPUT:
        say(lambda: print_distractors(found, Terminal()))
    return DONE
