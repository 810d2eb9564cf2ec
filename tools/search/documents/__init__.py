"""Search in the user's own files: loading, cutting into passages, an index on disk."""

from factloop.tools.search.documents.search import DocumentSearch

__all__ = ["DocumentSearch"]
