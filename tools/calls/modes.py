"""Choices that settings name, apart from the modules that heed them: settings are read before those are needed."""

from __future__ import annotations

from typing import Literal

TapeMode = Literal["replay", "record", "new"]
"""`replay` makes no call, a missing answer is an error; `record` starts a new tape; `new` adds what is missing."""
TracingMode = Literal["off", "on", "content"]
PATIENCE_S = 120.0
"""Give up on a server that has accepted no request for this long."""
REST_S = 60.0
"""The longest time for which a server that was given up is left alone before one call tries it again."""
