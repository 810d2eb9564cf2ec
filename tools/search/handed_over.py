"""Reads documents as users hand them over: LangChain documents, texts, or what a vector store found with its scores."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from numbers import Real

from langchain_core.documents import Document

from factloop.core.errors import DataError


def documents_of(name: str, value: object) -> tuple[Document, ...] | None:
    """Documents, texts and pairs of a document and its score as documents; a text alone is one document.

    None for None. Raises DataError, which names the item.
    """
    if value is None:
        return None
    if isinstance(value, str | Document):
        value = [value]
    if not isinstance(value, Sequence):
        raise DataError(f"{name}: a list of documents or texts is needed, not {type(value).__name__}")
    return tuple(_document(f"{name}, item {number}", item) for number, item in enumerate(value, 1))


def _document(name: str, item: object) -> Document:
    if isinstance(item, Document):
        return item
    if isinstance(item, str):
        return Document(item)
    match item:
        case (Document() as document, Real()):
            return document
    hint = " (of a mapping make a Document(page_content=..., metadata=...))" if isinstance(item, Mapping) else ""
    raise DataError(f"{name}: a document or a text is needed, not {type(item).__name__}{hint}")
