"""Reads documents in the forms that users pass: LangChain documents, texts, mappings or scored search results."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Mapping
from numbers import Real
from typing import Any

from langchain_core.documents import Document
from langchain_core.retrievers import BaseRetriever
from langchain_core.vectorstores import VectorStore
from pydantic import BaseModel

from factloop.core.errors import ConfigError, DataError

GivenDocument = str | Document | Mapping[str, Any]
"""A string, a LangChain document, or a mapping with metadata and a key `page_content`, `text` or `content`."""
Documents = GivenDocument | Iterable[GivenDocument | tuple[GivenDocument, float]] | BaseRetriever | VectorStore
"""What can be supplied with a response: documents with or without scores, a vector store, or a retriever."""
Retrieve = Callable[[str], Any]
_TEXTS = ("page_content", "text", "content")


def documents_of(name: str, value: object, *, found: bool = False) -> tuple[Document, ...] | None:
    """Converts texts, mappings and documents, with or without scores, to LangChain documents.

    Accepts a single item or any iterable except tables and models. Returns None for None. Raises a DataError with the
    item's number, or a ConfigError if a text is the path of a file or folder, unless a search `found` the text.
    """
    if value is None:
        return None
    if isinstance(value, str | Document | Mapping):
        value = [value]
    elif hasattr(value, "tolist"):  # a numpy array or a pandas series
        value = value.tolist()
    if not isinstance(value, Iterable) or isinstance(value, BaseModel) or hasattr(value, "columns"):
        raise DataError(f"{name} must be a list of documents or strings, not {type(value).__name__}")
    items = [(f"item {number} of {name}", item) for number, item in enumerate(tuple(value), 1)]
    for place, item in [] if found else items:
        if isinstance(item, str) and re.fullmatch(r"\S{1,255}", item) and os.path.exists(item):
            raise ConfigError(f"{place} is the path {item!r}, not a text: pass files as FactChecker(docs={item!r})")
    return tuple(_document(*one) for one in items)


def _document(name: str, item: object) -> Document:
    match item:
        case Document():
            return item
        case str():
            return Document(item)
        case Mapping():
            return _of_mapping(name, item)
        case ((Document() | str() | Mapping()) as document, Real()):
            return _document(name, document)
    raise DataError(f"{name} must be a document or a string, not {type(item).__name__}")


def _of_mapping(name: str, item: Mapping[str, Any]) -> Document:
    key = next((key for key in _TEXTS if isinstance(item.get(key), str)), None)
    if key is None:
        raise DataError(f"{name} needs a string under one of these keys: {', '.join(_TEXTS)}")
    nested = item.get("metadata")
    metadata = {str(name): value for name, value in item.items() if name not in (key, "id", "metadata")}
    if isinstance(nested, Mapping):
        metadata.update(nested)
    given_id = item.get("id")
    return Document(item[key], id=None if given_id is None else str(given_id), metadata=metadata)
