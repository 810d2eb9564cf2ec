"""Scores an answer in the same way for all harnesses."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from langchain_core.messages import BaseMessage

from factloop.core.findings import Finding, unchecked
from factloop.core.records import FactualityReport
from factloop.integrations.langchain.inputs import has_key, value_at
from factloop.integrations.langchain.runnable import FactCheckRunnable
from factloop.reports.claims import problems_first, views_of
from factloop.testing.words import factual_failure

NAME = "factuality"  # the name of the score in every harness


@dataclass(frozen=True)
class Score:
    report: FactualityReport

    @property
    def value(self) -> float | None:
        """Precision: the fraction of scored claims that are supported, in [0, 1]. None if no claims were scored."""
        return self.report.precision

    @property
    def comment(self) -> str:
        """The precision and counts, all unsupported claims with their evidence, and the parts that were not checked."""
        at_fault = [one for one in problems_first(views_of(self.report.claims)) if one.is_problem]
        unread = [one for one, finding in unchecked(self.report) if finding is not Finding.UNSCORED]
        return factual_failure((), self.report, at_fault, unread)

    @property
    def metadata(self) -> dict[str, Any]:
        """The numbers of scored and unscored claims (`n_scored`, `n_unscored`) and the `judge`."""
        counts = self.report.counts
        return {"n_scored": counts.scored, "n_unscored": counts.unscored, "judge": self.report.fingerprint.judge}

    def passes(self, threshold: float) -> bool:
        """Whether the score reaches the threshold and no claims are unscored."""
        return self.value is not None and self.value >= threshold and not self.report.counts.unscored


async def ascore(check: FactCheckRunnable, answer: object, question: object = None, *others: object) -> Score:
    """Scores an answer to a question. Each may be a string, a message, or a record with keys as in `check.keys`.

    Documents come from the first record among `answer`, `question` and `others` that has the key for documents. Costs
    money if a model or a paid search is used. Raises ConfigError or DataError.
    """
    keys = check.keys
    found = [one for one in (answer, question, *others) if not _is_spoken(one) and has_key(one, keys.documents)]
    asked = keys.write(
        _spoken(answer, keys.response),
        _spoken(question, keys.question),
        value_at(found[0], keys.documents) if found else None,
        names_documents=bool(found),
    )
    return Score(await check.ainvoke(asked))


def _is_spoken(given: object) -> bool:
    return given is None or isinstance(given, BaseMessage | Sequence)


def _spoken(given: object, key: str) -> object:
    return given if _is_spoken(given) else value_at(given, key)
