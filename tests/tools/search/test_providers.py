from __future__ import annotations

import subprocess
import sys

import pytest

from factloop.core.errors import ConfigError, ToolError, ToolTimeout
from factloop.tools.search.base import SearchHit
from factloop.tools.search.build import build_search_tools
from factloop.tools.search.searxng import SearxngSearch
from factloop.tools.search.serper import SerperSearch
from factloop.tools.search.wikipedia import WikipediaSearch
from tests.tools.fake_server import FakeServer, Reply

FILLER = "The river is long and it is cold in winter there. " * 12
ADA = f"{FILLER}\n\nAda Lovelace was born in London in 1815.\n\n{FILLER}"


def page(pageid: int, title: str, index: int, extract: str | None = None) -> dict[str, object]:
    found: dict[str, object] = {
        "pageid": pageid,
        "ns": 0,
        "title": title,
        "index": index,
        "fullurl": f"https://en.wikipedia.org/wiki/{title}",
        "revisions": [{"timestamp": "2024-05-06T07:08:09Z"}],
    }
    return found | ({"extract": extract} if extract is not None else {})


def wikipedia(server: FakeServer, timeout_s: float = 5.0) -> WikipediaSearch:
    return WikipediaSearch(base_url=server.url + "/w", timeout_s=timeout_s)


def test_reads_articles_by_continuation_and_gives_the_best_passages(server: FakeServer) -> None:
    carry_on = {"excontinue": 1, "continue": "||info|revisions"}
    server.will_answer(
        {"continue": carry_on, "query": {"pages": [page(9, "River", 2), page(7, "Ada", 1, ADA)]}},
        {"batchcomplete": True, "query": {"pages": [page(9, "River", 2, FILLER), page(7, "Ada", 1)]}},
    )
    hits = wikipedia(server).search("When was Ada Lovelace born?", 3)
    assert "Ada Lovelace was born in London in 1815." in hits[0].passage
    assert len(hits[0].passage.split()) <= 120
    assert (hits[0].title, hits[0].source) == ("Ada", "https://en.wikipedia.org/wiki/Ada")
    assert hits[0].published == "2024-05-06T07:08:09Z"
    assert len(hits) == 3
    first, second = server.received
    assert first.path == "/w/api.php"
    assert first.headers["User-Agent"].startswith("factloop/")
    assert (first.params["gsrsearch"], first.params["gsrlimit"]) == ("When was Ada Lovelace born?", "3")
    assert second.params == first.params | {"excontinue": "1", "continue": "||info|revisions"}


def test_an_article_of_which_textextracts_leaves_nothing_is_read_as_a_page(server: FakeServer) -> None:
    """TextExtracts drops tables, and some articles are only tables."""
    server.will_answer(
        {"batchcomplete": True, "query": {"pages": [page(7, "Keepers", 1, "\n"), page(8, "Ada", 2, ADA)]}},
        {"parse": {"title": "Keepers", "pageid": 7, "text": "<table><tr><td>Jon Vik<td>1884</table>"}},
    )
    hits = wikipedia(server).search("keeper Jon Vik 1884", 3)
    assert (hits[0].title, "Jon Vik" in hits[0].passage) == ("Keepers", True)
    assert [one.params["action"] for one in server.received] == ["query", "parse"]


def test_such_an_article_beside_others_needs_no_reader(server: FakeServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "lxml", None)
    blank, ada = page(7, "Keepers", 1, ""), page(8, "Ada", 2, ADA)
    server.will_answer({"batchcomplete": True, "query": {"pages": [blank, ada]}})
    assert {hit.title for hit in wikipedia(server).search("keeper Jon Vik 1884", 3)} == {"Ada"}
    server.will_answer({"batchcomplete": True, "query": {"pages": [blank]}})
    with pytest.raises(ToolError, match="wikipedia: the search found pages, but none of them contains text"):
        wikipedia(server).search("keeper Jon Vik 1884", 3)


