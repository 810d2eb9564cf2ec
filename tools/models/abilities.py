"""What a model's server can do, learnt from how it answers: modes, log-probabilities, settings that it refuses.

A mode is given up for good only by evidence: the server refuses it and answers in a weaker one, or takes it and replies
as if it had not been asked so. A mode that was heeded once is never given up for one odd reply.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from enum import StrEnum

from pydantic import BaseModel, ConfigDict

from factloop.tools.models.wire import Mode, Reply, is_heeded

MOST_MISSHAPEN = 3
"""Replies in the mode's form that hold no answer, with no readable one before, after which a mode is given up."""


class Concession(StrEnum):
    """What a request does without for a server that refuses it otherwise, in the order in which it is tried."""

    NO_TEMPERATURE = "no_temperature"
    MAX_TOKENS = "max_tokens"
    """The limit of a reply is called so, not `max_completion_tokens`."""
    NO_LIMIT = "no_limit"
    """The reply has no limit of ours."""
    NO_SYSTEM = "no_system"
    """The instructions stand in the user's turn."""


class KnownAbilities(BaseModel):
    """What is known of a server."""

    model_config = ConfigDict(frozen=True)

    heeded: frozenset[Mode] = frozenset()
    unavailable: frozenset[Mode] = frozenset()
    gives_logprobs: bool | None = None
    conceded: frozenset[Concession] = frozenset()


class Abilities:
    """The abilities of one server with one model. All that ask it in a session share them."""

    def __init__(self) -> None:
        self.known = KnownAbilities()
        self._misshapen: Counter[Mode] = Counter()

    def offers(self, mode: Mode) -> bool:
        """Whether the mode is worth trying."""
        return mode not in self.known.unavailable

    @property
    def gives_logprobs(self) -> bool | None:
        """None while it is not known."""
        return self.known.gives_logprobs

    @gives_logprobs.setter
    def gives_logprobs(self, gives: bool) -> None:
        self._learn(gives_logprobs=gives)

    def note_conceded(self, concession: Concession) -> None:
        """The server answers with it, and refuses us without."""
        self._learn(conceded=self.known.conceded | {concession})

    def note_refused(self, modes: Iterable[Mode]) -> None:
        """The server refused these, and answered in a weaker one."""
        self._learn(unavailable=self.known.unavailable | frozenset(modes))

    def note_readable(self, mode: Mode) -> None:
        self._learn(heeded=self.known.heeded | {mode})

    def note_unreadable(self, mode: Mode, reply: Reply) -> None:
        """A reply in this mode could not be read: some servers take the fields of a mode and do not heed them."""
        if mode in self.known.heeded or mode is Mode.TEXT:
            return
        self._misshapen[mode] += 1
        if not is_heeded(mode, reply) or self._misshapen[mode] >= MOST_MISSHAPEN:
            self.note_refused([mode])

    def _learn(self, **changes: object) -> None:
        self.known = self.known.model_copy(update=changes)
