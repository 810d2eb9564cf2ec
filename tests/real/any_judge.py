"""Tests for a judge on any real server; a module that imports them has a fixture `judge`."""

from __future__ import annotations

import asyncio
from contextlib import aclosing
from pathlib import Path
from typing import Any

import pytest

from factloop import FactChecker
from factloop.core.events import CheckFinished

ANSWER = "Mira Halden founded the Merrow Institute. It stands in Arden.\n"
QUESTION = "Who founded the Merrow Institute?"
SOURCE = "The Merrow Institute in Arden was founded by Mira Halden in 1884.\n"
LONG = " ".join(f"Mira Halden founded the Merrow Institute number {number}." for number in range(60))
"""An answer that takes a model minutes."""


async def test_a_stopped_check_leaves_the_server_to_the_next(judge: dict[str, Any], tmp_path: Path) -> None:
    (tmp_path / "institute.md").write_text(SOURCE, encoding="utf-8")
    async with FactChecker(**judge, docs=str(tmp_path)) as checker:
        stopped = asyncio.create_task(checker.acheck(LONG))
        await asyncio.sleep(0.05)  # a call is under way, or about to be
        stopped.cancel()
        with pytest.raises(asyncio.CancelledError):
            await stopped
        async with aclosing(checker.astream(ANSWER)) as events:
            seen = [event async for event in events]
    last = seen[-1]
    assert isinstance(last, CheckFinished)
    assert len(last.report.sentences) == 2
