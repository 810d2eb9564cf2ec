"""`factloop research distractors` generates distractors for a response. By default, no model is used."""

from __future__ import annotations

from functools import partial
from typing import Annotated

from pydantic import Field

from factloop.cli.console import DONE, run_alone, stopped_with
from factloop.cli.options import AsJson, Flags, Texts, command, taking
from factloop.cli.outputs import deliver, try_outputs
from factloop.cli.preparing import note_unsent_prompts
from factloop.core.extras import require
from factloop.entrance.settings_sources import load_settings
from factloop.setup.marks import CACHE, LIMITS, Mark
from factloop.trust.settings import TrustSettings

TAKEN = (
    "embeddings", "kb", "dbpedia", "seed", "distractors", "judge_model", "base_url", "temperature",
    "max_tokens", "prompts",
)  # fmt: skip


class Distractors(AsJson):
    question: str
    """The question that the response answers."""
    response: str
    """The response to generate distractors for."""
    reference: Annotated[Texts, Mark(metavar="TEXT")] = ()
    """A correct answer, which must not become a distractor."""
    n: Annotated[int, Field(ge=1, le=1000)] = 30
    """Number of distractors to generate."""


@command(taking(TrustSettings, *TAKEN, LIMITS, CACHE))
def distractors(given: Distractors, flags: Flags) -> int:
    require("trust", "factloop research distractors")
    from factloop.trust.distractor_sources import make_distractors
    from factloop.trust.views.terminal import print_distractors

    settings = load_settings(TrustSettings, flags)
    try_outputs((given.json_,), (), settings=settings)
    proposing = settings.judge_model if settings.distractors == "model" else None
    note_unsent_prompts(settings.prompts, [proposing], remedy="--distractors model and --judge-model")
    work = make_distractors(settings, given.question, given.response, n=given.n, references=given.reference)
    with stopped_with("Nothing was written."):
        found = run_alone(work)
    deliver(given, found, partial(print_distractors, found))
    return DONE
