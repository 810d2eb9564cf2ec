from __future__ import annotations

import json

import pytest

from factloop.core.errors import ToolError
from factloop.tools.names.base import LinkedEntity
from factloop.tools.names.dbpedia import LONGEST_TEXT
from tests.tools.fake_server import Reply
from tests.tools.names.dbpedia_servers import PLAYER, Servers, annotated

KOBE_TYPES = (
    "Http://xmlns.com/foaf/0.1/Person,Wikidata:Q5,DUL:Agent,Schema:Person,"
    "DBpedia:BasketballPlayer,DBpedia:Person,DBpedia:Agent,DBpedia:Athlete"
)
STATE = "Wikidata:Q35657,DBpedia:AdministrativeRegion"


async def linked(servers: Servers, reply: Reply, text: str, question: str = "") -> tuple[LinkedEntity, ...]:
    servers.spotlight.will(reply)
    base = servers.base()
    entities = await base.link(text, question)
    await base.aclose()
    return entities


async def test_names_with_their_types_most_general_first(servers: Servers) -> None:
    text = "In 2006 Kobe scored 81 points."
    reply = annotated(text, ("Kobe_Bryant", "Kobe", 8, KOBE_TYPES), ("Point", "points", 23, ""))
    (kobe,) = await linked(servers, reply, text)
    assert kobe == LinkedEntity("Kobe", 8, 12, "http://dbpedia.org/resource/Kobe_Bryant", PLAYER)
    (request,) = servers.spotlight.received
    assert (request.method, request.path, request.payload) == (
        "POST",
        "/en/annotate",
        {"text": text, "confidence": "0.5"},
    )
    assert request.headers["Accept"] == "application/json"
    assert request.headers["User-Agent"].startswith("factloop/")


async def test_the_question_is_context_and_nothing_else(servers: Servers) -> None:
    question, text = "which state was returned to Spain?", "Florida"
    reply = annotated(
        f"{question}\n\n{text}", ("Spain", "Spain", 28, "DBpedia:Country"), ("Florida", "Florida", 36, STATE)
    )
    (florida,) = await linked(servers, reply, text, question)
    assert (florida.name, florida.start, florida.end) == ("Florida", 0, 7)
    assert servers.spotlight.received[0].payload["text"] == f"{question}\n\n{text}"


@pytest.mark.parametrize(
    ("text", "surface", "offset", "place"),
    [
        ("😀😀 Florida", "Florida", 5, 3),  # Java's offset: each face counts twice
        ("😀😀 Florida Florida", "Florida", 13, 11),
        ("in Florida", "Florida", 0, 3),  # the offset is wrong: found again
        ("in Florida", "Florida", 9_999, 3),
        ("in florida", "Florida", 3, None),
        ("02 and 2017", "2017", 7, None),  # no letter: no name
        ("in Florida", "", 3, None),
    ],
)
async def test_offsets_are_not_believed(
    servers: Servers, text: str, surface: str, offset: int, place: int | None
) -> None:
    entities = await linked(servers, annotated(text, ("Florida", surface, offset, STATE)), text)
    assert [entity.start for entity in entities] == ([] if place is None else [place])
    assert all(text[entity.start : entity.end] == entity.name for entity in entities)


async def test_of_overlapping_names_the_longest_stays(servers: Servers) -> None:
    text = "New York City is big; York too"
    names = [("York", "York", 4), ("NYC", "New York City", 0), ("NY", "New York", 0), ("York", "York", 22)]
    entities = await linked(servers, annotated(text, *((*name, STATE) for name in names)), text)
    assert [(entity.name, entity.start) for entity in entities] == [("New York City", 0), ("York", 22)]


async def test_addresses_that_are_none_are_left_out(servers: Servers) -> None:
    reply = annotated("Florida", ("Florida", "Florida", 0, STATE))
    spoilt = Reply(body=reply.body.replace(b"http://dbpedia.org", b"javascript:"))
    assert await linked(servers, spoilt, "Florida") == ()


async def test_odd_texts_are_sent_as_far_as_possible(servers: Servers) -> None:
    odd = "Flo\ud800rida\x00\x1b 東京 " + "x" * 9_000 + " Florida"
    assert await linked(servers, Reply(body=b'{"@text": "x"}'), odd, "q" * 9_000) == ()
    sent = servers.spotlight.received[0].payload["text"]
    assert sent.endswith("x" * 100)
    assert len(sent) < LONGEST_TEXT + 500
    assert "Flo rida   東京 xx" in sent


@pytest.mark.parametrize(
    "reply",
    [
        {},
        {"Resources": {"@URI": "x"}},
        {"Resources": [{"@URI": "http://dbpedia.org/resource/X"}]},
        {"Resources": [{"@URI": "http://a.example/X", "@surfaceForm": "x", "@offset": "first"}]},
    ],
)
async def test_other_shapes_are_errors(servers: Servers, reply: object) -> None:
    with pytest.raises(ToolError, match="returned invalid annotations"):
        await linked(servers, Reply(body=json.dumps(reply).encode()), "Florida")
