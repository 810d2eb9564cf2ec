"""The API of a MediaWiki: articles by a search, with their text, whatever extensions the wiki has."""

from __future__ import annotations

import re
import time
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from pydantic import BaseModel, ValidationError

from factloop.core.errors import ToolError, ToolTimeout
from factloop.core.extras import has_packages, require
from factloop.tools.calls.json_client import JsonAnswer, JsonClient
from factloop.tools.calls.retry import retry_after_s
from factloop.tools.search.passages import PARAGRAPHS

_BUSY = frozenset({"maxlag", "ratelimited", "cirrussearch-too-busy-error"})
_PASSING = frozenset({"readonly", "cirrussearch-backend-error", "internal_api_error_DBQueryError"})
_DEPRECATIONS = frozenset({"deprecation", "deprecation-help"})
_PARAMETER_NOTES = frozenset({"unrecognizedparams", "unrecognizedvalues", "outofrange", "integeroutofrange"})
_SEARCH_MODULES = frozenset({"search", "query+search"})
_MODULES_ABOVE = frozenset({"main", "query"})
_OF_SEARCH = re.compile(r"\b(?:generator|gsrsearch|gsrwhat)\b")
"""Parameters without which a search is not the one that was asked for. No wiki translates their names."""
_LONGEST_TEXT = 200


@dataclass(frozen=True)
class _Note:
    """An error or a warning; without a code where the wiki gives none, as those older than 1.29, of 2017."""

    module: str
    code: str
    text: str


def raise_error(name: str, answer: JsonAnswer) -> None:
    """Raises ToolError where the answer is an error; one that says how long to wait where the wiki is busy."""
    given = answer.value.get("errors") or answer.value.get("error")
    if not given:
        return
    note = _note(given[0] if isinstance(given, list) else given)
    code = note.code[:100]
    raise ToolError(
        f"{name}: error {code!r}",
        tool=name,
        retry_after_s=retry_after_s(answer.headers.get("Retry-After"), datetime.now(UTC)),
        retryable=code in _BUSY | _PASSING,
        wants_pause=code in _BUSY,
    )


def refuse_unfinished(name: str, answer: dict[str, Any]) -> None:
    """Raises ToolError where the wiki warns that it did not search as it was asked to, or not to the end.

    That is not "found nothing"; an unknown warning of the search counts as one of these. Notes about parameters do no
    harm, except for those that the search depends on: a wiki without TextExtracts gives two about that.
    """
    for note in _warnings(answer.get("warnings")):
        said = repr(note.text[:_LONGEST_TEXT])
        if _is_of_parameters(note) and _OF_SEARCH.search(note.text):
            raise ToolError(f"{name}: does not take the search: {said}", tool=name)
        if note.module in _SEARCH_MODULES and note.code not in _PARAMETER_NOTES | _DEPRECATIONS:
            raise ToolError(f"{name}: warns of its search: {said}", tool=name, retryable=True)


def _is_of_parameters(note: _Note) -> bool:
    return note.code in _PARAMETER_NOTES or (not note.code and note.module in _MODULES_ABOVE)


def _warnings(given: object) -> list[_Note]:
    if isinstance(given, list):
        return [_note(one) for one in given]
    if isinstance(given, dict):
        return [_Note(module, "", _words(one)) for module, one in given.items()]
    return []


def _note(given: object) -> _Note:
    fields = given if isinstance(given, dict) else {}
    return _Note(str(fields.get("module")), str(fields.get("code")), str(fields.get("text")))


def _words(warning: object) -> str:
    """What a module warns of. The key depends on the version of the format that the wiki knows."""
    return " ".join(map(str, warning.values())) if isinstance(warning, dict) else str(warning)


