"""Searches the articles of Wikipedia or another MediaWiki, free of charge."""

from __future__ import annotations

import re
import time
from datetime import UTC, datetime
from itertools import chain
from typing import Any

from pydantic import BaseModel, PrivateAttr, ValidationError

from factloop.core.errors import ConfigError, ToolError, ToolTimeout
from factloop.core.extras import has_packages, require
from factloop.tools.calls.json_client import JsonAnswer, JsonClient, user_agent
from factloop.tools.calls.retry import retry_after_s
from factloop.tools.calls.urls import checked_base_url, without_userinfo
from factloop.tools.search.base import REACH_S, SearchHit, SearchTool, textless
from factloop.tools.search.passages import PARAGRAPHS, PassageSettings, best_passages, split_passages
from factloop.tools.text.queries import looser_queries

_BUSY = frozenset({"maxlag", "ratelimited", "cirrussearch-too-busy-error"})
_PASSING = frozenset({"readonly", "cirrussearch-backend-error", "internal_api_error_DBQueryError"})
_DEPRECATIONS = frozenset({"deprecation", "deprecation-help"})
_PARAMETER_NOTES = frozenset({"unrecognizedparams", "unrecognizedvalues", "outofrange", "integeroutofrange"})
_SEARCH_MODULES = frozenset({"search", "query+search"})
_OF_SEARCH = re.compile(r"\b(?:generator|gsrsearch|gsrwhat)\b")
"""Parameters that a search depends on. No wiki translates their names."""
_LONGEST_TEXT = 200


class _Note(BaseModel):
    """An error or a warning, in the form used since MediaWiki 1.29 (2017)."""

    module: str = ""
    code: str = ""
    text: str = ""


class _Notes(BaseModel):
    errors: list[_Note] = []
    warnings: list[_Note] = []


def _notes_in(name: str, answer: dict[str, Any]) -> _Notes:
    try:
        return _Notes.model_validate(answer)
    except ValidationError as problem:
        raise ToolError(f"{name}: the answer is not in MediaWiki's format (errors, warnings)", tool=name) from problem


def raise_error(name: str, answer: JsonAnswer) -> None:
    """Raises ToolError if the answer is an error. If the wiki is busy, the ToolError says how long to wait."""
    for note in _notes_in(name, answer.value).errors[:1]:
        code = note.code[:100]
        raise ToolError(
            f"{name}: the wiki returned the error {code!r}",
            tool=name,
            retry_after_s=retry_after_s(answer.headers.get("Retry-After"), datetime.now(UTC)),
            retryable=code in _BUSY | _PASSING,
            wants_pause=code in _BUSY,
        )


def refuse_unfinished(name: str, answer: dict[str, Any]) -> None:
    """Raises ToolError if the wiki warns that it searched differently than requested, or only in part.

    Such a search does not prove that there is nothing to find. Unknown warnings about the search also raise ToolError.
    Notes about other parameters are harmless, such as the two that a wiki without TextExtracts returns.
    """
    for note in _notes_in(name, answer).warnings:
        said = repr(note.text[:_LONGEST_TEXT])
        if note.code in _PARAMETER_NOTES and _OF_SEARCH.search(note.text):
            raise ToolError(f"{name}: the wiki does not support this search: {said}", tool=name)
        if note.module in _SEARCH_MODULES and note.code not in _PARAMETER_NOTES | _DEPRECATIONS:
            raise ToolError(f"{name}: the search returned a warning: {said}", tool=name, retryable=True)


MAX_LAG_S = 5
"""We ask wikis to reject our requests if their database lags by more seconds than this, as their etiquette demands."""
_ASKED_EACH_TIME: dict[str, str | int] = {
    "format": "json",
    "formatversion": 2,
    "errorformat": "plaintext",  # in the default format, warnings have no codes
    "maxlag": MAX_LAG_S,
}
_READER = "lxml"


class _General(BaseModel):
    generator: str


