"""Errors and warnings as MediaWiki 1.39 words them, by status 200."""

from __future__ import annotations

import json

import pytest

from factloop.core.errors import ToolError
from factloop.tools.calls.meter import UsageMeter
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


def lagged(retry_after: str, value: object = LAGGED) -> Reply:
    headers = (("Content-Type", "application/json"), ("Retry-After", retry_after), ("X-Database-Lag", "7"))
    return Reply(body=json.dumps(value).encode(), headers=headers)


def found(warnings: object = None) -> Reply:
    return Reply(body=json.dumps(ADA if warnings is None else {**ADA, "warnings": warnings}).encode())


async def search(searching: SearchGateway, tool: WikipediaSearch, query: str = "ada") -> SearchAnswer:
    return await searching.search(tool, query, stage="search", meter=UsageMeter())


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
