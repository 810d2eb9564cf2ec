"""Documents that a response of a data set comes with, such as the contexts that a RAG application retrieved for it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

from langchain_core.documents import Document
from pydantic import BeforeValidator, ConfigDict

from factloop.core.records import Record

MaybeText = Annotated[str, BeforeValidator(lambda given: "" if given is None else given)]


class OwnDocument(Record):
    """A document, which may be blank. Fields beside these are passed over."""

    model_config = ConfigDict(extra="ignore")

    text: str
    title: MaybeText = ""
    source: MaybeText = ""
    """The name that evidence gives it, such as its address; nothing is fetched from there."""

    def as_document(self) -> Document:
        named = {"source": self.source, "title": self.title}
        return Document(self.text, metadata={name: value for name, value in named.items() if value})


def _as_object(given: Any) -> Any:
    if isinstance(given, str):
        return {"text": given}
    if not isinstance(given, Mapping | OwnDocument):
        raise ValueError("a text is needed, or an object with `text`")
    return given


def _as_list(given: Any) -> Any:
    """One text is one document; a blank one is none, for CSV may leave it out."""
    if isinstance(given, str):
        return [given] if given.strip() else None
    if given is not None and not isinstance(given, list | tuple):
        raise ValueError("a list of texts is needed, or of objects with `text`")
    return given


MaybeDocuments = Annotated[
    tuple[Annotated[OwnDocument, BeforeValidator(_as_object)], ...] | None, BeforeValidator(_as_list)
]
"""Texts, or objects with `text` and perhaps `title` and `source`; None where none are named."""
