"""DBpedia as a knowledge base: Spotlight links names, SPARQL finds entities of the same types (paper, A.5.1)."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from itertools import islice

from factloop.core.errors import ConfigError
from factloop.tools.calls.endpoint import RETRY, Endpoint
from factloop.tools.calls.memory_answers import AnswersKept
from factloop.tools.calls.retry import RetryPolicy
from factloop.tools.calls.tape import Tape
from factloop.tools.calls.together import together
from factloop.tools.calls.urls import checked_base_url
from factloop.tools.knowledge_base.base import LinkedEntity, Sibling
from factloop.tools.knowledge_base.dbpedia_labels import fitted, is_usable, label_of
from factloop.tools.knowledge_base.dbpedia_queries import (
    MOST_ROWS,
    ONTOLOGY,
    PAGE_LENGTH,
    hierarchy_query,
    members_query,
    path_of,
    redirect_query,
)
from factloop.tools.knowledge_base.dbpedia_types import Supers, closed, fewer_and_fewer, general_first, most_specific
from factloop.tools.knowledge_base.sparql import ACCEPT, Row, SparqlClient, iri, user_agent
from factloop.tools.knowledge_base.spotlight import TYPE_NAME, SpotlightClient, SpotlightMention

SPOTLIGHT_URL = "https://api.dbpedia-spotlight.org/en/annotate"
SPARQL_URL = "https://dbpedia.org/sparql"
_ROWS_STEP = 100
"""Rows are asked for in such steps, so that nearly every limit asks, and keeps, the same query."""


class DBpediaKnowledgeBase:
    """Asks two public servers, which cost nothing and are slow; every answer is kept in `cache`, in memory without one.

    `confidence` in [0, 1] is Spotlight's: higher links fewer names. Of an entity's types the `max_types` most specific
    are kept, and at most `max_queries` sets of them are asked for. `popularity` is a path of properties that leads from
    an entity to a number. A server that does not answer three times in a row is asked only once a minute: everything
    else fails at once. Raises ConfigError for invalid addresses, and settings out of range.
    """

    def __init__(
        self,
        *,
        spotlight_url: str = SPOTLIGHT_URL,
        sparql_url: str = SPARQL_URL,
        cache: AnswersKept | None = None,
        tape: Tape | None = None,
        timeout_s: float = 15.0,
        retry: RetryPolicy = RETRY,
        concurrency: int = 4,
        confidence: float = 0.5,
        max_types: int = 8,
        max_queries: int = 4,
        popularity: Sequence[str] = PAGE_LENGTH,
        rng: random.Random | None = None,
    ) -> None:
        if not 0.0 <= confidence <= 1.0:
            raise ConfigError(f"dbpedia: confidence is from 0 to 1, not {confidence:g}")
        if min(concurrency, max_types, max_queries) < 1:
            raise ConfigError("dbpedia: concurrency, max_types and max_queries are at least 1")
        self._popularity = path_of(popularity)
        self._max_types, self._max_queries = max_types, max_queries

        def endpoint(tool: str, url: str, accept: str) -> Endpoint:
            return Endpoint(
                tool=tool,
                url=checked_base_url(url, f"address of {tool}"),
                timeout_s=timeout_s,
                headers={"Accept": accept, "User-Agent": user_agent()},
                cache=cache,
                tape=tape,
                retry=retry,
                concurrency=concurrency,
                rng=rng,
            )

        self._endpoints = (
            endpoint("dbpedia spotlight", spotlight_url, "application/json"),
            endpoint("dbpedia sparql", sparql_url, ACCEPT),
        )
        self._spotlight = SpotlightClient(self._endpoints[0], confidence)
        self._sparql = SparqlClient(self._endpoints[1], timeout_s)
        spotlight, sparql = (endpoint.identity for endpoint in self._endpoints)
        self._identity = (
            f"dbpedia spotlight={spotlight} confidence={confidence:g} sparql={sparql} popularity={self._popularity} "
            f"max_types={max_types} max_queries={max_queries}"
        )

    @property
    def identity(self) -> str:
        return self._identity

    async def link(self, text: str, question: str) -> tuple[LinkedEntity, ...]:
        """The names in the first `spotlight.LONGEST_TEXT` characters of `text`. Raises ToolError, ToolTimeout."""
        mentions = [mention for mention in await self._spotlight.annotate(text, question) if iri(mention.uri)]
        return tuple(await together(self._linked(text, mention) for mention in mentions))

    async def siblings(self, entity: LinkedEntity, limit: int) -> tuple[Sibling, ...]:
        """At most `limit`. An entity of another knowledge base has none.

        Raises ToolError, ToolTimeout: an answer that a server cut short is a failure, too.
        """
        key = iri(entity.key)
        types = tuple(name for name in entity.types if TYPE_NAME.fullmatch(name))
        if limit < 1 or key is None or not types:
            return ()
        supers = await self._supers(types)
        types = general_first(types, supers)[-self._max_types :]
        own = {key, *await self._renamed(key)}
        found = _SiblingList(entity, own, is_person="Person" in types)
        n_rows = min(MOST_ROWS, _ROWS_STEP * -(-(2 * limit + 2) // _ROWS_STEP))
        for shared in islice(fewer_and_fewer(types, supers), self._max_queries):
            query = members_query(most_specific(shared, supers), self._popularity, n_rows)
            found.add(await self._sparql.select(query, "entity", "label"), shared)
            if len(found.siblings) >= limit:
                break
        return tuple(found.siblings[:limit])

    async def aclose(self) -> None:
        for endpoint in self._endpoints:
            await endpoint.aclose()

    async def _linked(self, text: str, mention: SpotlightMention) -> LinkedEntity:
        types = general_first(mention.types, await self._supers(mention.types))[-self._max_types :]
        return LinkedEntity(text[mention.start : mention.end], mention.start, mention.end, mention.uri, types)

    async def _supers(self, types: Sequence[str]) -> Supers:
        """DBpedia's order among these types; empty where the endpoint lacks the ontology."""
        if len(types) == 1:
            return {}
        rows = await self._sparql.select(hierarchy_query(types), "type", "above")
        return closed(pair for row in rows if (pair := _classes(row)) is not None)

    async def _renamed(self, key: str) -> Iterator[str]:
        rows = await self._sparql.select(redirect_query(key), "target")
        return (target for row in rows if (target := iri(row["target"])) is not None)


class _SiblingList:
    """The siblings found so far, no name twice, never the entity itself."""

    def __init__(self, entity: LinkedEntity, own: set[str], *, is_person: bool) -> None:
        self.siblings: list[Sibling] = []
        self._name, self._own_label, self._is_person = entity.name, label_of(entity.key), is_person
        self._seen_entities = set(own)
        self._seen_labels = {entity.name.casefold(), *(label_of(address).casefold() for address in own)}

    def add(self, rows: Sequence[Row], shared: tuple[str, ...]) -> None:
        for row in rows:
            address = iri(row["entity"])
            if address is None or address in self._seen_entities:
                continue
            self._seen_entities.add(address)
            label = fitted(row["label"], self._name, self._own_label, is_person=self._is_person)
            if is_usable(label) and label.casefold() not in self._seen_labels:
                self._seen_labels.add(label.casefold())
                self.siblings.append(Sibling(label, shared))


def _classes(row: Row) -> tuple[str, str] | None:
    """Both names where both are classes of DBpedia's own ontology."""
    names = [row[place].removeprefix(ONTOLOGY) for place in ("type", "above")]
    return (names[0], names[1]) if all(map(TYPE_NAME.fullmatch, names)) and "Thing" not in names else None
