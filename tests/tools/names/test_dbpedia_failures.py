from __future__ import annotations

import json
from pathlib import Path

import pytest

from factloop.core.errors import ToolTimeout
from factloop.tools.calls.cache import CallCache
from tests.tools.fake_server import Reply
from tests.tools.names.dbpedia_servers import PLAYER, RESULTS, Servers, failure_of_siblings, linked, thing

NONE_FOUND = json.dumps({"head": {"vars": []}, "results": {"bindings": []}}).encode()
ESTIMATE = b"Virtuoso 42000 Error The estimated execution time 5000 (sec) exceeds the limit of 1000 (sec)."
CUT = (*RESULTS, ("X-SQL-State", "S1TAT"), ("X-SQL-Message", "query interrupted by result timeout"))


@pytest.mark.parametrize(
    ("reply", "said", "n_requests"),
    [
        (Reply(body=b'{"boolean": true}'), "not in the SPARQL", 1),
        (Reply(body=b'{"results": {"bindings": [{"type": {"type": "uri", "value": "x"}}]}}'), "not in the SPARQL", 1),
        (Reply(status=500, body=ESTIMATE), "status 500", 2),
        (Reply(status=200, body=NONE_FOUND, headers=CUT), "stopped before the answer was complete", 2),
        (Reply(status=206, body=NONE_FOUND, headers=RESULTS), "stopped before the answer was complete", 2),
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
    """The query for the most specific types succeeds and that for more general ones fails: no partial list."""
    servers.know(thing("LeBron_James", "LeBron James", PLAYER))
    solve = servers.sparql.respond
    assert solve is not None

    def is_second(query: str) -> bool:
        return "wikiPageLength" in query and "BasketballPlayer" not in query

    servers.sparql.will(Reply(status=500))
    servers.sparql.respond = lambda asked: None if is_second(asked.params["query"]) else solve(asked)
    assert (await failure_of_siblings(servers.base())).status == 500


async def test_slow_servers(servers: Servers) -> None:
    servers.break_sparql(Reply(body=NONE_FOUND * 1_000, drip_s=0.2))
    assert isinstance(await failure_of_siblings(servers.base(timeout_s=0.3)), ToolTimeout)
    assert len(servers.sparql.received) == 1, "a whole time-out is not spent twice"
    assert servers.sparql.received[0].params["timeout"] == "240", "the server is asked to stop before we do"
