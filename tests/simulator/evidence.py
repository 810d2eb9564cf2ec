"""Reads what passages say about a claim, from any source and in any wording.

The reader knows the language but not the world. A passage is identified by its title: people with the same name each
have an article, and only the question says which one is meant.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

from tests.simulator.blocks import Block
from tests.simulator.grammar import NAME, Clause, read_claim, read_clause, read_undated

CALLING = re.compile(r", the (?P<calling>[a-z]+)\b")  # *Who was Ada Brisk, the painter?*

_TITLE = re.compile(
    rf"(?P<name>{NAME.pattern})(?: \((?P<calling>[a-z]+)\))?(?: - (?:Open Almanac|Old Register)(?: |$)| - | › |$)"
)
"""Heads of the pages of this world; a cut into passages may put the text on the same line."""
_OUTDATED = "An older register had it that "
_FRAME = re.compile(
    rf"(?P<outdated>{_OUTDATED})|According to the register, |Several letters confirm that |Local records state that "
)
_IN_YEAR = re.compile(r"In (?P<year>\d{4}), ")
_PRONOUN = re.compile(r"(?:[Ss]he|[Hh]e|[Ii]t)\b")


@dataclass(frozen=True)
class Finding:
    """The verdict on a claim, and the passage that decides it."""

    stance: Literal["supported", "contradicted", "disputed", "insufficient"]
    cited: tuple[int, ...] = ()
    found: str = ""
    """The value that the cited passage gives."""


@dataclass(frozen=True)
class PassageSentence:
    subject: str
    clause: Clause
    is_outdated: bool


@dataclass(frozen=True)
class Article:
    """A parsed passage. `calling` tells namesakes apart if the title gives it."""

    calling: str | None
    told: tuple[PassageSentence, ...]


NOTHING = Finding("insufficient")


def weigh(claim: str, passages: Sequence[Block], question: str = "") -> Finding:
    """The verdict on a claim that names its subject. Values that a later note corrects are ignored."""
    read = read_claim(claim)
    return NOTHING if read is None else weigh_clause(*read, passages, question)


def weigh_clause(subject: str, clause: Clause, passages: Sequence[Block], question: str = "") -> Finding:
    """The first statement about the same subject and relation in each passage decides, if they agree."""
    meant, said, of = CALLING.search(question), dict[str, int](), None
    for place, passage in enumerate(passages, 1):
        article = read_article(passage.text)
        if (meant and article.calling and article.calling != meant["calling"]) or (said and article.calling != of):
            continue  # of another of the name
        for told in article.told:
            same = (told.subject, told.clause.relation, told.clause.key) == (subject, clause.relation, clause.key)
            if same and not told.is_outdated:
                said.setdefault(told.clause.value, int(passage.id) if passage.id.isdigit() else place)
                of = article.calling
                break
    if not said:
        return NOTHING
    if len(said) > 1 and clause.value in said:
        return Finding("disputed", tuple(said.values()), " and ".join(said))
    (value, number), *_ = said.items()
    return Finding("supported" if value == clause.value else "contradicted", (number,), value)


def leanings(claim: str, passages: Sequence[Block], question: str = "") -> dict[str, float]:
    """The probability of each verdict to a reader; `weigh` returns the most likely one.

    Agreeing passages raise that probability; passages that say otherwise, even outdated ones, lower it.
    """
    said = weigh(claim, passages, question).stance
    n_for, n_against = _voices(claim, passages)
    if said == "disputed":
        return {"supported": 0.3, "contradicted": 0.2, "disputed": 0.4, "insufficient": 0.1}
    own, others = (n_against, n_for) if said == "contradicted" else (n_for, n_against)
    sure = 1.0 - 0.12 / 2 ** max(own - 1, 0) - 0.2 * min(others, 2)
    if said == "insufficient":
        sure = 0.8 if n_for + n_against == 0 else 0.7
    rest = {"supported": 1.0, "contradicted": 1.0, "insufficient": 2.0}
    del rest[said]
    total = sum(rest.values())
    return {said: sure, **{verdict: (1.0 - sure) * weight / total for verdict, weight in rest.items()}}


def _voices(claim: str, passages: Sequence[Block]) -> tuple[int, int]:
    """How many sentences give the claim's value, and how many another one."""
    read = read_claim(claim)
    if read is None:
        return 0, 0
    subject, clause = read
    told = (one for passage in passages for one in read_article(passage.text).told)
    place = (subject, clause.relation, clause.key)
    values = [one.clause.value for one in told if (one.subject, one.clause.relation, one.clause.key) == place]
    n_for = sum(value == clause.value for value in values)
    return n_for, len(values) - n_for


@lru_cache(maxsize=8192)
def read_article(text: str) -> Article:
    """The statements of a passage, which may be several titled parts in one text."""
    named = calling = None
    told: list[PassageSentence | None] = []
    for line in text.strip().splitlines():
        title = _TITLE.match(line)
        if title:
            named, calling = title["name"], title["calling"]
            line = line[title.end() :]
        elif named is not None:
            line = re.sub(rf"\A#+ {re.escape(named)}\s", "", line)  # the heading that the title was taken from
        if line:
            told += (_told(sentence, named) for sentence in re.split(r"(?<=[.!?])\s+", " ".join(line.split())))
    return Article(calling, tuple(one for one in told if one is not None))


def _told(sentence: str, named: str | None) -> PassageSentence | None:
    frame = _FRAME.match(sentence)
    start = frame.end() if frame else 0
    year = _IN_YEAR.match(sentence, start)
    start = year.end() if year else start
    subject = _PRONOUN.match(sentence, start) or NAME.match(sentence, start)
    if subject is None:
        return None
    name = named if _PRONOUN.fullmatch(subject[0]) else subject[0]
    clause = _clause(sentence, subject.end() + 1, year["year"] if year else None)
    if name is None or clause is None:
        return None
    return PassageSentence(name, clause, bool(frame and frame["outdated"]))


def _clause(sentence: str, start: int, year: str | None) -> Clause | None:
    if year is None:
        found = read_clause(sentence, start)
        return found[0] if found else None
    undated = read_undated(sentence, start)
    return None if undated is None else Clause(undated[0], undated[1], year)