def test_where_no_article_has_every_word_fewer_are_asked_for(server: FakeServer) -> None:
    nothing = {"batchcomplete": True}
    server.will_answer(nothing, nothing, {"batchcomplete": True, "query": {"pages": [page(7, "Ada", 1, ADA)]}})
    assert wikipedia(server).search("When did Ada Lovelace visit the Thames?", 1)[0].title == "Ada"
    asked = [set(one.params["gsrsearch"].strip("?").split()) for one in server.received]
    assert len(asked) == 3
    assert asked[0] > asked[1] >= asked[2] >= {"Ada", "Lovelace", "Thames"}
    assert {one.params["gsrwhat"] for one in server.received} == {"text"}


TIMED_OUT = [
    {"module": "search", "code": "timeout", "text": "The search has timed out; only partial results are available."}
]


@pytest.mark.parametrize("found", [{}, {"query": {"pages": [page(7, "Ada", 1, ADA)]}}], ids=["nothing", "a part"])
def test_a_search_that_was_not_done_to_its_end_is_a_failure(server: FakeServer, found: dict[str, object]) -> None:
    server.will_answer({"batchcomplete": True, "warnings": TIMED_OUT, **found})
    with pytest.raises(ToolError, match=r"the search returned a warning: 'The search has timed out; only") as caught:
        wikipedia(server).search("ada", 3)
    assert caught.value.retryable


def test_a_wiki_that_knows_no_search_is_a_failure(server: FakeServer) -> None:
    text = 'Unrecognized value for parameter "generator": search.'
    server.will_answer({"warnings": [{"module": "query", "code": "unrecognizedvalues", "text": text}]})
    with pytest.raises(ToolError, match=r"wikipedia: the wiki does not support this search: .Unrecognized") as caught:
        wikipedia(server).search("ada", 3)
    assert not caught.value.retryable


@pytest.mark.parametrize(
    "answer",
    [{}, {"errors": "no"}, {"query": []}, {"query": {"pages": {"7": {}}}}, {"query": {"pages": [{"title": "no id"}]}}],
)
def test_other_shapes_are_errors(server: FakeServer, answer: object) -> None:
    server.will_answer(answer)
    with pytest.raises(ToolError, match="is not in MediaWiki"):
        wikipedia(server).search("ada", 3)


@pytest.mark.parametrize(
    ("module", "code", "text"),
    [
        ("query+search", "outofrange", 'The value "9999" for parameter "gsrlimit" must be between 1 and 500.'),
        ("query+search", "deprecation", 'The parameter "gsrwhat" has been deprecated.'),
        ("query", "unrecognizedvalues", 'Unrecognized value for parameter "prop": extracts'),
        ("query+search", "unrecognizedvalues", 'Unrecognized value for parameter "gsrinfo": xx'),
        ("query+extracts", "apiwarn-of-another-kind", "Whole articles: exlimit was lowered."),
    ],
)
def test_a_note_about_a_parameter_does_no_harm(server: FakeServer, module: str, code: str, text: str) -> None:
    """As worded by MediaWiki 1.39, with status 200."""
    warnings = [{"code": code, "text": text, "module": module}]
    server.will_answer({"batchcomplete": True, "query": {"pages": [page(7, "Ada", 1, ADA)]}, "warnings": warnings})
    assert wikipedia(server).search("ada lovelace", 1)[0].title == "Ada"
    assert server.received[0].params["errorformat"] == "plaintext"


def test_a_backend_that_fails_is_worth_another_try_and_no_pause(server: FakeServer) -> None:
    server.will_answer({"errors": [{"code": "cirrussearch-backend-error", "text": "No.", "module": "query+search"}]})
    with pytest.raises(ToolError) as caught:
        wikipedia(server).search("ada", 3)
    assert (caught.value.retryable, caught.value.wants_pause) == (True, False)


def test_one_deadline_for_all_requests(server: FakeServer) -> None:
    body = b'{"continue": {"excontinue": 1}, "query": {"pages": []}}'
    server.will(Reply(body=body, drip_s=0.006))
    with pytest.raises(ToolTimeout):
        wikipedia(server, timeout_s=0.5).search("ada", 10)


@pytest.mark.parametrize("language", ["", "en.evil.example/", "en@x", "日本"])
def test_language_is_a_code(language: str) -> None:
    with pytest.raises(ConfigError, match="language"):
        WikipediaSearch(language=language)


ADA_HIT = {"title": "Ada", "link": "https://c.example", "snippet": "Ada was born in 1815.", "date": "3 Mar 2020"}


