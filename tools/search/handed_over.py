"""Reads documents as users hand them over: LangChain documents, texts, mappings, or what a store found with scores."""

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
"""A text, a LangChain document, or a mapping with `page_content`, `text` or `content`; its other keys are metadata."""
Documents = GivenDocument | Iterable[GivenDocument | tuple[GivenDocument, float]] | BaseRetriever | VectorStore
"""What came with a response: documents, also with their scores, or a store or a retriever that has them."""
Retrieve = Callable[[str], Any]
"""A function, perhaps asynchronous, of a query; it returns documents."""
_TEXTS = ("page_content", "text", "content")


def documents_of(name: str, value: object) -> tuple[Document, ...] | None:
    """Documents, texts, mappings and pairs of one of these and its score as documents; one alone is one document.

    Arrays and series of texts are lists, and what else can be gone over is, but for tables and models. None for None.
    Raises DataError, which names the item.
    """
    if value is None:
        return None
    if isinstance(value, str | Document | Mapping):
        value = [value]
    elif hasattr(value, "tolist"):  # an array of numpy, a series of pandas
        value = value.tolist()
    if not isinstance(value, Iterable) or isinstance(value, BaseModel) or hasattr(value, "columns"):
        raise DataError(f"{name}: a list of documents or texts is needed, not {type(value).__name__}")
    return tuple(_document(f"{name}, item {number}", item) for number, item in enumerate(tuple(value), 1))


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
    raise DataError(f"{name}: a document or a text is needed, not {type(item).__name__}")


def _of_mapping(name: str, item: Mapping[str, Any]) -> Document:
    key = next((key for key in _TEXTS if isinstance(item.get(key), str)), None)
    if key is None:
        raise DataError(f"{name}: none of {', '.join(_TEXTS)} is a text")
    nested = item.get("metadata")
    metadata = {str(name): value for name, value in item.items() if name not in (key, "id", "metadata")}
    if isinstance(nested, Mapping):
        metadata.update(nested)
    given_id = item.get("id")
    return Document(item[key], id=None if given_id is None else str(given_id), metadata=metadata)
