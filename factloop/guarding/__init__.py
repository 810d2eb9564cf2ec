"""Guards streams: checks sentences while the answer is still being written, and releases them after their check."""

from __future__ import annotations

from factloop.guarding.guard import StreamGuard
from factloop.guarding.policy import Marks, Stop
from factloop.guarding.records import GuardedSentence, GuardEvent, GuardFinished

__all__ = ["GuardEvent", "GuardFinished", "GuardedSentence", "Marks", "Stop", "StreamGuard"]
