"""Passages of several searches without the text that they share: each comes with its neighbours, so that two of one
document often do."""

from __future__ import annotations

from collections.abc import Iterable

from factloop.agents.documents import document_of
from factloop.core.records import Evidence

_LEAST_SHARED = 40
"""Characters: what is shorter two passages may end and begin with by chance."""


def without_repeats(passages: Iterable[Evidence], *, most: int) -> list[Evidence]:
    """The passages in their order; those of one document that share text become one, of `most` characters at most.

    Where one would be longer, the later keeps what the earlier has not.
    """
    kept: list[Evidence] = []
    for item in passages:
        _add(kept, item, most)
    return kept


def fresh_part(passage: str, shown: Iterable[str]) -> str:
    """The part of a passage that is not at the end or the beginning of one shown before; empty if all of it is."""
    for text in shown:
        if passage in text:
            return ""
        passage = passage[: len(passage) - _shared(passage, text)].rstrip()
        passage = passage[_shared(text, passage) :].lstrip()
    return passage


def _add(kept: list[Evidence], new: Evidence, most: int) -> None:
    for place, old in enumerate(kept):
        if document_of(old) != document_of(new):
            continue
        joined = _joined(old, new)
        if joined is not None and len(joined.passage) <= max(most, len(old.passage), len(new.passage)):
            del kept[place]
            n_before = len(kept)
            _add(kept, joined, most)
            if len(kept) > n_before:
                kept.insert(place, kept.pop())
            return
        part = fresh_part(new.passage, [old.passage])
        if not part:
            return
        if part != new.passage:
            is_beginning = new.passage.startswith(part)
            new = new.model_copy(update={"passage": part, "section": new.section if is_beginning else None})
    kept.append(new)


def _joined(old: Evidence, new: Evidence) -> Evidence | None:
    """Both as one, under the query of the old one and named after where it begins; None where they share nothing."""
    if new.passage in old.passage:
        return old
    begins = {"source": new.source, "section": new.section, "published": new.published}
    if old.passage in new.passage:
        return old.model_copy(update={**begins, "passage": new.passage})
    if shared := _shared(old.passage, new.passage):
        return old.model_copy(update={"passage": old.passage + new.passage[shared:]})
    if shared := _shared(new.passage, old.passage):
        return old.model_copy(update={**begins, "passage": new.passage + old.passage[shared:]})
    return None


def _shared(first: str, second: str) -> int:
    """How many characters the first ends with that the second begins with; 0 where they are few."""
    head = second[:_LEAST_SHARED]
    if len(head) < _LEAST_SHARED:
        return 0
    start = first.find(head)
    while start >= 0:
        if second.startswith(first[start:]):
            return len(first) - start
        start = first.find(head, start + 1)
    return 0
