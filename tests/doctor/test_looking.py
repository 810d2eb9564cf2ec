from __future__ import annotations

import asyncio

import pytest

from factloop.core.errors import ConfigError
from factloop.doctor.looking import Look, WorkingPart


def look(error: BaseException) -> Look:
    async def ask() -> WorkingPart:
        raise error

    return Look("search", "made-up", ask)


async def test_a_failure_is_told_in_its_own_words() -> None:
    found = await look(ConfigError("no\nkey")).taken(5.0)
    assert (found.state, found.problem, found.name) == ("fails", "no key", "made-up")


@pytest.mark.parametrize("error", [ValueError("Bearer s3cret"), TimeoutError("s3cret"), KeyError("s3cret")])
async def test_what_nobody_expects_is_a_finding_too(error: Exception) -> None:
    found = await look(error).taken(5.0)
    assert (found.state, found.problem) == ("fails", f"the test raised {type(error).__name__}")
    assert "report it" in found.advice


async def test_a_look_ends() -> None:
    async def ask() -> WorkingPart:
        await asyncio.Event().wait()
        raise AssertionError

    found = await Look("search", "made-up", ask).taken(0.01)
    assert (found.state, found.problem) == ("fails", "made-up: no answer within 0.01 s")


async def test_whoever_cancels_is_heeded() -> None:
    with pytest.raises(asyncio.CancelledError):
        await look(asyncio.CancelledError()).taken(5.0)
