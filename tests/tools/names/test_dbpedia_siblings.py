from __future__ import annotations

import asyncio

import pytest

from factloop.tools.names.base import KnowledgeBase, Sibling
from factloop.tools.names.dbpedia import general_first
from tests.tools.names.dbpedia_servers import PLAYER, Servers, linked, thing

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


@pytest.mark.parametrize(
    ("types", "direct", "expected"),
    [
        (
            "Player Agent Person Athlete",
            ["Player Athlete", "Athlete Person", "Person Agent"],
            "Agent Person Athlete Player",
        ),
        ("Author Senator Person", ["Senator Person", "Author Person"], "Person Author Senator"),
        ("City Location Place", ["City Place", "Place Location", "Location Place"], "Location Place City"),  # a circle
        ("b a", [], "b a"),
    ],
)
def test_the_most_general_type_comes_first(types: str, direct: list[str], expected: str) -> None:
    pairs = [(low, high) for low, high in (pair.split() for pair in direct)]
    assert general_first(types.split(), pairs) == tuple(expected.split())
