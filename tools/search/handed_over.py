"""Reads documents in the forms that users pass: LangChain documents, texts, mappings or scored search results."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from numbers import Real
from typing import Any

from langchain_core.documents import Document
from langchain_core.retrievers import BaseRetriever
from langchain_core.vectorstores import VectorStore
from pydantic import BaseModel

from factloop.core.errors import DataError

GivenDocument = str | Document | Mapping[str, Any]
"""A string, a LangChain document, or a mapping with metadata and a key `page_content`, `text` or `content`."""
Documents = GivenDocument | Iterable[GivenDocument | tuple[GivenDocument, float]] | BaseRetriever | VectorStore
"""Anything that can be supplied with a response: documents with or without scores, a vector store, or a retriever."""
Retrieve = Callable[[str], Any]
"""A function, synchronous or not, that takes a query and returns documents."""
_TEXTS = ("page_content", "text", "content")


def documents_of(name: str, value: object) -> tuple[Document, ...] | None:
    """Converts texts, mappings and documents, with or without scores, to LangChain documents. Also accepts a single
    item.

    Accepts arrays, series and all other iterables except tables and models. None stays None. Raises a DataError with
    the item's number.
    """
    if value is None:
        return None
    if isinstance(value, str | Document | Mapping):
        value = [value]
    elif hasattr(value, "tolist"):  # a numpy array or a pandas series
        value = value.tolist()
    if not isinstance(value, Iterable) or isinstance(value, BaseModel) or hasattr(value, "columns"):
        raise DataError(f"{name} must be a list of documents or strings, not {type(value).__name__}")
    return tuple(_document(f"item {number} of {name}", item) for number, item in enumerate(tuple(value), 1))


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
