"""The SPARQL queries to DBpedia. Everything put into them is an address made by `sparql.iri`, or a number."""

from __future__ import annotations

from collections.abc import Sequence

from factloop.core.errors import ConfigError
from factloop.tools.knowledge_base.sparql import iri

ONTOLOGY = "http://dbpedia.org/ontology/"
_TYPE = "<http://www.w3.org/1999/02/22-rdf-syntax-ns#type>"
_LABEL = "<http://www.w3.org/2000/01/rdf-schema#label>"
_SUBCLASS = "<http://www.w3.org/2000/01/rdf-schema#subClassOf>"
_REDIRECTS = f"<{ONTOLOGY}wikiPageRedirects>"
MOST_ROWS = 1_000

PAGE_LENGTH = (f"{ONTOLOGY}wikiPageLength",)
"""Length of the Wikipedia article: how well known a thing is, as far as the public endpoint can say it in seconds.

It is one number for each resource, and part of the data that the endpoint loads anyway. Counting the links to a page
(dbo:wikiPageWikiLink) says it better, but for a class such as Person that sums up tens of millions of links, more than
a public endpoint has time for. PageRank (below) says it best, but not every release has been loaded with it.
"""
PAGE_RANK = ("http://purl.org/voc/vrank#hasRank", "http://purl.org/voc/vrank#rankValue")
"""PageRank of the article, for endpoints that have it."""


def class_iri(name: str) -> str:
    """`name` is one of `spotlight.TYPE_NAME`'s."""
    return _bracketed(ONTOLOGY + name)


def path_of(properties: Sequence[str]) -> str:
    """The properties as a path, one after the other. Raises ConfigError for an invalid address."""
    if not properties:
        raise ConfigError("dbpedia: popularity needs at least one property")
    return "/".join(_bracketed(address) for address in properties)


def hierarchy_query(types: Sequence[str]) -> str:
    """?type and ?above: each class with those right above it.

    Not `subClassOf+`: Virtuoso refuses it where neither end is a constant.
    """
    values = " ".join(class_iri(name) for name in sorted(types))
    return (
        f"SELECT DISTINCT ?type ?above WHERE {{ VALUES ?type {{ {values} }} ?type {_SUBCLASS} ?above . "
        f"FILTER(isIRI(?above)) }} ORDER BY ?type ?above LIMIT {MOST_ROWS}"
    )


def redirect_query(entity: str) -> str:
    """?target: what the page of this entity is called now, if Wikipedia has renamed it. `entity` is from `iri`."""
    return f"SELECT DISTINCT ?target WHERE {{ <{entity}> {_REDIRECTS} ?target . FILTER(isIRI(?target)) }} LIMIT 10"


def members_query(types: Sequence[str], popularity: str, n_rows: int) -> str:
    """?entity and ?label of the best known things of all these types.

    It does not name the entity whose siblings are wanted: one answer serves all entities of the same types. Labels are
    joined last, to `n_rows` things instead of all.
    """
    classes = ", ".join(class_iri(name) for name in types)
    best = (
        f"SELECT ?entity ?popularity WHERE {{ ?entity {_TYPE} {classes} . "
        f"OPTIONAL {{ ?entity {popularity} ?popularity }} }} ORDER BY DESC(?popularity) LIMIT {min(n_rows, MOST_ROWS)}"
    )
    return (
        f'SELECT ?entity ?label WHERE {{ {{ {best} }} ?entity {_LABEL} ?label . FILTER(LANG(?label) = "en") }} '
        f"ORDER BY DESC(?popularity) ?entity LIMIT {MOST_ROWS}"
    )


def _bracketed(address: str) -> str:
    safe = iri(address)
    if safe is None:
        raise ConfigError(f"dbpedia: {address!r} is not the address of a class or property")
    return f"<{safe}>"
