"""Spotlight and a SPARQL endpoint on loopback; a real engine answers the SPARQL queries."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import pytest
from pyoxigraph import QueryResultsFormat, QuerySolutions, RdfFormat, Store

from factloop.core.errors import ToolError
from factloop.tools.calls.cache import CallCache
from factloop.tools.calls.retry import RetryPolicy
from factloop.tools.names.base import LinkedEntity
from factloop.tools.names.dbpedia import DBpediaKnowledgeBase
from tests.tools.fake_server import FakeServer, ReceivedRequest, Reply, serving

RESULTS = (("Content-Type", "application/sparql-results+json"),)
AT_ONCE = RetryPolicy(attempts=2, timeout_attempts=1, base_s=0.01, patience_s=1.0)

ONTOLOGY = """
@prefix dbo: <http://dbpedia.org/ontology/> . @prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
@prefix owl: <http://www.w3.org/2002/07/owl#> .
dbo:Agent rdfs:subClassOf owl:Thing . dbo:Person rdfs:subClassOf dbo:Agent .
dbo:Person rdfs:subClassOf <http://www.ontologydesignpatterns.org/ont/dul/DUL.owl#NaturalPerson> .
dbo:Athlete rdfs:subClassOf dbo:Person . dbo:BasketballPlayer rdfs:subClassOf dbo:Athlete .
"""
PLAYER = ("Agent", "Person", "Athlete", "BasketballPlayer")


def thing(name: str, label: str, types: Sequence[str], length: int | None = None) -> str:
    """Turtle for one resource; `name` as in its address, `label` as in a text."""
    subject = f"<http://dbpedia.org/resource/{name}>"
    lines = [f"{subject} a <http://dbpedia.org/ontology/{kind}> ." for kind in types]
    lines += [f"{subject} <http://www.w3.org/2000/01/rdf-schema#label> {json.dumps(label)}@en ."]
    if length is not None:
        lines.append(f"{subject} <http://dbpedia.org/ontology/wikiPageLength> {length} .")
    return "\n".join(lines) + "\n"


def annotated(text: str, *resources: tuple[str, str, int, str]) -> Reply:
    """Spotlight's reply from (local name, surface form, offset, types) tuples."""
    value = {
        "@text": text,
        "@confidence": "0.5",
        "Resources": [
            {
                "@URI": f"http://dbpedia.org/resource/{name}",
                "@support": "999",
                "@types": types,
                "@surfaceForm": surface,
                "@offset": str(offset),
                "@similarityScore": "0.99",
            }
            for name, surface, offset, types in resources
        ],
    }
    return Reply(body=json.dumps(value).encode())


@dataclass
class Servers:
    """`spotlight` follows a script; `sparql` queries the store unless given a reply."""

    spotlight: FakeServer
    sparql: FakeServer
    store: Store = field(default_factory=Store)
    queries: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.sparql.respond = self._solve
        self.store.load(ONTOLOGY.encode(), RdfFormat.TURTLE)

    def know(self, *turtle: str) -> None:
        self.store.load("".join(turtle).encode(), RdfFormat.TURTLE)

    def break_sparql(self, *replies: Reply) -> None:
        self.sparql.respond = None
        self.sparql.will(*replies)

    def base(
        self, *, timeout_s: float = 5.0, cache: CallCache | None = None, max_queries: int = 4
    ) -> DBpediaKnowledgeBase:
        return DBpediaKnowledgeBase(
            spotlight_url=self.spotlight.url + "/en/annotate",
            sparql_url=self.sparql.url + "/sparql",
            timeout_s=timeout_s,
            cache=cache,
            retry=AT_ONCE,
            max_queries=max_queries,
        )

    def _solve(self, request: ReceivedRequest) -> Reply:
        query = request.params["query"]
        self.queries.append(query)
        try:
            solutions = self.store.query(query)
        except SyntaxError as error:
            return Reply(status=400, body=f"Virtuoso 37000 Error: {error}".encode(), headers=())
        assert isinstance(solutions, QuerySolutions)
        body = solutions.serialize(format=QueryResultsFormat.JSON)
        assert body is not None
        return Reply(body=body, headers=RESULTS)


def linked(name: str, key: str, types: Sequence[str] = PLAYER) -> LinkedEntity:
    return LinkedEntity(name, 0, len(name), f"http://dbpedia.org/resource/{key}", tuple(types))


@pytest.fixture
def servers(monkeypatch: pytest.MonkeyPatch) -> Iterator[Servers]:
    for variable in ("HTTP_PROXY", "http_proxy"):
        monkeypatch.delenv(variable, raising=False)
    with serving() as spotlight, serving() as sparql:
        yield Servers(spotlight, sparql)


async def failure_of_siblings(base: DBpediaKnowledgeBase) -> ToolError:
    with pytest.raises(ToolError) as caught:
        await base.siblings(linked("Kobe Bryant", "Kobe_Bryant"), 5)
    await base.aclose()
    return caught.value
