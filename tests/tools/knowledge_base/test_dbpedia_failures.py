"""Every way in which the two servers can fail: an error after bounded retries, and nothing kept."""

from __future__ import annotations

import asyncio
import json
import socket
from pathlib import Path

import pytest

from factloop.core.errors import ToolError, ToolTimeout
from factloop.tools.calls.cache import CallCache
from factloop.tools.knowledge_base.dbpedia import DBpediaKnowledgeBase
from tests.tools.fake_server import Reply
from tests.tools.knowledge_base.dbpedia_servers import (
    AT_ONCE,
    PLAYER,
    RESULTS,
    Servers,
    annotated,
    failure_of_siblings,
    linked,
    thing,
)

HTML = (("Content-Type", "text/html"),)
NONE_FOUND = json.dumps({"head": {"vars": []}, "results": {"bindings": []}}).encode()
ESTIMATE = b"Virtuoso 42000 Error The estimated execution time 5000 (sec) exceeds the limit of 1000 (sec)."
CUT = (*RESULTS, ("X-SQL-State", "S1TAT"), ("X-SQL-Message", "query interrupted by result timeout"))


@pytest.mark.parametrize(
    ("reply", "said", "n_requests"),
    [
        (Reply(body=b"<!DOCTYPE html><title>Maintenance</title>", headers=HTML), "not JSON: text/html", 1),
        (Reply(body=b"not json", headers=(("Content-Type", "text/plain"),)), "not JSON: text/plain", 1),
        (Reply(body=b'{"boolean": true}'), "another shape", 1),
        (Reply(body=b'{"results": {"bindings": [{"type": {"type": "uri", "value": "x"}}]}}'), "another shape", 1),
        (Reply(body=b'{"results": {"bindings": [{"type": "x"}]}}'), "another shape", 1),
        (Reply(status=500, body=ESTIMATE), "status 500", 2),
        (Reply(status=503, body=b"<h1>busy", headers=HTML), "status 503", 2),
        (Reply(status=400, body=b"Virtuoso 37000 Error"), "status 400", 1),
        (Reply(status=200, body=NONE_FOUND, headers=CUT), "stopped before the answer was complete", 2),
        (Reply(status=206, body=NONE_FOUND, headers=RESULTS), "stopped before the answer was complete", 2),
        (Reply(body=NONE_FOUND, headers=(*RESULTS, ("X-SPARQL-MaxRows", "0"))), "stopped before", 2),
        (Reply(body=NONE_FOUND, content_length=500), "broke off", 2),
        (Reply(body=NONE_FOUND[:20]), "no whole JSON", 2),
        (Reply(body=b""), "empty", 2),
    ],
)
async def test_answers_of_sparql_that_are_none(
    servers: Servers, tmp_path: Path, reply: Reply, said: str, n_requests: int
) -> None:
    cache = CallCache(tmp_path / "cache.sqlite")
    servers.break_sparql(reply)
    error = await failure_of_siblings(servers.base(cache=cache))
    assert said in str(error)
    assert "dbpedia sparql" in str(error)
    assert len(servers.sparql.received) == n_requests
    servers.break_sparql(Reply(body=NONE_FOUND, headers=RESULTS))
    mended = servers.base(cache=cache)
    assert await mended.siblings(linked("Kobe Bryant", "Kobe_Bryant"), 5) == (), "failures are not kept"
    await mended.aclose()
    cache.close()


async def test_a_later_failure_does_not_give_the_first_half(servers: Servers) -> None:
    """The most specific types were answered, the more general ones were not: that is not a list of the best known."""
    servers.know(thing("LeBron_James", "LeBron James", PLAYER))
    solve = servers.sparql.respond
    assert solve is not None
    servers.sparql.will(Reply(status=500))
    servers.sparql.respond = lambda asked: None if "/Athlete> ." in asked.params["query"] else solve(asked)
    assert (await failure_of_siblings(servers.base())).status == 500


async def test_slow_servers(servers: Servers) -> None:
    servers.break_sparql(Reply(body=NONE_FOUND * 1_000, drip_s=0.2))
    assert isinstance(await failure_of_siblings(servers.base(timeout_s=0.3)), ToolTimeout)
    assert len(servers.sparql.received) == 1, "a whole time-out is not spent twice"
    assert servers.sparql.received[0].params["timeout"] == "240", "the server is asked to stop before we do"


async def test_a_server_that_asks_for_a_pause_gets_it(servers: Servers, slept: list[float]) -> None:
    busy = Reply(status=429, headers=(("Retry-After", "0.2"),))
    servers.break_sparql(busy, busy, Reply(body=NONE_FOUND, headers=RESULTS))
    base = servers.base()
    assert await base.siblings(linked("Florida", "Florida", ["State"]), 5) == ()
    assert sum(seconds >= 0.2 for seconds in slept) >= 2
    await base.aclose()


async def test_a_server_that_asks_for_a_long_pause_is_left_alone(servers: Servers) -> None:
    servers.break_sparql(Reply(status=429, headers=(("Retry-After", "100"),)))
    base = servers.base()
    for said in ("status 429", "not asked again for now", "not asked again for now"):
        async with asyncio.timeout(60.0):
            with pytest.raises(ToolError, match=said):
                await base.siblings(linked("Kobe Bryant", "Kobe_Bryant"), 5)
    assert len(servers.sparql.received) == 1
    await base.aclose()


async def test_endless_refusals_end(servers: Servers) -> None:
    servers.break_sparql(Reply(status=429, headers=(("Retry-After", "0.4"),)))
    assert (await failure_of_siblings(servers.base())).status == 429


def unused_port() -> int:
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        return int(unused.getsockname()[1])


async def test_a_hundred_questions_to_an_unreachable_server() -> None:
    address = f"http://127.0.0.1:{unused_port()}"
    refused = f"dbpedia spotlight: connection refused at {address.removeprefix('http://')}"
    base = DBpediaKnowledgeBase(spotlight_url=address, sparql_url=address, retry=AT_ONCE)
    said = []
    for number in range(100):
        with pytest.raises(ToolError) as caught:
            await base.link(f"Florida {number}", "")
        said.append(str(caught.value))
    assert said[0] == refused
    assert set(said[1:]) == {f"dbpedia spotlight: not asked again for now ({refused})"}
    await base.aclose()


async def test_one_server_down_does_not_silence_the_other(servers: Servers) -> None:
    servers.spotlight.will(Reply(status=503))
    servers.know(thing("LeBron_James", "LeBron James", PLAYER))
    base = servers.base()
    for number in range(4):
        with pytest.raises(ToolError):
            await base.link(f"Florida {number}", "")
    assert len(servers.spotlight.received) == 3
    assert len(await base.siblings(linked("Kobe Bryant", "Kobe_Bryant"), 1)) == 1
    await base.aclose()


async def test_a_refused_text_says_nothing_of_the_server(servers: Servers) -> None:
    servers.spotlight.will(*[Reply(status=400)] * 5, annotated("x"))
    base = servers.base()
    for number in range(5):
        with pytest.raises(ToolError, match="status 400"):
            await base.link(f"sade {number}", "")
    assert await base.link("Florida", "") == ()
    await base.aclose()
