"""`factloop cascade tune`: reads labelled claims, and writes the file that `--cascade` reads."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

from rich.console import Console

from factloop.checking.cascade.records import CascadeFile
from factloop.cli.exits import DONE, messages_console, run_alone, stopped_with
from factloop.cli.inputs import name_of_data
from factloop.cli.outputs import STANDARD_OUTPUT, Terminal, say, try_outputs, write_files
from factloop.core.errors import ConfigError
from factloop.core.files.json import to_json
from factloop.evaluation.cascades.tuning import LabelledRow, Tune, atune, load_labelled
from factloop.evaluation.cascades.views.html import render_cascade_html
from factloop.evaluation.cascades.views.terminal import print_cascade


@dataclass(frozen=True)
class TuneAsk:
    """Arguments of the command, beside the tuning itself."""

    labelled: str
    out: str
    json: str | None
    html: str | None
    quiet: bool


def run_tune(ask: TuneAsk, wanted: Tune) -> int:
    """Reads, scores, tunes and writes; returns the exit code. Raises FactloopError for wrong input."""
    messages = messages_console()
    if ask.out == STANDARD_OUTPUT:
        raise ConfigError("--out -: the cascade is a file; --json - prints the same")
    try_outputs((ask.out, ask.json, ask.html), (ask.labelled,))
    with stopped_with("It costs nothing to run it again.", messages):
        data = name_of_data(ask.labelled)
        cascade = _tuned(load_labelled(ask.labelled), wanted, data, messages, quiet=ask.quiet)
    as_json = partial(to_json, cascade)
    write_files({ask.out: as_json})
    write_files({ask.json: as_json, ask.html: partial(render_cascade_html, cascade)})
    if not ask.quiet and STANDARD_OUTPUT not in (ask.json, ask.html):
        say(lambda: print_cascade(cascade, Terminal()))
    return DONE


def _tuned(rows: list[LabelledRow], wanted: Tune, data: str, messages: Console, *, quiet: bool) -> CascadeFile:
    if quiet or not messages.is_terminal:
        return run_alone(atune(rows, wanted, data=data))
    with messages.status("reading the verifier") as status:

        def scored(done: int, of: int) -> None:
            status.update(f"scored {done:,} of {of:,} claims")

        return run_alone(atune(rows, wanted, data=data, scored=scored))
