from __future__ import annotations

import asyncio
from collections.abc import Iterator

import pytest

from factloop import FactChecker, FactualityReport, Verdict
from factloop.core.errors import ToolError
from factloop.doctor.examination import diagnose
from factloop.doctor.records import PartFound
from factloop.setup.settings import CheckSettings
from factloop.tools.calls.json_client import JsonClient
from factloop.tools.search.wikipedia import WikipediaSearch, refuse_unfinished
from factloop.trust.settings import TrustSettings
from tests.real.mediawiki import LAGGING, PRIVATE, TEXT_EXTRACTS, Wiki, is_installed, running_wiki

pytestmark = [
    pytest.mark.real,
    pytest.mark.skipif(not is_installed(), reason="Debian's mediawiki, php-cli and php-sqlite3 are not installed"),
]

PAGES = {
    "Halden Light": """'''Halden Light''' is a lighthouse on the Skerry of Arden. It was designed by [[Mira Solberg]]
and first lit in 1884.

== Construction ==
The granite tower is 31 metres high. Work began in 1879 under the engineer Otto Berg.

{| class="wikitable"
! Keeper !! Years
|-
| Jon Vik || 1884–1901
|-
| Ann Vik || 1901–1920
|}
""",
    "Skerry Lighthouse": "#REDIRECT [[Halden Light]]",
    "Mira Solberg": "'''Mira Solberg''' was an engineer from Lindel. She never married.",
    'C & Ä "quoted" (village)': "It is a village of 212 people. Its chapel was painted by Vera Holm in 1931.",
    "Харден": "Харден основан в 1884 году. Вера Хольм родилась здесь.",
}
ANSWER = "Halden Light was designed by Mira Solberg. Halden Light was first lit in 1884."


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Wiki]:
    with running_wiki(tmp_path_factory.mktemp("wiki"), PAGES) as wiki:
        yield wiki


@pytest.fixture(params=[(), (TEXT_EXTRACTS,)], ids=["plain", "with TextExtracts"])
def wiki(served: Wiki, request: pytest.FixtureRequest) -> Wiki:
    served.set(*request.param)
    return served


def search(wiki: Wiki, query: str, limit: int = 3) -> list[tuple[str, str]]:
    found = WikipediaSearch(base_url=wiki.url).search(query, limit)
    assert all(hit.published is not None and hit.source.startswith(wiki.url) for hit in found)
    return [(hit.title, hit.passage) for hit in found]


@pytest.mark.parametrize(
    ("query", "title", "words"),
    [
        ("granite tower", "Halden Light", "31 metres high"),  # words of the text, not of the title
        ("When was Halden Light first lit?", "Halden Light", "first lit in 1884"),  # "when" stands nowhere
        ("Otto Berg architect of Halden Light", "Halden Light", "the engineer Otto Berg"),
        ("who painted the chapel", "C & Ä \"quoted\" (village)", "painted by Vera Holm"),
        ("Вера Хольм", "Харден", "родилась"),
    ],
)  # fmt: skip
def test_text_is_found(wiki: Wiki, query: str, title: str, words: str) -> None:
    found = search(wiki, query)
    assert found[0][0] == title
    assert any(words in " ".join(passage.split()) for _, passage in found)


def test_tables_are_read_where_pages_are(served: Wiki) -> None:
    """TextExtracts leaves tables out."""
    served.set()
    assert any("1901–1920" in passage for _, passage in search(served, "keeper Ann Vik"))


async def test_true_claims_are_supported(wiki: Wiki) -> None:
    async with FactChecker(search="wikipedia", wikipedia_url=wiki.url, cache=False) as checker:
        report = await checker.acheck(ANSWER)
    assert [claim.judgement.verdict for claim in report.claims] == [Verdict.SUPPORTED] * 2
    assert report.claims[0].evidence[0].source.startswith(wiki.url)


async def test_a_private_wiki_gives_no_verdict(served: Wiki) -> None:
    served.set(PRIVATE)
    with pytest.raises(ToolError, match="readapidenied"):
        WikipediaSearch(base_url=served.url).search("granite tower", 3)
    async with FactChecker(search="wikipedia", wikipedia_url=served.url, cache=False) as checker:
        report = await checker.acheck(ANSWER)
    assert [claim.judgement.unscored_reason for claim in report.claims] == ["tool_failure"] * 2


async def test_a_wiki_that_lags_for_a_while_is_waited_for(served: Wiki) -> None:
    """The wiki reports lag with status 200 and asks clients to wait five seconds."""
    served.set(LAGGING)
    searching = asyncio.create_task(checked(served, patience_s=60.0))
    await asyncio.sleep(1.0)
    assert not searching.done()
    served.set()
    report = await searching
    assert [claim.judgement.verdict for claim in report.claims] == [Verdict.SUPPORTED] * 2


async def test_one_that_lags_throughout_gives_no_verdict(served: Wiki) -> None:
    served.set(LAGGING)
    report = await checked(served, patience_s=1.0)
    assert [claim.judgement.unscored_reason for claim in report.claims] == ["tool_failure"] * 2


async def checked(wiki: Wiki, patience_s: float) -> FactualityReport:
    async with FactChecker(search="wikipedia", wikipedia_url=wiki.url, cache=False, patience_s=patience_s) as checker:
        return await checker.acheck(ANSWER)


@pytest.mark.parametrize(
    ("params", "code"),
    [
        ({"srlimit": 9_999}, "outofrange"),
        ({"srprop": "score"}, "deprecation"),
        ({"srinfo": "nonsense"}, "unrecognizedvalues"),
        ({"nonsense": 1}, "unrecognizedparams"),
    ],
)
def test_notes_about_parameters_bear_the_codes_that_we_know(
    served: Wiki, params: dict[str, str | int], code: str
) -> None:
    served.set()
    asked: dict[str, str | int] = {"action": "query", "format": "json", "formatversion": 2, "errorformat": "plaintext"}
    answer = JsonClient(tool="wiki", base_url=served.url, timeout_s=20.0).get(
        "/api.php", {**asked, "list": "search", "srsearch": "tower", "srwhat": "text", **params}
    )
    assert code in {warning["code"] for warning in answer["warnings"]}
    refuse_unfinished("wiki", answer)


async def examined(wiki: Wiki) -> PartFound:
    check = CheckSettings(search=("wikipedia",), wikipedia_url=wiki.url, cache=False)
    diagnosis = await diagnose(check, TrustSettings(cache=False))
    (found,) = (part for part in diagnosis.parts if part.part == "search")
    return found


@pytest.mark.parametrize(
    ("lines", "how"),
    [((), "articles read as pages, without TextExtracts"), ((TEXT_EXTRACTS,), "plain text by TextExtracts")],
)
async def test_a_doctor_sees_how_it_is_read(served: Wiki, lines: tuple[str, ...], how: str) -> None:
    served.set(*lines)
    found = await examined(served)
    assert (found.state, found.how[1]) == ("works", how)
    assert found.how[0].startswith("MediaWiki 1.")
