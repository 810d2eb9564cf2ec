"""The passages of an index that a query finds, in the order in which they are taken."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable

from factloop.tools.search.documents.index import PassageSource, StoredPassage

CANDIDATES = 30
"""Passages taken from BM25: for reranking, and so that equal scores are told apart by place rather than by chance."""
_SCORE_DIGITS = 4
"""The last digits depend on the order in which the words' weights were added."""


def ranked_passages(
    reader: PassageSource, query: str, limit: int, name_of: Callable[[str], str]
) -> list[StoredPassage]:
    """At most `limit` passages or `CANDIDATES`, whichever is more, best first; of those of equal wording the first.

    Equal scores are ordered by the name of the document, which `name_of` makes of its key, then by place.
    """
    found: defaultdict[float, list[StoredPassage]] = defaultdict(list)
    for item in reader.search(query, max(limit, CANDIDATES)):
        found[round(item.score, _SCORE_DIGITS)].append(item.stored)
    distinct: dict[str, StoredPassage] = {}
    for _, equals in sorted(found.items(), reverse=True):
        in_order = equals if len(equals) == 1 else sorted(equals, key=lambda one: (name_of(one.key), one.number))
        for stored in in_order:
            distinct.setdefault(stored.passage, stored)
    return list(distinct.values())
