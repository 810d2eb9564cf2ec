"""Web results through Exa (https://exa.ai), by the package langchain-exa. Costs one search a query."""

from __future__ import annotations

from functools import cached_property
from typing import Any, ClassVar

from factloop.tools.search.base import SearchHit
from factloop.tools.search.hosted import HostedSearch

LONGEST_TEXT = 1_500
"""Characters of a page's text that are asked for, beside the sentences that Exa picks."""
SEPARATOR = " … "


class ExaSearch(HostedSearch):
    """The sentences of pages that Exa picked for the query; the beginning of the page where it picked none."""

    package: ClassVar[str] = "langchain_exa"
    key_variable: ClassVar[str] = "EXA_API_KEY"
    url_variable: ClassVar[str] = "FACTLOOP_EXA_URL"
    default_url: ClassVar[str] = "https://api.exa.ai"
    site: ClassVar[str] = "https://exa.ai"

    name: str = "exa"
    description: str = "Search the web with Exa, by meaning."
    usd_per_query: float | None = 0.01

    @property
    def identity(self) -> str:
        return f"{super().identity} highlights, text of {LONGEST_TEXT}"

    def _found(self, query: str, limit: int) -> list[SearchHit]:
        answer = self._client.search_and_contents(
            query, num_results=limit, highlights=True, text={"max_characters": LONGEST_TEXT}
        )
        return [hit for hit in map(self._hit, answer.results) if hit.passage]

    @cached_property
    def _client(self) -> Any:
        """Exa's own client, as the package sets it up: the package's tool would hand a failure over as a result."""
        self.require_package()
        from langchain_exa import ExaSearchRetriever

        return ExaSearchRetriever(exa_api_key=self._key, exa_base_url=self._url).client

    def _hit(self, result: Any) -> SearchHit:
        passage = SEPARATOR.join(text.strip() for text in result.highlights or ()) or (result.text or "")
        return SearchHit(
            source=result.url, title=result.title or "", passage=passage.strip(), published=result.published_date
        )
