"""METEOR of single answers (Banerjee and Lavie 2005), by nltk, with WordNet's synonyms where its data is found."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Protocol

from factloop.evaluation.mixedqa.reference.base import Scores, Texts, check_lengths


class SynonymSource(Protocol):
    """The part of WordNet that METEOR needs; nltk's corpus reader has it."""

    def synsets(self, lemma: str, /) -> Iterable[Any]:
        """Groups of synonyms; each has `lemmas()`, and each of these a `name()`."""
        ...


class NoSynonyms:
    """Leaves METEOR with equal words and equal stems."""

    def synsets(self, lemma: str, /) -> Iterable[Any]:  # noqa: ARG002  # there are none, whatever the word
        return ()


def find_wordnet() -> SynonymSource | None:
    """nltk's WordNet if its data is installed (`python -m nltk.downloader wordnet`), else None; downloads nothing."""
    from nltk.corpus import wordnet  # type: ignore[import-untyped]  # has no type hints

    try:
        wordnet.ensure_loaded()
    except LookupError:
        return None
    found: SynonymSource = wordnet
    return found


class Meteor:
    """Harmonic mean of matched words in [0, 1], recall weighing nine times precision, less a fragmentation penalty.

    `10PR / (R + 9P) * (1 - (chunks / matches)**3 / 2)` (sections 2.1 and 2.2) against the first reference, in lower
    case. Words match when they are equal, then by Porter stem, then as synonyms of WordNet; `name` says where the last
    is missing. On MixedQA the difference is 0.005 in correlation at most. Words and punctuation are split as the Penn
    Treebank has it. 0.0 for an empty candidate; None where there is no reference or the first is blank.

    Departure from the paper: the scores are those of nltk, whose alignment takes matches as they come instead of the
    ones that cross least.
    """

    def __init__(self, synonyms: SynonymSource | None = None) -> None:
        """`synonyms`: WordNet if it is found, where None is given; `NoSynonyms()` to leave it out for certain."""
        self._synonyms = synonyms if synonyms is not None else find_wordnet() or NoSynonyms()

    @property
    def name(self) -> str:
        return "METEOR (no WordNet)" if isinstance(self._synonyms, NoSynonyms) else "METEOR"

    def score(
        self,
        candidates: Sequence[str],
        references: Sequence[Sequence[str]],
        questions: Texts | None = None,
        evidence: Texts | None = None,
    ) -> Scores:
        from nltk.tokenize import NLTKWordTokenizer  # type: ignore[import-untyped]  # has no type hints

        check_lengths(candidates, references, questions, evidence)
        tokenizer = NLTKWordTokenizer()
        return [self._of(candidate, group, tokenizer) for candidate, group in zip(candidates, references, strict=True)]

    def _of(self, candidate: str, references: Sequence[str], tokenizer: Any) -> float | None:
        from nltk.translate.meteor_score import single_meteor_score  # type: ignore[import-untyped]  # has no type hints

        wanted = tokenizer.tokenize(references[0]) if references else []
        if not wanted:
            return None
        return float(single_meteor_score(wanted, tokenizer.tokenize(candidate), wordnet=self._synonyms))
