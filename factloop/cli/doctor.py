"""`factloop doctor`: says what of the set-up works."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from factloop.cli.doctor_database import look_at_database
from factloop.cli.exits import DONE, messages_console, run_alone, stopped_with
from factloop.cli.outputs import STANDARD_OUTPUT, Terminal, say, try_outputs, write_output
from factloop.cli.servers import server_settings
from factloop.core.files.json import to_json
from factloop.doctor.examination import diagnose
from factloop.doctor.views.terminal import print_diagnosis

BROKEN = 2
"""Exit code where something configured does not work."""


def run_doctor(
    flags: Mapping[str, Any], json: str | None, *, controls: bool, database: str | None, folder: Path | None
) -> int:
    """Prints the findings; returns the exit code. Raises ConfigError for settings that cannot be read."""
    check, trust = server_settings(flags)
    for settings in (check, trust):
        try_outputs((json,), (), settings=settings)
    messages = messages_console()
    with stopped_with("Nothing was changed.", messages), messages.status("asking"):
        diagnosis = run_alone(diagnose(check, trust, look_at_database(database, folder), controls=controls))
    if json is not None:
        write_output(json, to_json(diagnosis))
    if json != STANDARD_OUTPUT:
        say(lambda: print_diagnosis(diagnosis, Terminal()))
    return DONE if diagnosis.works else BROKEN
