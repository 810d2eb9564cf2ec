"""Exact match: does the answer equal one of the right answers, but for case, punctuation and articles."""

from __future__ import annotations

import re
import string
from collections.abc import Sequence

from factloop.evaluation.mixedqa.reference.base import Scores, Texts, check_lengths

_PUNCTUATION = str.maketrans("", "", string.punctuation)
_ARTICLES = re.compile(r"\b(a|an|the)\b")


def normalise(text: str) -> str:
    """Lower case, without ASCII punctuation and English articles, one space between words.

    The order of the steps is that of SQuAD's script (Rajpurkar et al. 2016, section 6.1): an article that only the loss
    of its punctuation lays bare goes, too.
    """
    return " ".join(_ARTICLES.sub(" ", text.lower().translate(_PUNCTUATION)).split())


class ExactMatch:
    """1.0 where the normalised candidate equals any normalised reference, else 0.0; None without a reference.

    Departure from SQuAD's script: a reference of which nothing is left (such as "The") is passed over, so that an empty
    candidate never matches.
    """

    name = "Exact Match"

    def score(
        self,
        candidates: Sequence[str],
        references: Sequence[Sequence[str]],
        questions: Texts | None = None,
        evidence: Texts | None = None,
    ) -> Scores:
        check_lengths(candidates, references, questions, evidence)
        return [_matches(candidate, group) for candidate, group in zip(candidates, references, strict=True)]


def _matches(candidate: str, references: Sequence[str]) -> float | None:
    wanted = {words for reference in references if (words := normalise(reference))}
    return float(normalise(candidate) in wanted) if wanted else None
