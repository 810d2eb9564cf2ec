"""Types and defaults for settings, which are loaded before other code."""

from __future__ import annotations

from typing import Literal

TapeMode = Literal["replay", "record", "new"]
"""`replay` makes no calls and fails if an answer is missing. `record` starts a new tape. `new` adds missing answers."""
TracingMode = Literal["off", "on", "content"]
PATIENCE_S = 120.0
"""Seconds without an accepted request after which we give up on a server."""
REST_S = 60.0
"""Maximum number of seconds between attempts to reach a server that we gave up on."""
