from __future__ import annotations

import pytest

from factloop.core.errors import ConfigError, ToolError, ToolTimeout
from factloop.tools.calls.blame import raise_blamed


def error(status: int | None, *, retryable: bool = False) -> ToolError:
    made = ToolError("serper: no", tool="serper", status=status, retryable=retryable)
    made.__cause__ = OSError("the cause")
    return made


@pytest.mark.parametrize(
    ("given", "advice"),
    [
        (error(401), "check the key"),
        (error(403), "check the key"),
        (error(404), "check the key"),
        (error(429), "check the key"),  # the quota is used up
        (error(None, retryable=True), "is the server running"),
    ],
)
def test_before_the_first_answer_the_set_up_is_to_blame(given: ToolError, advice: str) -> None:
    with pytest.raises(ConfigError, match=advice) as caught:
        raise_blamed(given, answered=False)
    assert caught.value.__cause__ is given


@pytest.mark.parametrize(
    "given",
    [error(500, retryable=True), error(429, retryable=True), error(400), ToolTimeout(tool="serper", timeout_s=1.0)],
)
def test_a_passing_failure_is_never_the_set_up(given: ToolError) -> None:
    with pytest.raises(ToolError) as caught:
        raise_blamed(given, answered=False)
    assert caught.value is given


@pytest.mark.parametrize("given", [error(401), error(404), error(None, retryable=True)])
def test_after_an_answer_it_is_the_server_s_failure_with_its_own_cause(given: ToolError) -> None:
    with pytest.raises(ToolError) as caught:
        raise_blamed(given, answered=True)
    assert caught.value is given
    assert isinstance(caught.value.__cause__, OSError)
