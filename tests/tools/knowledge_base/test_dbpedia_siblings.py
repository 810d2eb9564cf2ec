"""Siblings by SPARQL: every query is parsed and answered by a real engine over a few triples."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from factloop.core.errors import ConfigError
from factloop.tools.calls.cache import CallCache
from factloop.tools.knowledge_base.base import KnowledgeBase, Sibling
from factloop.tools.knowledge_base.dbpedia import DBpediaKnowledgeBase
from factloop.tools.knowledge_base.dbpedia_queries import PAGE_RANK
from tests.tools.knowledge_base.dbpedia_servers import PLAYER, Servers, linked, thing

TEAM = (
    thing("Kobe_Bryant", "Kobe Bryant", PLAYER, 300_000)
    + thing("LeBron_James", "LeBron James", PLAYER, 400_000)
    + thing("Tim_Duncan", "Tim Duncan", PLAYER, 100_000)
    + thing("Manu_Ginóbili", "Manu Ginóbili", PLAYER, 90_000)
    + thing("Magic_Johnson", "Magic Johnson (basketball)", PLAYER)
    + thing("Serena_Williams", "Serena Williams", PLAYER[:3], 900_000)
    + thing("Ada_Lovelace", "Ada Lovelace", PLAYER[:2], 950_000)
    + thing("Google", "Google", PLAYER[:1], 990_000)
)
KOBE = linked("Kobe Bryant", "Kobe_Bryant")


async def labels(servers: Servers, limit: int = 99, max_queries: int = 4) -> list[str]:
    base = servers.base(max_queries=max_queries)
    found = [sibling.label for sibling in await base.siblings(KOBE, limit)]
    await base.aclose()
    return found


async def test_all_types_first_then_fewer_the_best_known_first(servers: Servers) -> None:
    servers.know(TEAM)
    opened = servers.base()
    base: KnowledgeBase = opened
    assert (
        await base.siblings(KOBE, 99)
        == (
            Sibling("LeBron James", PLAYER),
            Sibling("Tim Duncan", PLAYER),
            Sibling("Manu Ginóbili", PLAYER),
            Sibling("Magic Johnson", PLAYER),  # nothing says how well known
            Sibling("Serena Williams", PLAYER[:3]),
            Sibling("Ada Lovelace", PLAYER[:2]),
            Sibling("Google", PLAYER[:1]),
        )
    )
    await opened.aclose()


async def test_no_more_is_asked_than_wanted(servers: Servers) -> None:
    servers.know(TEAM)
    assert await labels(servers, 2) == ["LeBron James", "Tim Duncan"]
    assert len(servers.queries) == 3, "the order of the types, the name now, the members"
    servers.queries.clear()
    assert await labels(servers, 99, max_queries=2) == (await labels(servers))[:5]
    servers.queries.clear()
    assert await labels(servers, 0) == []
    assert servers.queries == []


async def test_the_best_known_of_many(servers: Servers) -> None:
    servers.know(*(thing(f"P{n:03}", f"Player {n}", PLAYER, (n * 37) % 250) for n in range(250)))
    best = sorted(range(250), key=lambda n: -((n * 37) % 250))
    assert await labels(servers, 3) == [f"Player {n}" for n in best[:3]]


async def test_one_answer_serves_all_entities_of_the_same_types(servers: Servers) -> None:
    servers.know(TEAM)
    base = servers.base()
    tim, duplicate = linked("Tim Duncan", "Tim_Duncan"), linked("Tim Duncan", "Tim_Duncan")
    both = await asyncio.gather(base.siblings(KOBE, 2), base.siblings(tim, 2), base.siblings(duplicate, 2))
    assert [sibling.label for sibling in both[1]] == ["LeBron James", "Kobe Bryant"]
    assert both[1] == both[2]
    assert len(servers.queries) == len(set(servers.queries)) == 4, "as before, and another name to look up"
    assert await base.siblings(KOBE, 3) != ()
    assert len(servers.queries) == 4
    await base.aclose()


async def test_answers_are_kept_on_disk(servers: Servers, tmp_path: Path) -> None:
    servers.know(TEAM)
    found = []
    for _ in range(2):
        cache = CallCache(tmp_path / "cache.sqlite")
        base = servers.base(cache=cache)
        found.append(await base.siblings(KOBE, 99))
        await base.aclose()
        cache.close()
        n_queries = len(servers.queries)
    assert found[0] == found[1]
    assert n_queries == 6


async def test_the_entity_is_not_its_own_sibling_under_its_new_name(servers: Servers) -> None:
    redirect = "<http://dbpedia.org/ontology/wikiPageRedirects>"
    servers.know(
        thing("Ye", "Kanye O. West", PLAYER[:2]),
        thing("Jay-Z", "Jay-Z", PLAYER[:2]),
        f"<http://dbpedia.org/resource/Kanye_West> {redirect} <http://dbpedia.org/resource/Ye> .",
    )
    base = servers.base()
    assert await base.siblings(linked("Kanye West", "Kanye_West", PLAYER[:2]), 9) == (Sibling("Jay-Z", PLAYER[:2]),)
    await base.aclose()


@pytest.mark.parametrize("key", ["S%C3%A3o_Paulo", "São_Paulo"])
async def test_escaped_and_plain_addresses_are_the_same(servers: Servers, key: str) -> None:
    servers.know(thing("São_Paulo", "São Paulo", ["City"]), thing("Lima", "Lima", ["City"]))
    base = servers.base()
    assert await base.siblings(linked("Sampa", key, ["City"]), 9) == (Sibling("Lima", ("City",)),)
    await base.aclose()


HOSTILE = [
    'Dwayne_"The_Rock"_Johnson',
    "back\\slash",
    "brace}_{",
    "x>_._}_DROP_ALL_#",
    "x>} ; <http://dbpedia.org/resource/y",
    "new\nline\r\ttab\x00nul",
    "`|^",
    "100%_of_%zz",
    "二\u202e人\U0001f600",
    "C#_#_[sharp]?",
]


@pytest.mark.parametrize("key", HOSTILE)
async def test_hostile_names_are_only_names(servers: Servers, key: str) -> None:
    servers.know(TEAM)
    base = servers.base()
    found = await base.siblings(linked(key, key, [*PLAYER, 'Person> ?x . } #"', "A\nB", ""]), 99)
    assert "Kobe Bryant" in [sibling.label for sibling in found]
    assert {word for sibling in found for word in sibling.shared} == set(PLAYER)
    assert all("\n" not in query for query in servers.queries)
    await base.aclose()


@pytest.mark.parametrize("key", ["", "Florida", "country:US", "ftp://x/y", "http://[x/y", "http:///", "http://a b/c"])
async def test_entities_of_other_knowledge_bases_have_no_siblings_here(servers: Servers, key: str) -> None:
    base = servers.base()
    entity = linked("Florida", "")
    assert await base.siblings(type(entity)("Florida", 0, 7, key, ("State",)), 9) == ()
    assert servers.queries == []
    await base.aclose()


async def test_labels_that_cannot_stand_in_a_sentence_are_left_out(servers: Servers) -> None:
    bad = ["", " ", "12", "x\u0000y", "y" * 500, "LEBRON JAMES"]
    servers.know(TEAM, *(thing(f"Bad_{n}", label, PLAYER, n + 1) for n, label in enumerate(bad)))
    assert await labels(servers, max_queries=1) == ["LeBron James", "Tim Duncan", "Manu Ginóbili", "Magic Johnson"]


async def test_without_the_ontology_all_subsets_are_asked_for_up_to_the_bound(servers: Servers) -> None:
    servers.store.clear()
    servers.know(TEAM)
    assert await labels(servers, max_queries=1) == ["LeBron James", "Tim Duncan", "Manu Ginóbili", "Magic Johnson"]
    assert len(servers.queries) == 3
    await labels(servers, max_queries=15)
    assert len(servers.queries) == 3 + 2 + 15


async def test_another_measure_of_popularity(servers: Servers) -> None:
    rank = " ".join(f"<{address}>" for address in PAGE_RANK[:1])
    servers.know(TEAM, f"<http://dbpedia.org/resource/Tim_Duncan> {rank} [ <{PAGE_RANK[1]}> 7.5 ] .")
    base = DBpediaKnowledgeBase(sparql_url=servers.sparql.url, popularity=PAGE_RANK)
    assert (await base.siblings(KOBE, 1))[0].label == "Tim Duncan"
    assert PAGE_RANK[1] in base.identity
    await base.aclose()


def test_settings_are_looked_at_before_anything_is_asked() -> None:
    wrong: dict[str, Any]
    for wrong in ({"confidence": 1.5}, {"concurrency": 0}, {"timeout_s": 0}, {"popularity": ["length"]}):
        with pytest.raises(ConfigError):
            DBpediaKnowledgeBase(**wrong)
    with pytest.raises(ConfigError, match="address of dbpedia sparql"):
        DBpediaKnowledgeBase(sparql_url="dbpedia.org")


def test_identity_names_servers_without_passwords() -> None:
    base = DBpediaKnowledgeBase(spotlight_url="http://me:pw@spot.example/annotate", confidence=0.35)
    assert "http://spot.example/annotate" in base.identity
    assert "https://dbpedia.org/sparql" in base.identity
    assert "0.35" in base.identity
    assert "pw" not in base.identity
    assert base.identity != DBpediaKnowledgeBase(spotlight_url="http://spot.example/annotate").identity
