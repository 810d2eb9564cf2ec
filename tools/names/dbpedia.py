"""A knowledge base backed by DBpedia. Spotlight links names, and SPARQL finds similar entities (paper, A.5.1)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any
from urllib.parse import unquote

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError, model_validator

from factloop.core.errors import ToolError
from factloop.tools.calls.cache import AnswersKept
from factloop.tools.calls.endpoint import RETRY, Endpoint
from factloop.tools.calls.json_client import JsonAnswer, user_agent
from factloop.tools.calls.retry import RetryPolicy
from factloop.tools.calls.sparql import ACCEPT, SparqlClient, iri
from factloop.tools.calls.tape import Tape
from factloop.tools.calls.together import together
from factloop.tools.calls.urls import checked_base_url
from factloop.tools.names.base import LinkedEntity, Sibling, without_overlap
from factloop.tools.names.inflection import fitted, fold, is_usable, plain_label

SPOTLIGHT_URL = "https://api.dbpedia-spotlight.org/en/annotate"
SPARQL_URL = "https://dbpedia.org/sparql"
ONTOLOGY = "http://dbpedia.org/ontology/"
CONFIDENCE = 0.5
"""Minimum confidence of Spotlight in a link, from 0 to 1."""
MAX_TYPES = 8
"""Maximum number of types to keep per entity, most specific first."""
MOST_ROWS, _ROWS_STEP = 1_000, 100
"""The number of rows is rounded up in steps, so that almost all limits share one query and its cached answer."""
_TYPE = "<http://www.w3.org/1999/02/22-rdf-syntax-ns#type>"
_LABEL = "<http://www.w3.org/2000/01/rdf-schema#label>"
_SUBCLASS = "<http://www.w3.org/2000/01/rdf-schema#subClassOf>"
_POPULARITY = f"<{ONTOLOGY}wikiPageLength>"
"""Length of the Wikipedia article, as a measure of fame. The number of links to a page would be better, but the public
endpoint would have to count tens of millions of links for a class such as Person.
"""

LONGEST_TEXT = 4_000
"""Maximum number of characters of a text to send. Names after that are not linked."""
LONGEST_QUESTION = 400
TYPE_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_.-]{0,79}")
_PREFIX = "DBpedia:"
_UNSENDABLE = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ud800-\udfff]")
"""Lone surrogates cannot be encoded in UTF-8, and Spotlight's XML allows no control characters. A space replaces each
such character, so that all others keep their positions.
"""


class DBpediaKnowledgeBase:
    """Queries two public servers, which are free but slow. Answers are stored in `cache`, or in memory by default.

    The first query requests entities that share all types, the second those that share all but the most specific type,
    and so on, up to `max_queries` queries. If a server has been unreachable for `retry.patience_s`, it is tried only
    occasionally and other requests to it fail immediately. Raises ConfigError if a URL is invalid.
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
        max_queries: int = 4,
    ) -> None:
        def endpoint(tool: str, url: str, accept: str) -> Endpoint:
            return Endpoint(
                tool=tool,
                url=checked_base_url(url, f"address of {tool}"),
                timeout_s=timeout_s,
                headers={"Accept": accept, "User-Agent": user_agent()},
                cache=cache,
                tape=tape,
                retry=retry,
            )

        self._max_queries = max_queries
        spotlight = endpoint("dbpedia spotlight", spotlight_url, "application/json")
        sparql = endpoint("dbpedia sparql", sparql_url, ACCEPT)
        self._endpoints = spotlight, sparql
        self._spotlight, self._sparql = SpotlightClient(spotlight), SparqlClient(sparql, timeout_s)
        self.identity = f"dbpedia 3 spotlight={spotlight.identity} sparql={sparql.identity} max_queries={max_queries}"

    async def link(self, text: str, question: str) -> tuple[LinkedEntity, ...]:
        found = [entity for entity in await self._spotlight.annotate(text, question) if iri(entity.key)]
        ordered = await together(self._general_first(entity.types) for entity in found)
        return tuple(replace(entity, types=types) for entity, types in zip(found, ordered, strict=True))

    async def siblings(self, entity: LinkedEntity, limit: int) -> tuple[Sibling, ...]:
        """Returns up to `limit` siblings. Entities from other knowledge bases have none.

        Raises ToolError or ToolTimeout, including when a server truncates its answer.
        """
        key = iri(entity.key)
        types = tuple(name for name in entity.types if TYPE_NAME.fullmatch(name))
        if limit < 1 or key is None or not types:
            return ()
        types = await self._general_first(types)
        renamed = await self._sparql.select(redirect_query(key), "target")
        own = {key, *(target for row in renamed if (target := iri(row["target"])) is not None)}
        seen = {fold(entity.name), *(fold(label_of(address)) for address in own)}
        siblings: list[Sibling] = []
        n_rows = min(MOST_ROWS, _ROWS_STEP * -(-(2 * limit + 2) // _ROWS_STEP))
        for n_shared in range(len(types), max(0, len(types) - self._max_queries), -1):
            shared = types[:n_shared]
            for row in await self._sparql.select(members_query(shared, n_rows), "entity", "label"):
                address = iri(row["entity"])
                label = fitted(row["label"], entity.name, label_of(entity.key), is_person="Person" in types)
                if address is not None and address not in own and is_usable(label) and fold(label) not in seen:
                    seen.add(fold(label))
                    siblings.append(Sibling(label, shared))
            if len(siblings) >= limit:
                break
        return tuple(siblings[:limit])

    async def aclose(self) -> None:
        for endpoint in self._endpoints:
            await endpoint.aclose()

    async def _general_first(self, types: Sequence[str]) -> tuple[str, ...]:
        if len(types) == 1:
            return tuple(types)
        rows = await self._sparql.select(hierarchy_query(types), "type", "above")
        pairs = ((row["type"].removeprefix(ONTOLOGY), row["above"].removeprefix(ONTOLOGY)) for row in rows)
        return general_first(types, pairs)[-MAX_TYPES:]


class _Resource(BaseModel):
    model_config = ConfigDict(coerce_numbers_to_str=True)

    uri: str = Field(alias="@URI")
    types: str | None = Field(default=None, alias="@types")
    surface: str = Field(alias="@surfaceForm")
    offset: int = Field(alias="@offset")


_RESOURCES = TypeAdapter(list[_Resource])


class _Annotation(BaseModel):
    text: str | None = Field(default=None, alias="@text")
    resources: list[_Resource] = Field(default=[], alias="Resources")

    @model_validator(mode="after")
    def _is_an_answer(self) -> _Annotation:
        """An answer without `Resources` that repeats the text means that nothing was found."""
        if not self.model_fields_set:
            raise ValueError("needs @text or Resources")
        return self


class SpotlightClient:
    """Asks Spotlight which DBpedia resources a text names, where it names them, and which types they have."""

    def __init__(self, endpoint: Endpoint) -> None:
        self._endpoint = endpoint

    async def annotate(self, text: str, question: str) -> list[LinkedEntity]:
        """Returns the entities in `text`, in order and without overlap. Raises ToolError or ToolTimeout.

        The question is sent before the text, to help Spotlight choose between namesakes. Links from bare numbers are
        ignored, because Spotlight mistakes "02" for a film.
        """
        kept = text[:LONGEST_TEXT]
        if not any(map(str.isalpha, kept)):
            return []
        lead = f"{question.strip()[:LONGEST_QUESTION]}\n\n" if question.strip() else ""
        sent = _UNSENDABLE.sub(" ", lead + kept)
        found: list[LinkedEntity] = []
        asked = {"text": sent, "confidence": f"{CONFIDENCE:g}"}
        for value in await self._endpoint.ask("POST", asked, self._read, _RESOURCES):
            one = _Resource.model_validate(value)
            start, types = _place(one, sent) - len(lead), dbpedia_types(one.types or "")
            if start >= 0 and types and any(map(str.isalpha, one.surface)):
                end = start + len(one.surface)
                found.append(LinkedEntity(text[start:end], start, end, one.uri, types))
        return without_overlap(found, lambda entity: (entity.start, entity.end))

    def _read(self, answer: JsonAnswer) -> list[dict[str, Any]]:
        try:
            annotation = _Annotation.model_validate(answer.value)
        except ValidationError as error:
            where = ".".join(str(part) for part in error.errors()[0]["loc"])
            message = f"{self._endpoint.tool} returned invalid annotations (at {where!r})"
            raise ToolError(message, tool=self._endpoint.tool) from error
        return [resource.model_dump(by_alias=True) for resource in annotation.resources]


def dbpedia_types(types: str) -> tuple[str, ...]:
    names = (part.strip() for part in types.split(","))
    own = (name.removeprefix(_PREFIX) for name in names if name.startswith(_PREFIX))
    return tuple(dict.fromkeys(name for name in own if TYPE_NAME.fullmatch(name) and name != "Thing"))


def _place(resource: _Resource, sent: str) -> int:
    units = sent.encode("utf-16-le")[: 2 * max(0, resource.offset)]
    told = len(units.decode("utf-16-le", "ignore"))
    places = (match.start() for match in re.finditer(re.escape(resource.surface), sent))
    return min(places, key=lambda place: abs(place - told), default=-1)


def label_of(address: str) -> str:
    """Returns the label in a DBpedia URL, which is the text after `/resource/`, as in `.../resource/Boise,_Idaho`."""
    _, _, title = address.partition("/resource/")
    return plain_label(unquote(title or address.rpartition("/")[2], errors="replace").replace("_", " "))


def hierarchy_query(types: Sequence[str]) -> str:
    """Selects pairs of a class (?type) and a class directly above it (?above).

    `subClassOf+` is not used, because Virtuoso requires one of its ends to be a constant.
    """
    values = " ".join(f"<{ONTOLOGY}{name}>" for name in sorted(types))
    return (
        f"SELECT DISTINCT ?type ?above WHERE {{ VALUES ?type {{ {values} }} ?type {_SUBCLASS} ?above . "
        f"FILTER(isIRI(?above)) }} ORDER BY ?type ?above LIMIT {MOST_ROWS}"
    )


def redirect_query(entity: str) -> str:
    """Selects ?target, the current page of an entity that Wikipedia has renamed. `entity` must be a result of `iri`."""
    redirects = f"<{ONTOLOGY}wikiPageRedirects>"
    return f"SELECT DISTINCT ?target WHERE {{ <{entity}> {redirects} ?target . FILTER(isIRI(?target)) }} LIMIT 10"


def members_query(types: Sequence[str], n_rows: int) -> str:
    """Selects ?entity and ?label of the best-known things that have all of these types.

    The query does not mention the entity itself, so all entities of the same types can share one answer. Labels are
    joined last, so that only `n_rows` labels are read.
    """
    classes = ", ".join(f"<{ONTOLOGY}{name}>" for name in sorted(types))
    best = (
        f"SELECT ?entity ?popularity WHERE {{ ?entity {_TYPE} {classes} . "
        f"OPTIONAL {{ ?entity {_POPULARITY} ?popularity }} }} ORDER BY DESC(?popularity) LIMIT {min(n_rows, MOST_ROWS)}"
    )
    return (
        f'SELECT ?entity ?label WHERE {{ {{ {best} }} ?entity {_LABEL} ?label . FILTER(LANG(?label) = "en") }} '
        f"ORDER BY DESC(?popularity) ?entity LIMIT {MOST_ROWS}"
    )


def general_first(types: Sequence[str], direct: Iterable[tuple[str, str]]) -> tuple[str, ...]:
    """Sorts types by how many of the other types are above them, fewest first. Ties keep the given order.

    Each pair in `direct` is a class and a class directly above it. Equivalent classes may form cycles.
    """
    above: dict[str, set[str]] = {name: set() for name in types}
    for name, higher in direct:
        above.setdefault(name, set()).add(higher)
    for _ in above:
        for reached in above.values():
            reached.update(*(above.get(name, ()) for name in tuple(reached)))
    return tuple(sorted(types, key=lambda name: len(above[name].intersection(types) - {name})))
