"""Notes on a server of one's own: `GET /notes?q=...` gives `{"notes": [{"url", "title", "text", "date"}]}`."""

from __future__ import annotations

import os
from typing import Any

from pydantic import BaseModel, PrivateAttr, ValidationError

from factloop.core.errors import ConfigError, ToolError
from factloop.tools.calls.json_client import JsonClient
from factloop.tools.calls.urls import checked_base_url, without_userinfo
from factloop.tools.search.base import REACH_S, SearchHit, SearchTool

URL_VARIABLE = "FACTLOOP_NOTES_URL"


class _Note(BaseModel):
    url: str
    text: str
    title: str = ""
    date: str | None = None


class _Notes(BaseModel):
    notes: list[_Note]


class NotesSearch(SearchTool):
    """The server of notes that the environment variable `FACTLOOP_NOTES_URL` names."""

    name: str = "notes"
    description: str = "Search our notes."
    usd_per_query: float | None = 0.0
    base_url: str
    timeout_s: float = 20.0

    _client: JsonClient = PrivateAttr()

    @classmethod
    def build(cls, *, timeout_s: float, replayed: bool) -> NotesSearch:
        url = "http://replayed.invalid" if replayed else os.environ.get(URL_VARIABLE)
        if not url:
            raise ConfigError(f"notes needs a server: set {URL_VARIABLE} to its address")
        return cls(base_url=checked_base_url(url, URL_VARIABLE), timeout_s=timeout_s)

    def model_post_init(self, context: Any, /) -> None:
        super().model_post_init(context)
        self._client = JsonClient(tool=self.name, base_url=self.base_url, timeout_s=self.timeout_s)

    @property
    def identity(self) -> str:
        return f"notes {without_userinfo(self.base_url)}"

    @property
    def recorded_as(self) -> str:
        return "notes"

    def reach(self) -> None:
        self._client.reach(timeout_s=REACH_S)

    def search(self, query: str, limit: int) -> list[SearchHit]:
        if not query.strip() or limit < 1:
            return []
        try:
            found = _Notes.model_validate(self._client.get("/notes", {"q": query}))
        except ValidationError as error:
            raise ToolError("notes: the answer does not have the shape of notes", tool=self.name) from error
        return [
            SearchHit(source=note.url, title=note.title, passage=note.text, published=note.date)
            for note in found.notes[:limit]
        ]
