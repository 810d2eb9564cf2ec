"""The invented world as N-Triples of types and labels, like DBpedia's dumps, for `factloop research kb build`.

Years and counts are values, not entities, and are left out.
"""

from __future__ import annotations

from collections.abc import Iterator

from tests.simulator.relations import Pool
from tests.simulator.world import World

RESOURCE, ONTOLOGY = "http://factloop.test/resource/", "http://factloop.test/ontology/"
_TYPE = "http://www.w3.org/1999/02/22-rdf-syntax-ns#type"
_LABEL = "http://www.w3.org/2000/01/rdf-schema#label"

_CLASS: dict[Pool, str] = {
    "person": "Person",
    "institute": "Institute",
    "town": "Town",
    "river": "River",
    "ship": "Ship",
    "work": "WrittenWork",
    "award": "Award",
    "subject": "AcademicSubject",
    "cargo": "Cargo",
}


def knowledge_base_triples(world: World) -> tuple[str, str]:
    """Two N-Triples documents: types and labels."""
    types = (f"<{_iri(name)}> <{_TYPE}> <{ONTOLOGY}{_CLASS[pool]}> .\n" for pool, name in _named(world))
    labels = (f'<{_iri(name)}> <{_LABEL}> "{name}"@en .\n' for _, name in _named(world))
    return "".join(types), "".join(labels)


def _named(world: World) -> Iterator[tuple[Pool, str]]:
    """Names consist of letters and spaces, so they need no escaping."""
    for pool in _CLASS:
        yield from ((pool, name) for name in world.pools[pool])


def _iri(name: str) -> str:
    return RESOURCE + name.replace(" ", "_")
