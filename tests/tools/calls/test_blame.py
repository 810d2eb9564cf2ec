from __future__ import annotations

import pytest

from factloop.core.errors import ToolError, ToolTimeout
from factloop.tools.calls.blame import raise_blamed


def error(status: int | None, *, retryable: bool = False) -> ToolError:
    made = ToolError("serper: no", tool="serper", status=status, retryable=retryable)
    made.__cause__ = OSError("the cause")
    return made


@pytest.mark.parametrize(
    "given",
    [error(500, retryable=True), error(429, retryable=True), error(400), ToolTimeout(tool="serper", timeout_s=1.0)],
)
def test_a_passing_failure_is_never_the_set_up(given: ToolError) -> None:
    with pytest.raises(ToolError) as caught:
        raise_blamed(given, answered=False)
    assert caught.value is given
