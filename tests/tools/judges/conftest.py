from __future__ import annotations

from tests.tools.models.conftest import _no_keys_of_this_machine, connect, server

__all__ = ["_no_keys_of_this_machine", "connect", "server"]
