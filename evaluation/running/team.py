"""A team of workers: it gives them items, and gives to others what a dead worker leaves behind."""

from __future__ import annotations

import asyncio
import logging
from collections import deque
from collections.abc import AsyncGenerator, Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any, Generic

from factloop.core.errors import ToolError
from factloop.evaluation.running.run import AT_ONCE, AnyRecord, Item
from factloop.evaluation.running.worker import Wrong
from factloop.setup.settings import CheckSettings

MOST_TRIALS = 3
"""Workers that an item is given to before it is blamed for their deaths."""
STARTED_WITHIN_S = 300.0
"""Seconds without a worker that is ready, after which none is waited for: the cluster may never have room for one."""

_LOGGER = logging.getLogger(__name__)


@dataclass(eq=False)
class _Member:
    """A worker as the team sees it."""

    share: CheckSettings
    actor: Any
    ready: bool = False
    n_under_way: int = 0


@dataclass(frozen=True)
class _Assignment(Generic[Item]):
    """A task of a worker: to judge an item, or to open."""

    member: _Member
    item: Item | None = None
    trial: int = 1


@dataclass
class Team(Generic[Item, AnyRecord]):
    """Gives items to workers and takes back what the dead leave behind."""

    shares: Iterable[CheckSettings]
    items: Iterator[Item]
    describe: Callable[[Item], str]
    """Names an item in messages."""
    hire: Callable[[CheckSettings], Any]
    """Starts an actor."""
    end: Callable[[Any], None]
    n_replacements: int
    """Replacements that may still be hired."""
    members: list[_Member] = field(default_factory=list)
    returned: deque[tuple[Item, int]] = field(default_factory=deque)
    under_way: dict[asyncio.Future[Any], _Assignment[Item]] = field(default_factory=dict)
    last_death: str = ""
    has_more: bool = True
    """Whether there may be items that were given to no worker yet."""
    started_within_s: float = STARTED_WITHIN_S

    async def judged(self) -> AsyncGenerator[AnyRecord, None]:
        """The records as they come. Ends with the last, even if workers are still starting: they may never find room.

        Raises ToolError where no worker is left, or none gets ready in `started_within_s`.
        """
        for share in self.shares:
            self._add(share)
        while self.under_way and not self._is_done():
            is_ready = any(member.ready for member in self.members)
            done, _ = await asyncio.wait(
                self.under_way,
                timeout=None if is_ready else self.started_within_s,
                return_when=asyncio.FIRST_COMPLETED,
            )
            if not done:
                raise ToolError(
                    f"no worker was ready within {self.started_within_s:g} s: the cluster has no room for one, or its "
                    "machines do not answer. What was judged is kept",
                    tool="ray",
                )
            for future in done:
                answer = self._take(future)
                if answer is not None:
                    yield answer
            self._hand_out()

    def _is_done(self) -> bool:
        is_judging = any(asked.item is not None for asked in self.under_way.values())
        return not (self.has_more or self.returned or is_judging)

    def _add(self, share: CheckSettings) -> None:
        member = _Member(share, self.hire(share))
        self.members.append(member)
        self._ask(_Assignment(member))

    def _ask(self, asked: _Assignment[Item]) -> None:
        actor = asked.member.actor
        ref = actor.open.remote() if asked.item is None else actor.judge.remote(asked.item)
        self.under_way[asyncio.wrap_future(ref.future())] = asked
        asked.member.n_under_way += 1

    def _hand_out(self) -> None:
        """Fills up the workers, the least busy first. Raises ToolError where all are dead and items are left."""
        while free := [
            member for member in self.members if member.ready and member.n_under_way < at_once(member.share)
        ]:
            waiting = self._next()
            if waiting is None:
                return
            self._ask(_Assignment(min(free, key=lambda member: member.n_under_way), *waiting))
        if not self.members and (self.returned or next(self.items, None) is not None):
            raise ToolError(f"all workers died: {self.last_death}. What was judged is kept", tool="ray")

    def _next(self) -> tuple[Item, int] | None:
        if self.returned:
            return self.returned.popleft()
        item = next(self.items, None)
        self.has_more = item is not None
        return None if item is None else (item, 1)

    def _take(self, future: asyncio.Future[Any]) -> AnyRecord | None:
        from ray.exceptions import RayActorError  # it is installed, as a worker answered

        asked = self.under_way.pop(future)
        asked.member.n_under_way -= 1
        try:
            answer = future.result()
        except RayActorError as error:
            self._bury(asked, error)
            return None
        if isinstance(answer, Wrong):
            raise answer.raised()
        if asked.item is None:
            asked.member.ready = True
            return None
        record: AnyRecord = answer
        return record

    def _bury(self, asked: _Assignment[Item], error: Exception) -> None:
        """Gives the dead worker's item to others. Raises ToolError for one that too many died of."""
        self.last_death = one_line(error)
        if asked.member in self.members:
            _LOGGER.warning("A worker died (%s); its work goes to others.", type(error).__name__)
            self.members.remove(asked.member)
            self.end(asked.member.actor)  # one that is only out of reach would go on spending
            if self.n_replacements:
                self.n_replacements -= 1
                self._add(asked.member.share)
        if asked.item is None:
            return
        if asked.trial == MOST_TRIALS:
            raise ToolError(
                f"{MOST_TRIALS} workers died while they judged {self.describe(asked.item)}: {self.last_death}",
                tool="ray",
            )
        self.returned.append((asked.item, asked.trial + 1))


def at_once(share: CheckSettings) -> int:
    """Items in work at a time: enough to use a share of the calls in flight, as in one process."""
    return max(2, min(AT_ONCE, share.concurrency // 2)) if share.concurrency else AT_ONCE


def one_line(error: Exception) -> str:
    return " ".join(str(error).split())[:300]
