"""Asks each search for one thing that every search knows, and looks for the documents that are named."""

from __future__ import annotations

import time
from collections.abc import Iterator
from functools import partial

from factloop.doctor.looking import Look, WorkingPart, in_thread
from factloop.doctor.records import Part
from factloop.reports.figures import plural
from factloop.setup.settings import CheckSettings
from factloop.tools.calls.meter import UsageMeter
from factloop.tools.search.build import search_builder
from factloop.tools.search.documents.files import find_files

QUERY = "London"


def looks_at_searches(settings: CheckSettings, meter: UsageMeter) -> Iterator[Look]:
    for name in dict.fromkeys(settings.search):
        yield Look("search", name, partial(_ask, settings, name, meter))


def look_at_documents(part: Part, places: tuple[str, ...]) -> Look:
    return Look(part, ", ".join(places), in_thread(partial(_find, places)))


async def _ask(settings: CheckSettings, name: str, meter: UsageMeter) -> WorkingPart:
    """Costs one query, where queries cost something."""
    tool = search_builder(name)(timeout_s=settings.timeout_s, replayed=False, **settings.of_search(name))
    await tool.areach()
    facts = await tool.aserver_facts()
    started = time.perf_counter()
    hits = await tool.asearch(QUERY, settings.results_per_search)
    meter.searched("search", time.perf_counter() - started, tool.usd_per_query)
    found = f"{plural(len(hits), 'hit')} for “{QUERY}”" if hits else f"answered, but found nothing about “{QUERY}”"
    return WorkingPart(how=(*facts, found), limits=(_price(tool.usd_per_query), f"{settings.timeout_s:g} s a query"))


def _price(usd: float | None) -> str:
    if usd is None:
        return "no budget in USD: its price is unknown"
    return f"{usd:g} USD a query" if usd else "free"


def _find(places: tuple[str, ...]) -> WorkingPart:
    return WorkingPart(how=(plural(len(find_files(places).paths), "file"),))
