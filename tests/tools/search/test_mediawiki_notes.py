"""Errors and warnings as MediaWiki 1.39 words them, by status 200."""

from __future__ import annotations

import json
import random

import pytest

from factloop import FactChecker
from factloop.core.errors import ToolError
from factloop.tools.calls.answers import RunAnswers
from factloop.tools.calls.memory_answers import MemoryAnswers
from factloop.tools.calls.meter import UsageMeter
from factloop.tools.calls.retry import RetryPolicy
from factloop.tools.search.gateway import SearchAnswer, SearchGateway
from factloop.tools.search.wikipedia import WikipediaSearch
from tests.tools.fake_server import FakeServer, Reply

ADA = {
    "batchcomplete": True,
    "query": {
        "pages": [
            {
                "pageid": 7,
                "ns": 0,
                "title": "Ada",
                "index": 1,
                "fullurl": "https://en.wikipedia.org/wiki/Ada",
                "extract": "Ada Lovelace was born in London in 1815.",
            }
        ]
    },
}
LAGGED = {
    "errors": [
        {
            "code": "maxlag",
            "text": "Waiting for a database server: 7.5 seconds lagged.",
            "data": {"host": "db1", "lag": 7.5, "type": "db"},
            "module": "main",
        }
    ],
    "docref": "See https://en.wikipedia.org/w/api.php for API usage.",
}
LAGGED_BEFORE_1_29 = {
    "error": {
        "code": "maxlag",
        "info": "Waiting for a database server: 7.5 seconds lagged.",
        "host": "db1",
        "lag": 7.5,
        "type": "db",
    }
}


def lagged(retry_after: str, value: object = LAGGED) -> Reply:
    headers = (("Content-Type", "application/json"), ("Retry-After", retry_after), ("X-Database-Lag", "7"))
    return Reply(body=json.dumps(value).encode(), headers=headers)


def found(warnings: object = None) -> Reply:
    return Reply(body=json.dumps(ADA if warnings is None else {**ADA, "warnings": warnings}).encode())


def wiki_and_gateway(server: FakeServer, patience_s: float = 60.0) -> tuple[WikipediaSearch, SearchGateway]:
    tool = WikipediaSearch(base_url=server.url + "/w", timeout_s=5.0)
    searching = SearchGateway(
        (tool,),
        results=3,
        answers=RunAnswers(MemoryAnswers()),
        retry=RetryPolicy(base_s=0.001),
        timeout_s=5.0,
        rng=random.Random(0),
        patience_s=patience_s,
    )
    return tool, searching


async def search(searching: SearchGateway, tool: WikipediaSearch, query: str = "ada") -> SearchAnswer:
    return await searching.search(tool, query, stage="search", meter=UsageMeter())


@pytest.mark.parametrize("value", [LAGGED, LAGGED_BEFORE_1_29])
async def test_a_wiki_that_lags_is_asked_again_until_it_has_caught_up(server: FakeServer, value: object) -> None:
    n_lagged = 2 * RetryPolicy().attempts  # more than a failure would be tried
    server.will(*[lagged("0.001", value)] * n_lagged, found())
    tool, searching = wiki_and_gateway(server)
    answer = await search(searching, tool)
    assert [hit.title for hit in answer.hits] == ["Ada"]
    assert len(server.received) == n_lagged + 1
    assert {one.params["maxlag"] for one in server.received} == {"5"}


async def test_one_that_lags_longer_than_it_is_waited_for_is_a_failure(server: FakeServer) -> None:
    server.will(lagged("5"))
    tool, searching = wiki_and_gateway(server, patience_s=1.0)
    with pytest.raises(ToolError) as caught:
        await search(searching, tool)
    assert str(caught.value) == (
        "wikipedia: wants no request for another 5 s, and is waited for 1 s at most (error 'maxlag')"
    )
    assert len(server.received) == 1


@pytest.mark.parametrize(
    ("code", "retryable"),
    [
        ("ratelimited", True),
        ("cirrussearch-too-busy-error", True),
        ("badvalue", False),
        ("search-text-disabled", False),
    ],
)
def test_errors_are_told_apart_by_code(server: FakeServer, code: str, retryable: bool) -> None:
    server.will_answer({"errors": [{"code": code, "text": "No.", "module": "query+search"}]})
    with pytest.raises(ToolError, match=f"wikipedia: error '{code}'") as caught:
        WikipediaSearch(base_url=server.url).search("ada", 3)
    assert (caught.value.retryable, caught.value.wants_pause) == (retryable, retryable)


