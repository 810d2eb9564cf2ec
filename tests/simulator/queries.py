from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import count

from tests.simulator.evidence import CALLING
from tests.simulator.grammar import Clause, read_claim

LONGEST_CLAIM = 400  # characters of an unknown sentence that are repeated as its claim

_WORD = re.compile(r"\w+")


def next_query(claim: str, asked: Sequence[str], question: str = "") -> str:
    before = {" ".join(query.casefold().split()) for query in asked}
    read = read_claim(claim)
    wordings = _of_words(claim) if read is None else _of_clause(*read, CALLING.search(question))
    return next(query for query in wordings if query.casefold() not in before)


def next_queries(claim: str, asked: Sequence[str], number: int, question: str = "") -> list[str]:
    queries: list[str] = []
    for _ in range(number):
        queries.append(next_query(claim, [*asked, *queries], question))
    return queries


def _of_clause(subject: str, clause: Clause, calling: re.Match[str] | None) -> Iterator[str]:
    noun, key = clause.relation.noun, clause.key
    written, otherwise = (worded.replace("{key}", key) for worded in clause.relation.written)
    named = f"{subject} {calling['calling']}" if calling else subject
    for query in (
        f"{named} {noun} {key}",
        f"{named} {otherwise}",
        f"{named} {written}",
        f"{noun} {key} register {named}",
        f"{key} {named} letters",
        f"{named} {key} {noun} records",
        f"{named} {key} survey",
    ):
        yield " ".join(query.split())
    for number in count(2):
        yield " ".join(f"{named} {noun} {key} source {number}".split())


def _of_words(claim: str) -> Iterator[str]:
    words = " ".join(_WORD.findall(claim[:LONGEST_CLAIM])[:8])
    yield words
    for number in count(2):
        yield f"{words} source {number}"
