from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from factloop.tools.calls.answers import Value
from factloop.tools.calls.tape import TapeRequest


class CallOfAStage:
    @property
    def stage(self) -> str:
        return "judge"

    @property
    def keep_s(self) -> float | None:
        return None

    @property
    def recorded_as(self) -> TapeRequest | None:
        return None

    def price(self, value: Value) -> tuple[int, float]:  # noqa: ARG002 - all cost the same
        return 1, 0.5

    def charge_earlier(self, value: Value) -> None:  # noqa: ARG002 - no test of these has a journal
        raise AssertionError

    def read(self, value: Mapping[str, Any]) -> None:
        """All are answers."""
