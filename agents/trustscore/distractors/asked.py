"""Finds the part of a response that answers the question, as far as the question says what it asks for."""

from __future__ import annotations

import re
from collections.abc import Collection

from factloop.agents.trustscore.distractors.base import Kind
from factloop.tools.knowledge_base.cues import asked_for
from factloop.tools.knowledge_base.groups import GROUPS
from factloop.tools.vocabulary.kinds import kind_asked_for, kind_of

_DATE = re.compile(
    r"^\W*(?:\w+\s+){0,2}when\b|\b(?:what|which)\s+(?:\w+\s+){0,2}?(?:years?|date|day|month|century|decade)\b",
    re.IGNORECASE,
)
_NUMBER = re.compile(
    r"\bhow\s+(?:many|much|old|tall|long|far|high|big|large|deep|fast|heavy|wide)\b|\bwhat\s+(?:percent\w*|number)\b",
    re.IGNORECASE,
)


def answers(question: str, text: str, kind: Kind, types: Collection[str]) -> bool:
    """Whether `text`, of this kind and these types of a linked entity, is of the sort that the question asks for.

    A band or a team answers *who*, too. False where the question says nothing of it, or asks for something else."""
    if kind == "date":
        return _DATE.search(question) is not None
    if kind == "number":
        return _NUMBER.search(question) is not None
    if types:
        wanted = asked_for(question)
        if "person" in wanted and not GROUPS.isdisjoint(types):
            return True
        return any(_plain(one) in wanted for one in types)
    asked = kind_asked_for(question)
    return asked is not None and kind_of(text, question) in {asked, *({"music"} if asked == "genre" else ())}


def _plain(kind: str) -> str:
    """*person* of *DBpedia:Person*."""
    return re.split(r"[:/#]", kind)[-1].lower()
