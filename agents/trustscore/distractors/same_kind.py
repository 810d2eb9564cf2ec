"""Words of one kind with the original: another sport for a sport, another planet for a planet."""

from __future__ import annotations

import random
import re
from collections.abc import Sequence

from factloop.agents.trustscore.distractors.base import Substitute, Target
from factloop.agents.trustscore.records import Source
from factloop.tools.vocabulary.closeness import ExcludedWords
from factloop.tools.vocabulary.kinds import kind_of, kind_wanted, words_by_kind

_WORD = re.compile(r"\w")
_YES_OR_NO = re.compile(r"(?:yes|no)\b(?=[,.!;]|\s*$)", re.IGNORECASE)
_LISTED_FIRST = 30
"""The words of a kind that our own list has are the best known."""


class SameKindSource:
    """A SubstituteSource over small lists of common nouns and names by kind; none for a word of no known kind.

    Where the question asks for a kind and the response has no listed word of it, its first or last word is taken for
    one: *quince* for *which fruit*. *Yes* and *no* are replaced where they answer, not in *no man*."""

    name = "words of the same kind 1"

    async def substitutes(
        self, target: Target, response: str, question: str, *, limit: int, rng: random.Random
    ) -> Sequence[Substitute]:
        kind = _kind(target, response, question)
        if kind is None or limit < 1:
            return ()
        taken = ExcludedWords.of(target.text, response, question)
        words = [word for word in words_by_kind()[kind] if word not in taken]
        listed, others = words[:_LISTED_FIRST], words[_LISTED_FIRST:]
        drawn = [*rng.sample(listed, len(listed)), *rng.sample(others, len(others))][:limit]
        return tuple(Substitute(word, Source.BUILT_IN, f"the same kind ({kind})") for word in drawn)


def _kind(target: Target, response: str, question: str) -> str | None:
    if target.kind in {"date", "number", "verb"}:
        return None
    if target.start == 0 and _YES_OR_NO.match(response):
        return "answer"
    kind = kind_of(target.text, question)
    if kind is not None or not target.tag.startswith("NN"):
        return kind
    stands_at_an_end = not (_WORD.search(response[: target.start]) and _WORD.search(response[target.end :]))
    return kind_wanted(question, response) if stands_at_an_end else None
