"""`factloop research cascade tune` tunes a cascade on labelled claims and saves it to a file."""

from __future__ import annotations

from functools import partial
from typing import Annotated, Literal

from factloop.cli.console import DONE, run_alone, step, stopped_with
from factloop.cli.options import ARGUMENT, Between0And1, Report, command
from factloop.cli.outputs import STANDARD_OUTPUT, deliver, try_outputs, write_output
from factloop.core.errors import ConfigError
from factloop.core.extras import require
from factloop.core.files.json import to_json
from factloop.core.files.lines import name_of_data
from factloop.setup.marks import Mark


class Tune(Report):
    labelled: Annotated[str, Mark(ARGUMENT, "LABELLED")]
    """File of claims with documents (or passages) and labels, or output of research verify (- for standard input)."""
    out: Annotated[str, Mark(metavar="FILE")]
    """Write the cascade to this file, which you can then pass to --cascade."""
    verifier: Annotated[str, Mark(metavar="NAME")] = "baseline"
    """Cheap verifier: baseline, minicheck, minicheck-roberta, hhem, alignscore, factcg, lettucedetect, granite-guardian
    or nli:MODEL. NAME:FOLDER uses your own weights."""
    max_error: Annotated[Between0And1, Mark(metavar="SHARE")] = 0.05
    """Maximum error rate among the claims that the cheap verifier settles."""
    error: Literal["balanced", "false_support", "false_reject"] = "balanced"
    """Whether the cheap verifier may accept and reject claims (balanced), only accept them (false_support), or only
    reject them (false_reject)."""
    level: Annotated[Between0And1, Mark(metavar="SHARE")] = 0.95
    """Required confidence that the error rate does not exceed the maximum."""
    allow_download: bool = False
    """Download weights that are not on this machine yet."""


@command()
def tune(given: Tune) -> int:
    require("evaluation", "factloop research cascade tune")
    from factloop.checking.cascade.records import ErrorKind
    from factloop.evaluation.cascades.tuning import Tune as Wanted
    from factloop.evaluation.cascades.tuning import atune, load_labelled
    from factloop.evaluation.cascades.views import print_cascade, render_cascade_html

    error = ErrorKind(given.error)
    wanted = Wanted(given.verifier, given.max_error, error, given.level, allow_download=given.allow_download)
    if given.out == STANDARD_OUTPUT:
        raise ConfigError("--out must be a file; to print the cascade, use `--json -`")
    try_outputs((given.out, given.json_, given.html), (given.labelled,))
    with stopped_with("Running it again costs nothing."), step("reading the verifier", quiet=given.quiet) as say_step:
        data, rows = name_of_data(given.labelled), load_labelled(given.labelled)
        work = atune(rows, wanted, data=data, scored=lambda done, of: say_step(f"scored {done:,} of {of:,} claims"))
        cascade = run_alone(work)
    write_output(given.out, to_json(cascade))
    deliver(given, cascade, partial(print_cascade, cascade), page=partial(render_cascade_html, cascade))
    return DONE
