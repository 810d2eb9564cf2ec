from __future__ import annotations

import asyncio
from contextlib import closing, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from factloop.core.errors import ToolError
from factloop.tools.calls.answers import RunAnswers, Value
from factloop.tools.calls.cache import CallCache, MemoryAnswers
from factloop.tools.calls.meter import CallCost, UsageMeter
from factloop.tools.calls.tape import Tape, TapeRequest
from tests.tools.calls.stage_calls import CallOfAStage

COST = CallCost(prompt_tokens=10, completion_tokens=2, approximate=False, cost_usd=0.5)


@dataclass
class Question(CallOfAStage):
    key: str = "k"
    meter: UsageMeter = field(default_factory=UsageMeter)
    is_recorded: bool = False
    ends: Literal["answered", "failed", "cut off"] = "answered"
    n_made: int = 0

    @property
    def recorded_as(self) -> TapeRequest | None:
        return TapeRequest("search", [self.key], {"query": self.key}) if self.is_recorded else None

    async def make(self, meter: UsageMeter) -> Value:
        self.n_made += 1
        meter.sent(lambda: COST)
        await asyncio.sleep(0)
        if self.ends == "failed":
            meter.failed(self.stage, 0.25)
            raise ToolError("no", tool="model")
        if self.ends == "cut off":
            raise asyncio.CancelledError  # at a kill not even that is heard
        meter.called(self.stage, COST, 0.25)
        return {"said": "yes"}

    def charge_earlier(self, value: Value) -> None:
        assert value == {"said": "yes"}
        self.meter.called(self.stage, COST, 0.0)

    @property
    def counted(self) -> tuple[int, int]:
        usage = self.meter.snapshot(0.0)
        return usage.calls, usage.cache_hits


async def test_a_tape_answers_before_the_call_is_made_unless_it_does_not_keep_such_calls(tmp_path: Path) -> None:
    path = tmp_path / "tape.jsonl"
    recording = Tape(path, "record", remedy="")
    await RunAnswers(MemoryAnswers(), tape=recording).once(Question(is_recorded=True))
    assert recording.text is not None
    path.write_text(recording.text, encoding="utf-8")
    answers = RunAnswers(MemoryAnswers(), tape=Tape(path, "replay", remedy=""))
    recorded, local = Question(is_recorded=True), Question(key="local")
    assert await answers.once(recorded) == ({"said": "yes"}, "call")
    await answers.once(local)
    assert [(one.n_made, one.counted) for one in (recorded, local)] == [(0, (0, 1)), (1, (1, 0))]


async def test_a_journal_counts_once_what_was_sent_and_cut_off(tmp_path: Path) -> None:
    path, usages = tmp_path / "journal.sqlite", list[tuple[int, int, int, float | None]]()
    for ends in ("cut off", "failed", "answered", "answered"):
        with closing(CallCache(path)) as kept:
            paid, answers, asked = kept.paid(), RunAnswers(kept, journal=True), Question(ends=ends)
            for _ in range(1 + (ends == "answered")):
                with suppress(ToolError, asyncio.CancelledError):
                    await answers.once(asked)
            usage = asked.meter.snapshot(0.0)
            usages.append((paid[0], usage.calls, usage.failed_calls, usage.cost_usd))
    assert usages == [(0, 0, 0, 0.0), (1, 0, 2, 0.5), (1, 1, 1, 1.0), (2, 1, 1, 1.0)]


def test_memory_keeps_the_answers_asked_for_last() -> None:
    kept = MemoryAnswers(most=2)
    kept.put("a", {"n": 1})
    kept.put("b", {"n": 2})
    assert kept.get("a") is not None
    kept.put("c", {"n": 3})
    assert [kept.get(key) is not None for key in "abc"] == [True, False, True]