class _Extension(BaseModel):
    name: str = ""


class _SiteInfo(BaseModel):
    general: _General
    extensions: list[_Extension] = []


class _Revision(BaseModel):
    timestamp: str | None = None


class Article(BaseModel):
    pageid: int
    title: str
    index: int = 0
    fullurl: str = ""
    extract: str | None = None
    revisions: list[_Revision] = []

    @property
    def is_blank(self) -> bool:
        """Whether the wiki provided plain text that is blank. TextExtracts leaves out tables and boxes."""
        return self.extract is not None and not self.extract.strip()

    @property
    def edited(self) -> str | None:
        return self.revisions[0].timestamp if self.revisions else None


_PASSAGES = PassageSettings(words=100)
"""These passages are longer than those from documents, because they are returned without their neighbours."""
_LONGEST_QUERY = 300
_MAX_ARTICLES = 10


class WikipediaSearch(SearchTool):
    """Searches Wikipedia in one `language` (the code in its URL), or the MediaWiki at `base_url`.

    Reads the best articles in full and returns their best passages of about a hundred words. MediaWiki's search
    requires every word, so if no article contains them all, up to six queries with fewer words follow. `published` is
    the time of the article's last edit. Raises ConfigError if the language or URL is not valid.
    """

    name: str = "wikipedia"
    description: str = "Search Wikipedia. Gives passages of articles; best asked for a name, a place, an event, a work."
    usd_per_query: float | None = 0.0
    language: str = "en"
    base_url: str | None = None
    """URL of the folder that contains `api.php`, such as https://en.wikipedia.org/w"""
    timeout_s: float = 20.0

    _client: JsonClient = PrivateAttr()
    _url: str = PrivateAttr()

    @classmethod
    def build(
        cls,
        *,
        timeout_s: float,
        replayed: bool,  # noqa: ARG003  # no key is needed
        language: str = "en",
        url: str | None = None,
    ) -> WikipediaSearch:
        return cls(timeout_s=timeout_s, language=language, base_url=url)

    def model_post_init(self, context: Any, /) -> None:
        super().model_post_init(context)
        if not self.language.replace("-", "").isalnum() or not self.language.isascii():
            raise ConfigError(f"wikipedia: the language must be a code such as en or pt-br, not {self.language!r}")
        url = self.base_url or f"https://{self.language}.wikipedia.org/w"
        self._url = checked_base_url(url, "wikipedia's base_url")
        self._client = JsonClient(
            tool=self.name, base_url=self._url, timeout_s=self.timeout_s, headers={"User-Agent": user_agent()}
        )

    @property
    def identity(self) -> str:
        return f"wikipedia {without_userinfo(self._url)}"

    def reach(self) -> None:
        self._client.reach(timeout_s=REACH_S)

    def server_facts(self) -> tuple[str, ...]:
        return self._facts(time.monotonic() + min(REACH_S, self.timeout_s))

    def search(self, query: str, limit: int) -> list[SearchHit]:
        if not query.strip() or limit < 1:
            return []
        pages = self._articles(query.strip()[:_LONGEST_QUERY], min(limit, _MAX_ARTICLES))
        found = [(page, passage) for page in pages for passage in split_passages(page.extract or "", _PASSAGES)]
        if pages and not found:
            raise textless(self.name)
        texts = [f"{page.title} {passage}" for page, passage in found]
        return [_hit(*found[index]) for index in best_passages(query, texts, limit)]

    def _articles(self, query: str, n_articles: int) -> list[Article]:
        deadline = time.monotonic() + self.timeout_s
        for wording in chain([query], looser_queries(query)):
            if found := self._find(wording, n_articles, deadline):
                return found
        return []

    def _facts(self, deadline: float) -> tuple[str, ...]:
        asked: dict[str, str | int] = {"action": "query", "meta": "siteinfo", "siprop": "general|extensions"}
        try:
            site = _SiteInfo.model_validate(self._get(asked, deadline).get("query"))
        except ValidationError as problem:
            raise self._misshapen("query.general") from problem
        if any(extension.name == "TextExtracts" for extension in site.extensions):
            return site.general.generator, "plain text by TextExtracts"
        self._require_reader()
        return site.general.generator, "articles read as pages, without TextExtracts"

    def _find(self, query: str, n_articles: int, deadline: float) -> list[Article]:
        """Takes one request per article, because the API returns only one full text at a time. If a wiki provides no
        plain text, the article's page is read instead, which needs the `documents` extra.
        """
        found = self._search(query, n_articles, deadline)
        return [self._with_text(page, deadline) if self._is_unread(page) else page for page in found]

    def _is_unread(self, page: Article) -> bool:
        return page.extract is None or (page.is_blank and has_packages(_READER))

    def _search(self, query: str, n_articles: int, deadline: float) -> list[Article]:
        params: dict[str, str | int] = {
            "action": "query",
            "generator": "search",
            "gsrsearch": query,
            "gsrwhat": "text",  # MediaWiki's built-in search would otherwise cover only titles
            "gsrlimit": n_articles,
            "redirects": 1,
            "prop": "extracts|info|revisions",
            "explaintext": 1,
            "exsectionformat": "plain",
            "exlimit": 1,
            "inprop": "url",
            "rvprop": "timestamp",
        }
        pages: dict[int, Article] = {}
        carry_on: dict[str, str | int] = {}
        for _ in range(n_articles):
            answer = self._get(params | carry_on, deadline)
            refuse_unfinished(self.name, answer)
            for page in self._read_pages(answer):
                known = pages.get(page.pageid, page)  # each further answer repeats the pages and adds texts
                pages[page.pageid] = Article.model_validate(known.model_dump() | page.model_dump(exclude_unset=True))
            following = answer.get("continue")
            if not isinstance(following, dict) or "excontinue" not in following:
                break
            carry_on = following
        return sorted(pages.values(), key=lambda page: page.index)

    def _with_text(self, page: Article, deadline: float) -> Article:
        self._require_reader()
        from factloop.tools.search.documents.html import read_html
        from factloop.tools.search.documents.sections import sections_of

        params: dict[str, str | int] = {
            "action": "parse",
            "pageid": page.pageid,
            "prop": "text",
            "disableeditsection": 1,
            "disablelimitreport": 1,
            "disabletoc": 1,
        }
        parsed = self._get(params, deadline).get("parse")
        if not isinstance(parsed, dict) or not isinstance(parsed.get("text"), str):
            raise self._misshapen("parse.text")
        sections = sections_of(read_html(parsed["text"]).blocks, title=page.title)
        return page.model_copy(update={"extract": PARAGRAPHS.join(section.text for section in sections)})

    def _require_reader(self) -> None:
        require("documents", f"{self.name}: reading a wiki without TextExtracts", _READER)

    def _get(self, params: dict[str, str | int], deadline: float) -> dict[str, Any]:
        if time.monotonic() > deadline:
            raise ToolTimeout(tool=self.name, timeout_s=self.timeout_s)
        answer = self._client.get_answer("/api.php", _ASKED_EACH_TIME | params)
        raise_error(self.name, answer)
        return answer.value

    def _read_pages(self, answer: dict[str, Any]) -> list[Article]:
        if "query" not in answer and "batchcomplete" in answer:
            return []
        try:
            return [Article.model_validate(page) for page in answer["query"]["pages"]]
        except (KeyError, TypeError, ValidationError) as problem:
            raise self._misshapen("query.pages") from problem

    def _misshapen(self, what: str) -> ToolError:
        return ToolError(f"{self.name}: the answer is not in MediaWiki's format ({what})", tool=self.name)


def _hit(page: Article, passage: str) -> SearchHit:
    source = page.fullurl or f"wikipedia page {page.pageid}"
    return SearchHit(source=source, title=page.title, passage=passage, published=page.edited)