def serper(server: FakeServer, **fields: str | int) -> SerperSearch:
    return SerperSearch.model_validate({"api_key": "k3y", "base_url": server.url, **fields})


def test_num_is_what_is_asked_for(server: FakeServer) -> None:
    server.will_answer({"organic": [ADA_HIT, {"title": "No snippet", "link": "https://d.example"}, ADA_HIT, ADA_HIT]})
    assert len(serper(server, num=10).search("ada", 2)) == 2
    assert server.received[0].payload == {"q": "ada", "num": 10}


def test_the_text_of_a_panel_is_evidence_beside_pages_without_one(server: FakeServer) -> None:
    server.will_answer({"organic": [{"link": "https://b.example", "snippet": " "}], "answerBox": {"answer": "1815"}})
    assert [hit.passage for hit in serper(server).search("ada", 3)] == ["1815"]


@pytest.mark.parametrize(
    ("answer", "place"),
    [
        ({}, "''"),
        ({"message": "something else"}, "''"),
        ({"organic": {"title": "no list"}}, "'organic'"),
        ({"organic": [{"title": "no link", "snippet": "x"}]}, "'organic.0.link'"),
        ({"organic": [], "answerBox": "text"}, "'answerBox'"),
    ],
)
def test_other_shapes_of_hosted_searches_are_errors(server: FakeServer, answer: object, place: str) -> None:
    server.will_answer(answer)
    with pytest.raises(ToolError, match="does not look like") as caught:
        serper(server).search("ada", 3)
    assert place in str(caught.value)
    assert not caught.value.retryable


def test_searxng_cites_dates_and_passes_over_pages_without_text(server: FakeServer) -> None:
    first = {"url": "https://a.example", "title": "Ada", "content": "Born 1815.", "publishedDate": "2020-01-02"}
    second = {"url": "https://b.example", "title": "Nothing in it", "content": ""}
    third = {"url": "https://c.example", "title": "C", "content": "Third.", "publishedDate": None}
    server.will_answer({"results": [first, second, third], "unresponsive_engines": [["bing", "timeout"]]})
    assert SearxngSearch(base_url=server.url, language="en").search("ada", 3) == [
        SearchHit(source="https://a.example", title="Ada", passage="Born 1815.", published="2020-01-02"),
        SearchHit(source="https://c.example", title="C", passage="Third."),
    ]
    assert server.received[0].params == {"q": "ada", "format": "json", "language": "en"}


def test_no_engine_answering_is_a_failure_not_an_empty_result(server: FakeServer) -> None:
    server.will_answer({"results": [], "unresponsive_engines": [["google", "CAPTCHA"]]})
    with pytest.raises(ToolError, match="none of the engines") as caught:
        SearxngSearch(base_url=server.url).search("ada", 3)
    assert caught.value.retryable


def test_unknown_name_lists_the_known() -> None:
    with pytest.raises(ConfigError, match="unknown search 'bing'; use serper, wikipedia, searxng"):
        build_search_tools(["wikipedia", "bing"])


@pytest.mark.parametrize("key", ["", "  ", "ключ", "a\nb"])
def test_missing_or_impossible_key(key: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SERPER_API_KEY", key)
    with pytest.raises(ConfigError, match="SERPER_API_KEY") as caught:
        build_search_tools(["serper"])
    assert not key.strip() or key not in str(caught.value)


@pytest.mark.parametrize(
    ("name", "variable", "url"), [("serper", "FACTLOOP_SERPER_URL", "google"), ("searxng", "FACTLOOP_SEARXNG_URL", "")]
)
def test_missing_or_impossible_address(name: str, variable: str, url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SERPER_API_KEY", "key")
    monkeypatch.setenv(variable, url)
    with pytest.raises(ConfigError, match=variable):
        build_search_tools([name])


@pytest.mark.process
def test_only_what_is_asked_for_is_imported() -> None:
    program = (
        "import sys, factloop.tools.search.build as b; b.build_search_tools(['wikipedia']);"
        "print([m for m in ('torch', 'spacy', 'tantivy', 'pypdf', 'lxml', 'factloop.tools.search.serper')"
        " if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