MAX_LAG_S = 5
"""Seconds by which its databases may lag behind before the wiki turns us away: its etiquette asks that of programs."""
_ASKED_EACH_TIME: dict[str, str | int] = {
    "format": "json",
    "formatversion": 2,
    "errorformat": "plaintext",  # without it warnings have no codes
    "maxlag": MAX_LAG_S,
}
_READER = "lxml"
"""The package that reads pages."""


class _General(BaseModel):
    generator: str


class _Extension(BaseModel):
    name: str = ""


class _SiteInfo(BaseModel):
    """What a wiki says of itself."""

    general: _General
    extensions: list[_Extension] = []


class _Revision(BaseModel):
    timestamp: str | None = None


class Article(BaseModel):
    """An article as the search gives it."""

    pageid: int
    title: str
    index: int = 0
    """Its place in the order of the search."""
    fullurl: str = ""
    extract: str | None = None
    """Its text; None where the wiki does not offer plain text."""
    revisions: list[_Revision] = []

    @property
    def is_blank(self) -> bool:
        """Whether there is a plain text, and nothing in it: TextExtracts leaves out tables and boxes."""
        return self.extract is not None and not self.extract.strip()

    @property
    def edited(self) -> str | None:
        """Time of its last edit."""
        return self.revisions[0].timestamp if self.revisions else None


@dataclass(frozen=True)
class MediaWiki:
    """One wiki. All requests of a search end by its `deadline`, a moment of `time.monotonic`."""

    client: JsonClient
    name: str
    """Stands in errors."""
    timeout_s: float

    def facts(self, deadline: float) -> tuple[str, ...]:
        """The wiki's software, and how its articles are read. Raises MissingExtra where they cannot be."""
        asked: dict[str, str | int] = {
            "action": "query",
            "meta": "siteinfo",
            "siprop": "general|extensions",
        }
        try:
            site = _SiteInfo.model_validate(self._get(asked, deadline).get("query"))
        except ValidationError as problem:
            raise self._misshapen("query.general") from problem
        if any(extension.name == "TextExtracts" for extension in site.extensions):
            return site.general.generator, "plain text by TextExtracts"
        self._require_reader()
        return site.general.generator, "articles read as pages, without TextExtracts"

    def find(self, query: str, n_articles: int, deadline: float) -> list[Article]:
        """Articles whose text holds all words of the query, best first, with their texts.

        One request for each article, since the API gives one whole text a request: the rest are continuations. A wiki
        without the extension TextExtracts gives none; then each article is read as the page that people see, which
        needs the extra `documents`. With it, so is an article of which the extension leaves nothing.
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
            "gsrwhat": "text",  # without it MediaWiki's own search looks at titles alone
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
                known = pages.get(page.pageid, page)  # each continuation repeats the pages and adds what it brings
                pages[page.pageid] = Article.model_validate(known.model_dump() | page.model_dump(exclude_unset=True))
            following = answer.get("continue")
            if not isinstance(following, dict) or "excontinue" not in following:
                break
            carry_on = following
        return sorted(pages.values(), key=lambda page: page.index)

    def _with_text(self, page: Article, deadline: float) -> Article:
        """The article with the text of its page."""
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
        """The answer to one request. Raises ToolError, ToolTimeout."""
        if time.monotonic() > deadline:
            raise ToolTimeout(tool=self.name, timeout_s=self.timeout_s)
        answer = self.client.get_answer("/api.php", _ASKED_EACH_TIME | params)
        raise_error(self.name, answer)
        return answer.value

    def _read_pages(self, answer: dict[str, Any]) -> list[Article]:
        """The pages of one answer; none where the search found nothing."""
        if "query" not in answer and "batchcomplete" in answer:
            return []
        try:
            return [Article.model_validate(page) for page in answer["query"]["pages"]]
        except (KeyError, TypeError, ValidationError) as problem:
            raise self._misshapen("query.pages") from problem

    def _misshapen(self, what: str) -> ToolError:
        return ToolError(f"{self.name}: the answer has another shape than MediaWiki's ({what})", tool=self.name)