def test_a_backend_that_fails_is_worth_another_try_and_no_pause(server: FakeServer) -> None:
    server.will_answer({"errors": [{"code": "cirrussearch-backend-error", "text": "No.", "module": "query+search"}]})
    with pytest.raises(ToolError) as caught:
        WikipediaSearch(base_url=server.url).search("ada", 3)
    assert (caught.value.retryable, caught.value.wants_pause) == (True, False)


HARMLESS = [
    {
        "code": "outofrange",
        "text": 'The value "9999" for parameter "gsrlimit" must be between 1 and 500.',
        "data": {"min": 1, "curmax": 500, "max": 500, "highmax": 5000},
        "module": "query+search",
    },
    {
        "code": "deprecation",
        "text": 'The value "score" to parameter "gsrprop" has been deprecated.',
        "data": {"feature": "action=query&list=search&srprop=score"},
        "module": "query+search",
    },
    {"code": "deprecation", "text": 'The parameter "gsrwhat" has been deprecated.', "module": "query+search"},
    {"code": "deprecation-help", "text": "Subscribe to the mailing list.", "module": "main"},
    {"code": "unrecognizedparams", "text": "Unrecognized parameter: explaintext.", "module": "main"},
    {
        "code": "unrecognizedvalues",
        "text": 'Unrecognized value for parameter "prop": extracts',
        "data": {"values": ["extracts"]},
        "module": "query",
    },
    {
        "code": "unrecognizedvalues",
        "text": 'Unrecognized value for parameter "gsrinfo": xx',
        "data": {"values": ["xx"]},
        "module": "query+search",
    },
    {"code": "apiwarn-of-another-kind", "text": "Whole articles: exlimit was lowered.", "module": "query+extracts"},
]


@pytest.mark.parametrize("warning", HARMLESS, ids=lambda warning: f"{warning['module']} {warning['code']}")
def test_a_note_about_a_parameter_does_no_harm(server: FakeServer, warning: dict[str, object]) -> None:
    server.will(found([warning]))
    assert [hit.title for hit in WikipediaSearch(base_url=server.url).search("ada lovelace", 3)] == ["Ada"]
    assert server.received[0].params["errorformat"] == "plaintext"


@pytest.mark.parametrize(
    ("code", "module"),
    [
        ("cirrussearch-timed-out", "search"),
        ("cirrussearch-regex-timed-out", "search"),
        ("search-of-which-we-know-nothing", "search"),
        ("search-of-which-we-know-nothing", "query+search"),
    ],
)
def test_another_warning_of_the_search_is_a_failure(server: FakeServer, code: str, module: str) -> None:
    server.will(found([*HARMLESS, {"code": code, "text": "Only a part was searched.", "module": module}]))
    with pytest.raises(ToolError, match=r"wikipedia: warns of its search: 'Only a part was searched\.'") as caught:
        WikipediaSearch(base_url=server.url).search("ada", 3)
    assert caught.value.retryable


@pytest.mark.parametrize(
    ("code", "text", "module"),
    [
        ("unrecognizedparams", "Unrecognized parameters: generator, gsrsearch.", "main"),
        ("unrecognizedparams", "Nicht erkannter Parameter: gsrwhat.", "main"),
        ("unrecognizedvalues", 'Unrecognized value for parameter "gsrwhat": text', "query+search"),
    ],
)
def test_a_search_whose_parameters_are_not_taken_is_a_failure(
    server: FakeServer, code: str, text: str, module: str
) -> None:
    server.will_answer({"batchcomplete": True, "warnings": [{"code": code, "text": text, "module": module}]})
    with pytest.raises(ToolError, match="wikipedia: does not take the search: ") as caught:
        WikipediaSearch(base_url=server.url).search("ada", 3)
    assert not caught.value.retryable


async def test_a_wiki_that_lags_throughout_gives_no_verdict(server: FakeServer) -> None:
    server.will(lagged("5"))
    async with FactChecker(search="wikipedia", wikipedia_url=server.url, cache=False, patience_s=1.0) as checker:
        report = await checker.acheck("Ada Lovelace was born in London.")
    assert [claim.judgement.unscored_reason for claim in report.claims] == ["tool_failure"]
