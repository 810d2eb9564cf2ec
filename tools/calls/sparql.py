"""Runs SELECT queries on a SPARQL endpoint. Escapes names and rejects incomplete results."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any
from urllib.parse import unquote

from pydantic import BaseModel, TypeAdapter, ValidationError

from factloop.core.errors import ToolError
from factloop.tools.calls.endpoint import Endpoint
from factloop.tools.calls.json_client import JsonAnswer

ACCEPT = "application/sparql-results+json, application/json;q=0.9"
SERVER_SHARE = 0.8
"""Proportion of our time limit after which the server should stop, because a later answer would be too late."""
LONGEST_IRI = 600
_PARTIAL_CONTENT = 206
_ADDRESS = re.compile(r"https?://[A-Za-z0-9][A-Za-z0-9.-]*(?::[0-9]{1,5})?/[^\ud800-\udfff]*\Z", re.DOTALL)
_ESCAPED_BEYOND_ASCII = re.compile(r"(?:%[89A-Fa-f][0-9A-Fa-f])+")
_STRAY_PERCENT = re.compile(r"%(?![0-9A-Fa-f]{2})")
_FORBIDDEN = frozenset('<>"{}|^`\\[]')

Row = dict[str, str]
_ROWS = TypeAdapter(list[Row])


def iri(address: str) -> str | None:
    """Returns `address` in the form allowed between < and > in a query, or None if it is not an HTTP address.

    Percent-encodes all characters that could close the brackets. Decodes percent-encoded non-ASCII characters, because
    Spotlight encodes them but DBpedia's names do not.
    """
    if len(address) > LONGEST_IRI or not _ADDRESS.match(address):
        return None
    decoded = _ESCAPED_BEYOND_ASCII.sub(lambda match: _decoded(match.group()), address)
    before, hash_mark, fragment = _STRAY_PERCENT.sub("%25", decoded).partition("#")
    return "".join(map(_encoded, before)) + hash_mark + "".join(map(_encoded, fragment.replace("#", "%23")))


def _decoded(escapes: str) -> str:
    try:
        return unquote(escapes, errors="strict")
    except UnicodeDecodeError:
        return escapes


def _encoded(char: str) -> str:
    if char in _FORBIDDEN or char == " " or not char.isprintable():
        return "".join(f"%{byte:02X}" for byte in char.encode())
    return char


class _Term(BaseModel):
    value: str


class _SparqlResults(BaseModel):
    bindings: list[dict[str, _Term]]


class _SparqlAnswer(BaseModel):
    results: _SparqlResults


class SparqlClient:
    def __init__(self, endpoint: Endpoint, timeout_s: float) -> None:
        self._endpoint = endpoint
        # Virtuoso's timeout parameter is in milliseconds. Other servers ignore it.
        self._timeout_ms = str(max(1, round(1000 * SERVER_SHARE * timeout_s)))

    async def select(self, query: str, *names: str) -> list[Row]:
        """Returns the variables' values in every solution. Raises ToolTimeout, or ToolError if a value is missing."""
        fields = {"query": query, "timeout": self._timeout_ms}
        rows: list[Row] = await self._endpoint.ask("GET", fields, partial(self._rows, names), _ROWS)
        return rows

    def _rows(self, names: Sequence[str], answer: JsonAnswer) -> list[Row]:
        tool = self._endpoint.tool
        try:
            bindings = _SparqlAnswer.model_validate(answer.value).results.bindings
            rows = [{name: binding[name].value for name in names} for binding in bindings]
        except (ValidationError, KeyError) as error:
            message = f"{tool}: the answer is not in the SPARQL results format"
            raise ToolError(message, tool=tool) from error
        if answer.status == _PARTIAL_CONTENT or _is_cut(answer.headers, len(rows)):
            # Another attempt often succeeds, because the server then has the data in memory.
            message = f"{tool}: the server stopped before the answer was complete"
            raise ToolError(message, tool=tool, status=answer.status, retryable=True)
        return rows


def _is_cut(headers: Mapping[str, Any], n_rows: int) -> bool:
    most = str(headers.get("X-SPARQL-MaxRows", ""))
    return "X-SQL-State" in headers or (most.isdecimal() and n_rows >= int(most))
