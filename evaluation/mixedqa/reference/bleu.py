"""BLEU of single answers (Papineni et al. 2002, section 2), by nltk."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

from factloop.evaluation.mixedqa.reference.base import Scores, Texts, check_lengths


class Bleu:
    """BLEU-1 or BLEU-4 in [0, 1] against all references jointly: clipped n-gram precision times the brevity penalty.

    `brevity * exp(mean over n of log p_n)`. Words are what stands between spaces, case kept. As BLEU is meant for a
    corpus, single answers need smoothing: for BLEU-4 "method 4" of Chen and Cherry 2014, section 3, which lessens the
    smoothed count of short answers; BLEU-1 has none. 0.0 for an empty candidate and for one that shares no word; None
    where no reference has a word.
    """

    def __init__(self, longest: Literal[1, 4]) -> None:
        self._longest = longest

    @property
    def name(self) -> str:
        return f"BLEU-{self._longest}"

    def score(
        self,
        candidates: Sequence[str],
        references: Sequence[Sequence[str]],
        questions: Texts | None = None,
        evidence: Texts | None = None,
    ) -> Scores:
        from nltk.translate.bleu_score import SmoothingFunction  # type: ignore[import-untyped]  # has no type hints

        check_lengths(candidates, references, questions, evidence)
        smoothing = SmoothingFunction().method4 if self._longest > 1 else None
        return [self._of(candidate, group, smoothing) for candidate, group in zip(candidates, references, strict=True)]

    def _of(self, candidate: str, references: Sequence[str], smoothing: Any) -> float | None:
        from nltk.translate.bleu_score import sentence_bleu

        split = [words for reference in references if (words := reference.split())]
        if not split:
            return None
        weights = (1.0 / self._longest,) * self._longest
        return float(sentence_bleu(split, candidate.split(), weights, smoothing_function=smoothing))
