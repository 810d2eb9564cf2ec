"""ROUGE-L of single answers (Lin 2004, section 3.1), by rouge-score."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from factloop.evaluation.mixedqa.reference.base import Scores, Texts, check_lengths


class RougeL:
    """F-measure in [0, 1] of the longest common subsequence of words with the first reference, without a stemmer.

    `2PR / (P + R)` with P and R the length of the subsequence over that of candidate and reference. Words are runs of
    `a-z` and `0-9` in lower case, as rouge-score has it: other scripts have none. 0.0 for a candidate without such a
    word; None where there is no reference.
    """

    name = "ROUGE-L"

    def __init__(self, *, wordless: float | None = 0.0) -> None:
        """`wordless`: the score where the first reference has no such word (blank, or another script).

        0.0 is what rouge-score gives and what MixedQA's published figures rest on (four of its questions are such: with
        None the first system has .611 instead of .607), though nothing could have matched; None leaves them out.
        """
        self._wordless = wordless

    def score(
        self,
        candidates: Sequence[str],
        references: Sequence[Sequence[str]],
        questions: Texts | None = None,
        evidence: Texts | None = None,
    ) -> Scores:
        from rouge_score.rouge_scorer import RougeScorer  # type: ignore[import-untyped]  # has no type hints

        check_lengths(candidates, references, questions, evidence)
        scorer = RougeScorer(["rougeL"], use_stemmer=False)
        return [self._of(candidate, group, scorer) for candidate, group in zip(candidates, references, strict=True)]

    def _of(self, candidate: str, references: Sequence[str], scorer: Any) -> float | None:
        from rouge_score.tokenize import tokenize  # type: ignore[import-untyped]  # has no type hints

        if not references:
            return None
        if not tokenize(references[0], None):
            return self._wordless
        return float(scorer.score(references[0], candidate)["rougeL"].fmeasure)
