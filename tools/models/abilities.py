"""Learns from a server's answers which output modes and settings it supports.

A mode counts as unavailable only if the server rejects it and answers in a weaker mode, or accepts it and ignores it. A
single odd reply does not rule out a mode that has worked once.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from enum import StrEnum

from pydantic import BaseModel, ConfigDict

from factloop.tools.models.wire import Mode, Reply, is_heeded

MOST_MISSHAPEN = 3
"""A mode is ruled out after this many unreadable replies and no readable one."""


class Concession(StrEnum):
    """A change that makes the server accept a request. Concessions are tried in this order."""

    NO_TEMPERATURE = "no_temperature"
    MAX_TOKENS = "max_tokens"
    """The token limit is sent as `max_tokens` instead of `max_completion_tokens`."""
    NO_LIMIT = "no_limit"
    NO_SYSTEM = "no_system"
    """The instructions are part of the user's turn."""


class KnownAbilities(BaseModel):
    model_config = ConfigDict(frozen=True)

    heeded: frozenset[Mode] = frozenset()
    unavailable: frozenset[Mode] = frozenset()
    gives_logprobs: bool | None = None
    conceded: frozenset[Concession] = frozenset()


class Abilities:
    """What a server supports for one model, shared by all callers in a session."""

    def __init__(self) -> None:
        self.known = KnownAbilities()
        self._misshapen: Counter[Mode] = Counter()

    def offers(self, mode: Mode) -> bool:
        return mode not in self.known.unavailable

    @property
    def gives_logprobs(self) -> bool | None:
        """Whether the server provides log-probabilities, or None if that is not known yet."""
        return self.known.gives_logprobs

    @gives_logprobs.setter
    def gives_logprobs(self, gives: bool) -> None:
        self._learn(gives_logprobs=gives)

    def note_conceded(self, concession: Concession) -> None:
        self._learn(conceded=self.known.conceded | {concession})

    def note_refused(self, modes: Iterable[Mode]) -> None:
        self._learn(unavailable=self.known.unavailable | frozenset(modes))

    def note_readable(self, mode: Mode) -> None:
        self._learn(heeded=self.known.heeded | {mode})

    def note_unreadable(self, mode: Mode, reply: Reply) -> None:
        """Records an unreadable reply in this mode. Some servers accept the fields of a mode but ignore them."""
        if mode in self.known.heeded or mode is Mode.TEXT:
            return
        self._misshapen[mode] += 1
        if not is_heeded(mode, reply) or self._misshapen[mode] >= MOST_MISSHAPEN:
            self.note_refused([mode])

    def _learn(self, **changes: object) -> None:
        self.known = self.known.model_copy(update=changes)
