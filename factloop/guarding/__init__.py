"""Guards streams: holds back each sentence of an answer until its claims have been checked."""

from __future__ import annotations

from factloop.guarding.guard import StreamGuard
from factloop.guarding.policy import Marks, Stop
from factloop.guarding.records import GuardedSentence, GuardEvent, GuardFinished

__all__ = ["GuardEvent", "GuardFinished", "GuardedSentence", "Marks", "Stop", "StreamGuard"]
