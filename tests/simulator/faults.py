"""Faults of one request, drawn by its number, so that the same run always has the same faults."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import replace
from enum import StrEnum

from tests.simulator.protocol import Message
from tests.simulator.settings import Faults

REFUSAL = "I'm sorry, but I can't help with that."


class Fault(StrEnum):
    NONE = "none"
    ERROR_500 = "error_500"
    ERROR_429 = "error_429"
    MALFORMED = "malformed"
    TRUNCATED = "truncated"
    REFUSAL = "refusal"
    HANG = "hang"


def draw(faults: Faults, rng: random.Random) -> Fault:
    """One fault or none, with the configured probabilities."""
    shares = (faults.error_500, faults.error_429, faults.malformed, faults.truncated, faults.refusal, faults.hang)
    drawn = rng.random()
    for fault, share in zip(list(Fault)[1:], shares, strict=True):
        if drawn < share:
            return fault
        drawn -= share
    return Fault.NONE


def spoil(message: Message, fault: Fault, rng: random.Random) -> Message:
    """Applies the fault to the message; errors and hangs leave it unchanged."""
    if fault is Fault.REFUSAL:
        return Message(refusal=REFUSAL)
    if fault is Fault.TRUNCATED:
        return replace(_with_text(message, lambda text: text[: len(text) // 2]), finish_reason="length")
    if fault is Fault.MALFORMED:
        return _with_text(message, rng.choice((_cut, _in_prose, _wrong_field)))
    return message


def shorten(message: Message, max_tokens: int) -> Message:
    """Truncates the message to a limit on completion tokens."""
    if len(message.said) <= 4 * max_tokens:
        return message
    return replace(_with_text(message, lambda text: text[: 4 * max_tokens]), finish_reason="length")


def _with_text(message: Message, change: Callable[[str], str]) -> Message:
    if message.function:
        return replace(message, arguments=change(message.arguments))
    return replace(message, content=change(message.content or ""))


def _cut(text: str) -> str:
    return text[: 2 * len(text) // 3]


def _in_prose(text: str) -> str:
    return f"Here is what I found:\n\n{text}\n\nLet me know if you need more."


def _wrong_field(text: str) -> str:
    """Renames the first field."""
    return text.replace('":', '_":', 1)
