"""Errors and warnings of a MediaWiki, which come by status 200, told apart by their codes.

A wiki older than version 1.29, of 2017, gives warnings without codes: one text for each module.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from factloop.core.errors import ToolError
from factloop.tools.calls.json_client import JsonAnswer
from factloop.tools.calls.retry_after import retry_after_s

_BUSY = frozenset({"maxlag", "ratelimited", "cirrussearch-too-busy-error"})
_PASSING = frozenset({"readonly", "cirrussearch-backend-error", "internal_api_error_DBQueryError"})
_DEPRECATIONS = frozenset({"deprecation", "deprecation-help"})
_PARAMETER_NOTES = frozenset({"unrecognizedparams", "unrecognizedvalues", "outofrange", "integeroutofrange"})
_SEARCH_MODULES = frozenset({"search", "query+search"})
_MODULES_ABOVE = frozenset({"main", "query"})
_OF_SEARCH = re.compile(r"\b(?:generator|gsrsearch|gsrwhat)\b")
"""Parameters without which a search is not the one that was asked for. No wiki translates their names."""
_LONGEST_TEXT = 200


@dataclass(frozen=True)
class _Note:
    """An error or a warning; without a code where the wiki gives none."""

    module: str
    code: str
    text: str


def raise_error(name: str, answer: JsonAnswer) -> None:
    """Raises ToolError where the answer is an error; one that says how long to wait where the wiki is busy."""
    given = answer.value.get("errors") or answer.value.get("error")
    if not given:
        return
    note = _note(given[0] if isinstance(given, list) else given)
    code = note.code[:100]
    raise ToolError(
        f"{name}: error {code!r}",
        tool=name,
        retry_after_s=retry_after_s(answer.headers.get("Retry-After"), datetime.now(UTC)),
        retryable=code in _BUSY | _PASSING,
        wants_pause=code in _BUSY,
    )


def refuse_unfinished(name: str, answer: dict[str, Any]) -> None:
    """Raises ToolError where the wiki warns that it did not search as it was asked to, or not to the end.

    That is not "found nothing"; an unknown warning of the search counts as one of these. Notes about parameters do no
    harm, except for those that the search depends on: a wiki without TextExtracts gives two about that.
    """
    for note in _warnings(answer.get("warnings")):
        said = repr(note.text[:_LONGEST_TEXT])
        if _is_of_parameters(note) and _OF_SEARCH.search(note.text):
            raise ToolError(f"{name}: does not take the search: {said}", tool=name)
        if note.module in _SEARCH_MODULES and note.code not in _PARAMETER_NOTES | _DEPRECATIONS:
            raise ToolError(f"{name}: warns of its search: {said}", tool=name, retryable=True)


def _is_of_parameters(note: _Note) -> bool:
    return note.code in _PARAMETER_NOTES or (not note.code and note.module in _MODULES_ABOVE)


def _warnings(given: object) -> list[_Note]:
    if isinstance(given, list):
        return [_note(one) for one in given]
    if isinstance(given, dict):
        return [_Note(module, "", _words(one)) for module, one in given.items()]
    return []


def _note(given: object) -> _Note:
    fields = given if isinstance(given, dict) else {}
    return _Note(str(fields.get("module")), str(fields.get("code")), str(fields.get("text")))


def _words(warning: object) -> str:
    """What a module warns of. The key depends on the version of the format that the wiki knows."""
    return " ".join(map(str, warning.values())) if isinstance(warning, dict) else str(warning)
