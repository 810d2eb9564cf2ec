"""`factloop research distractors` generates distractors, and `kb build` builds a table of entities for them."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Annotated

from pydantic import Field

from factloop.cli.console import DONE, run_alone, step, stopped_with
from factloop.cli.options import AsJson, Flags, Quiet, Texts, command, taking
from factloop.cli.outputs import STANDARD_OUTPUT, deliver, show_lines, try_outputs
from factloop.cli.preparing import note_unsent_prompts
from factloop.core.errors import ConfigError
from factloop.core.extras import require
from factloop.entrance.settings_sources import load_settings
from factloop.reports.figures import plural
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


class Build(Quiet):
    types: Annotated[tuple[Path, ...], Mark(metavar="FILE")]
    """Dump of DBpedia's instance types (N-Triples or Turtle)."""
    labels: Annotated[tuple[Path, ...], Mark(metavar="FILE")]
    """Dump of DBpedia's labels. Only English labels are used."""
    out: Annotated[Path, Mark(metavar="FILE")]
    """Write the table to this file."""
    popularity: Annotated[tuple[Path, ...], Mark(metavar="FILE")] = ()
    """Dump of page links or ranks, used to put better-known entities first."""


@command()
def build(given: Build) -> int:
    from factloop.tools.names.build import build_table

    if str(given.out) == STANDARD_OUTPUT:
        raise ConfigError("cannot write a table to standard output: set --out to a file")
    try_outputs((str(given.out),), [str(dump) for dump in (*given.types, *given.labels, *given.popularity)])
    with stopped_with(f"{given.out} was not written."), step("reading the dumps", quiet=given.quiet) as say_step:
        stats = build_table(
            given.types,
            given.labels,
            given.out,
            popularity=given.popularity,
            progress=lambda dump, triples: say_step(f"{dump.name}: {triples:,} triples"),
        )
    left_out = f"; left out {stats.unlabelled:,} without a label" if stats.unlabelled else ""
    of = plural(stats.types, "type")
    said = f"{given.out}: {stats.entities:,} entities of {of}, {plural(stats.names, 'name')}{left_out}"
    deliver(given, None, show_lines([said]))
    return DONE
