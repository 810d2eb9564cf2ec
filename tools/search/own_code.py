"""Failures of searches that are the user's own code, which may raise anything."""

from __future__ import annotations

import logging
import os
import re
import traceback

from factloop.core.errors import ToolError
from factloop.tools.calls.scrubbing import HIDDEN, scrubbed, secrets_in
from factloop.tools.models.failures import LONGEST_SAID, one_line, without_keys

log = logging.getLogger(__name__)

_QUERY = re.compile(r"(?<=[\w/])\?[^\s\"'<>()\\?=]*=[^\s\"'<>()\\]*")
"""The query of an address, also of one without its host, as `urllib3` names it."""
_NAMED = re.compile(
    r"""((?:key|token|password|passwd|passphrase|pwd|secret|credential|authorization)s?   # what the name ends in
        \\*["']?[ \t]*(?::(?!//)|=(?!=))[ \t]*)                                           # ":" or "="
        (?:b?\\*"[^"\n]*"?|b?\\*'[^'\n]*'?|(?:(?:Bearer|Basic|Token)[ ])?[^\s"',;&(){}\[\]\\]+)""",
    re.IGNORECASE | re.VERBOSE,
)
"""`password=…`, `x-api-key: …`, `{'api_key': '…'}`, also where what was said is cut off before the second quote."""


def failure_of_own_code(name: str, what: str, error: Exception) -> ToolError:
    """The failure with the error's type and message, without secrets: those of the request and of the environment, the
    queries of addresses, and what is named as a key, a token or a password.

    It is in the log, too; where that has DEBUG, with the whole traceback, without secrets as well.
    """
    said = _without_secrets(one_line(error), error)[:LONGEST_SAID]
    kind = type(error).__name__
    message = f"{name}: {what} failed ({kind if said in ('', kind) else f'{kind}: {said}'})"
    log.warning("%s", message)
    if log.isEnabledFor(logging.DEBUG):
        log.debug("%s", _without_secrets("".join(traceback.format_exception(error)).rstrip(), error))
    return ToolError(message, tool=name)


def _without_secrets(text: str, error: Exception) -> str:
    seen: list[BaseException] = []
    each: BaseException | None = error
    while each is not None and each not in seen:
        seen.append(each)
        if isinstance(each, Exception):
            text = without_keys(text, each)
        each = each.__cause__ or each.__context__
    text = scrubbed(text, secrets_in(os.environ))
    return _NAMED.sub(rf"\1{HIDDEN}", _QUERY.sub(f"?{HIDDEN}", text))
