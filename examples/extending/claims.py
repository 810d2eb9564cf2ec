"""`factloop claims`: the claims of a text, a line each."""

from __future__ import annotations

from typing import Annotated

from factloop.cli.console import DONE
from factloop.cli.inputs import read_text
from factloop.cli.options import ARGUMENT, Flags, Quiet, command, taking
from factloop.cli.outputs import deliver, show_lines
from factloop.entrance.settings_sources import load_settings
from factloop.setup.marks import MODEL, Mark
from factloop.setup.settings import CheckSettings


class Claims(Quiet):
    """Arguments of `claims`."""

    answer: Annotated[str, Mark(ARGUMENT, "ANSWER")]
    """File with the text; - for standard input."""


@command(taking(CheckSettings, MODEL))
def claims(given: Claims, flags: Flags) -> int:
    """Prints the claims; returns the exit code. Raises FactloopError for wrong input."""
    from factloop.checking.checker import FactChecker

    settings = load_settings(CheckSettings, flags)
    sourceless = settings.model_copy(update={"search": (), "docs": ()})  # nothing is searched, so nothing is judged
    report = FactChecker(settings=sourceless).check(read_text(given.answer))
    deliver(given, None, show_lines(claim.self_contained for claim in report.claims))
    return DONE
