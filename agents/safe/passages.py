"""The passages that the grounded plan shows: all of a small set of documents, else the best for the claims at hand.

Searches go through the gateway as all others do: metered, paced, cached, asked once.
"""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import accumulate
from typing import Any

from factloop.agents.safe.context import CheckContext
from factloop.agents.safe.judgements import unscored
from factloop.agents.safe.repeats import without_repeats
from factloop.agents.safe.stages import SentenceTask
from factloop.agents.shown import PASSAGE_CHARACTERS
from factloop.core.errors import BudgetExceeded, ConfigError, DeadlineExceeded, FactloopError
from factloop.core.records import Evidence, Judgement
from factloop.tools.calls.together import together
from factloop.tools.linguistics.discourse import context_at, read_prompt, topic_of
from factloop.tools.linguistics.queries import search_query
from factloop.tools.linguistics.references import resolve_references
from factloop.tools.search.base import SearchHit, SearchTool
from factloop.tools.search.gateway import SearchAnswer

STAGE = "search"
FEW_CHARACTERS = 6_000
"""Most characters of documents that are shown whole with every window."""
MOST_PASSAGES, MOST_CHARACTERS = 12, 15_000
"""Most characters shown at once of documents that are not shown whole."""


@dataclass(frozen=True)
class Passages:
    """The passages to judge by."""

    items: tuple[Evidence, ...]
    failure: Judgement | None = None
    """The first search that failed, where another tool answered the same query: there may be more to be found."""


async def passages_for(tasks: Sequence[SentenceTask], context: CheckContext, *, results: int) -> Passages:
    """The passages that a window of sentences is judged by.

    Raises ToolError where no tool answered a query, BudgetExceeded, DeadlineExceeded, ConfigError as the gateway does.
    """
    if (whole := all_of(context.searching.tools)) is not None:
        return Passages(whole)
    return await _searched(await asyncio.to_thread(_queries, tuple(tasks)), context, results=results)


async def passages_of_claims(
    claims: Sequence[str], tasks: Sequence[SentenceTask], context: CheckContext, *, results: int
) -> Passages:
    """The passages that a batch of claims is judged by, found for each of them. Raises as `passages_for`."""
    topics = (topic_of(read_prompt(task.prompt)) for task in tasks)
    queries = [search_query(claim, topic) for claim, topic in zip(claims, topics, strict=True)]
    return await _searched(queries, context, results=results)


def all_of(tools: Sequence[SearchTool]) -> tuple[Evidence, ...] | None:
    """All passages of tools that search few documents, in reading order; None where there are more."""
    hits = _all_hits(tools)
    if hits is None:
        return None
    now = datetime.now(UTC)
    return _numbered(_evidence(hit, "", rank, now) for rank, hit in enumerate(hits, 1))


def is_all_found(tools: Sequence[SearchTool], found: Iterable[Mapping[str, Any]]) -> bool:
    """Whether the evidence found holds all that these tools could ever find: a further search could bring nothing."""
    hits = _all_hits(tools)
    if hits is None:
        return False
    texts: defaultdict[str, str] = defaultdict(str)
    for item in found:
        texts[item["source"]] += f"{item['passage']}\n"
    return all(hit.passage in texts[hit.source] for hit in hits)


def _all_hits(tools: Sequence[SearchTool]) -> list[SearchHit] | None:
    hits: list[SearchHit] = []
    for tool in tools:
        passages = tool.all_passages(FEW_CHARACTERS)
        if passages is None:
            return None
        hits += passages
    if sum(len(hit.passage) + len(hit.title) + len(hit.section or "") for hit in hits) > FEW_CHARACTERS:
        return None
    return hits


async def _searched(queries: Sequence[str], context: CheckContext, *, results: int) -> Passages:
    """The hits of all queries, the best of each first, each passage once."""
    asked = await together(_asked_of_all(query, context) for query in dict.fromkeys(queries))
    answers = [answer for of_query in asked for answer in of_query]
    found = [answer for answer in answers if isinstance(answer, SearchAnswer)]
    failure = next((unscored(answer) for answer in answers if isinstance(answer, FactloopError)), None)
    by_rank = sorted(((rank, place, hit, answer) for place, answer in enumerate(found)
                      for rank, hit in enumerate(answer.hits[:results], 1)), key=lambda one: one[:2])  # fmt: skip
    distinct: dict[tuple[str, str], Evidence] = {}
    for rank, _, hit, answer in by_rank:
        distinct.setdefault((hit.source, hit.passage), _evidence_of(hit, answer, rank))
    return Passages(_numbered(_first(without_repeats(distinct.values(), most=PASSAGE_CHARACTERS))), failure)


async def _asked_of_all(query: str, context: CheckContext) -> Sequence[SearchAnswer | FactloopError]:
    """Each tool's answer, or its failure. Raises the first failure where all failed."""

    async def ask(tool: SearchTool) -> SearchAnswer | FactloopError:
        try:
            return await context.searching.search(tool, query, stage=STAGE, meter=context.meter)
        except (ConfigError, BudgetExceeded, DeadlineExceeded):
            raise
        except FactloopError as error:
            return error

    answers = await together(ask(tool) for tool in context.searching.tools)
    failures = [answer for answer in answers if isinstance(answer, FactloopError)]
    if failures and len(failures) == len(answers):
        raise failures[0]
    return answers


def _first(passages: Sequence[Evidence]) -> Sequence[Evidence]:
    """The best of them, of so many characters together at most; one passage in any case."""
    lengths = accumulate(len(item.passage) for item in passages[:MOST_PASSAGES])
    return passages[: max(1, sum(length <= MOST_CHARACTERS for length in lengths))]


def _queries(tasks: Iterable[SentenceTask]) -> list[str]:
    """A query for each sentence. It reads the whole answer, with a dictionary that is loaded from a file at first."""
    return [_query(task) for task in tasks]


def _query(task: SentenceTask) -> str:
    """A query for a sentence, with the person it means as far as rules can tell."""
    context = context_at(task.response, task.start, task.prompt)
    under = task.above.splitlines()[-1] if task.above and task.start else ""
    return search_query(f"{under} {resolve_references(task.sentence, context)}".strip(), topic_of(context.asked))


def _evidence_of(hit: SearchHit, found: SearchAnswer, rank: int) -> Evidence:
    return _evidence(hit, found.query, rank, found.retrieved_at)


def _evidence(hit: SearchHit, query: str, rank: int, retrieved_at: datetime) -> Evidence:
    return Evidence(
        id="",
        source=hit.source,
        title=hit.title,
        section=hit.section,
        passage=hit.passage,
        query=query,
        rank=rank,
        published=hit.published,
        retrieved_at=retrieved_at,
    )


def _numbered(passages: Iterable[Evidence]) -> tuple[Evidence, ...]:
    return tuple(item.model_copy(update={"id": f"p{number}"}) for number, item in enumerate(passages, 1))
