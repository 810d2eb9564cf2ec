"""Connections to PostgreSQL on which no statement waits for ever for a silent server.

A server that hangs, or a pool before it, takes a statement and says nothing. TCP sees no fault in that, and
PostgreSQL's own time limits need a server that works, so each connection keeps the time itself.
"""

from __future__ import annotations

import time
from collections.abc import Generator
from typing import Any

from psycopg import Connection, OperationalError
from sqlalchemy import Engine, event

_NOTHING_CAME = 0
"""The state in which psycopg goes on with a statement from time to time."""


def bound_silence(engine: Engine, seconds: float) -> None:
    """Makes the engine's connections give up a statement after so many seconds without a word from the server."""

    class BoundedConnection(Connection[Any]):
        def wait(self, gen: Generator[Any, Any, Any], *args: Any, **options: Any) -> Any:
            return super().wait(_bounded(self, gen, seconds), *args, **options)

    def connect(_dialect: object, _record: object, args: Any, options: Any) -> Any:
        return BoundedConnection.connect(*args, **options)

    event.listen(engine, "do_connect", connect)


def _bounded(connection: Connection[Any], gen: Generator[Any, Any, Any], seconds: float) -> Generator[Any, Any, Any]:
    """The steps of a statement. After so many silent seconds closes the connection and raises OperationalError."""
    heard_at = time.monotonic()
    try:
        wanted = next(gen)
        while True:
            ready = yield wanted
            if ready != _NOTHING_CAME:
                heard_at = time.monotonic()
            elif time.monotonic() - heard_at > seconds:
                connection.close()  # a late answer would be taken for that to the next statement
                raise OperationalError(f"no answer within {seconds:g} s")
            wanted = gen.send(ready)
    except StopIteration as end:
        return end.value
