"""Choices that settings name, apart from the modules that heed them: settings are read before those are needed."""

from __future__ import annotations

from typing import Literal

TapeMode = Literal["replay", "record", "new"]
"""`replay` makes no call, a missing answer is an error; `record` makes the tape anew; `new` adds what is missing."""
TracingMode = Literal["off", "on", "content"]
PATIENCE_S = 120.0
"""How long a server may accept no request before it is given up."""
