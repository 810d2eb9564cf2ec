"""When two claims, or two queries, say the same."""

from __future__ import annotations

_EDGES = " .,;:!?…\"'“”‘’«»()[]*_`"
"""Edges of a sentence, not of a name: `C++` is not `C`, and 5 % is not 5."""


def sameness(text: str) -> str:
    """Two facts (or queries) with equal keys say the same: letter case, spacing and outer punctuation do not count."""
    return " ".join(text.casefold().split()).strip(_EDGES)
