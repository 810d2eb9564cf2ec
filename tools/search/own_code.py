"""Failures of searches that are the user's own code, which may raise anything."""

from __future__ import annotations

import logging
import os

from factloop.core.errors import ToolError
from factloop.tools.calls.scrubbing import scrubbed, secrets_in
from factloop.tools.models.failures import LONGEST_SAID, one_line, without_keys

log = logging.getLogger(__name__)


def failure_of_own_code(name: str, what: str, error: Exception) -> ToolError:
    """The failure with the error's type and message, without the secrets of the request and of the environment.

    It is in the log, too, with the whole traceback where that has DEBUG.
    """
    said = scrubbed(without_keys(one_line(error), error), secrets_in(os.environ))[:LONGEST_SAID]
    kind = type(error).__name__
    message = f"{name}: {what} failed ({kind if said in ('', kind) else f'{kind}: {said}'})"
    log.warning("%s", message, exc_info=error if log.isEnabledFor(logging.DEBUG) else None)
    return ToolError(message, tool=name)
