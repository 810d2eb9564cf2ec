"""First searches of claims, begun while other sentences are still read: each is waited for by its claim alone."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from types import TracebackType
from typing import Any, Self

from factloop.agents.nodes import Update


class SearchesAhead:
    """The searches of one check that were begun before their claims have branches; leaving it ends those under way.

    A claim that turns out to repeat another has no branch: what its search brings, or fails by, is left.
    """

    def __init__(self) -> None:
        self._of_claim: dict[str, asyncio.Task[Update]] = {}

    def begin(self, claim: str, search: Coroutine[Any, Any, Update]) -> None:
        self._of_claim[claim] = asyncio.create_task(search)

    async def result(self, claim: str) -> Update | None:
        """What the search for a claim, by its id, brings; None where none was begun. Raises ConfigError."""
        search = self._of_claim.get(claim)
        return None if search is None else await search

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for search in self._of_claim.values():
            search.cancel()
        await asyncio.gather(*self._of_claim.values(), return_exceptions=True)
