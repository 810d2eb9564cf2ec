"""While a check is under way the garbage collector goes through all objects rarely; before and after as usual."""

from __future__ import annotations

import gc

import pytest
from pydantic import PrivateAttr

from factloop import FactChecker
from factloop.core.garbage import CONTAINERS_MORE
from factloop.tools.search.base import SearchHit, SearchTool

TEXT = "Ada Lovelace was born in London."


class Watching(SearchTool):
    """Finds one passage, and notes the threshold of the collector at that moment."""

    name: str = "watching"
    description: str = "Finds one passage."
    _seen: list[int] = PrivateAttr(default_factory=list)

    @property
    def identity(self) -> str:
        return "watching"

    def search(self, query: str, limit: int) -> list[SearchHit]:  # noqa: ARG002 - as a search is called
        self._seen.append(gc.get_threshold()[0])
        return [SearchHit(source="https://made-up.test", passage=TEXT)]


@pytest.mark.parametrize("streamed", [False, True], ids=["report", "stream"])
async def test_rounds_are_rare_during_a_check_alone(streamed: bool) -> None:
    before, search = gc.get_threshold(), Watching()
    async with FactChecker(search=search, cache=False) as checker:
        if streamed:
            async for _ in checker.astream(TEXT):
                pass
        else:
            await checker.acheck(TEXT)
    assert search._seen
    assert set(search._seen) == {CONTAINERS_MORE}
    assert gc.get_threshold() == before
