"""How long a reply of a chat model may take."""

from __future__ import annotations

from typing import Any

import pytest

from factloop.setup.chat_model import NEARBY_S, reply_timeout_s
from factloop.setup.settings import CheckSettings

NEARBY, FAR = "http://127.0.0.1:8080/v1", "https://api.example.com/v1"


@pytest.mark.parametrize(
    ("address", "given", "seconds"),
    [
        (NEARBY, {}, NEARBY_S),
        (FAR, {}, 60.0),
        (None, {}, 60.0),
        (NEARBY, {"timeout_s": 5.0}, 5.0),
        (FAR, {"timeout_s": 900.0}, 900.0),
    ],
)
def test_a_model_nearby_may_be_slow_unless_told(address: str | None, given: dict[str, Any], seconds: float) -> None:
    assert reply_timeout_s(CheckSettings.of(**given), address) == seconds
