"""What a caller may ask of a list of jobs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from factloop.service.shapes import CheckSummary, Job, Kind, LongFormSummary, Status

Outcome = Literal["problems", "contradicted", "no_evidence", "unscored", "no_problems"]
"""Checks by their verdicts: with claims that are contradicted or lack evidence (`problems`), with those of one of the
two, with claims that could not be scored, or with no claim that is contradicted or lacks evidence."""


@dataclass(frozen=True)
class JobFilter:
    """The jobs that are asked for; None and an empty text ask for all."""

    kind: Kind | None = None
    status: Status | None = None
    outcome: Outcome | None = None
    text: str = ""
    """Each of its words stands somewhere in what a list shows of the job."""

    def matches(self, job: Job) -> bool:
        return (
            self.kind in (None, job.kind)
            and self.status in (None, job.status)
            and (self.outcome is None or self.outcome in _outcomes(job))
            and all(word in _shown(job) for word in self.text.casefold().split())
        )


def _outcomes(job: Job) -> set[Outcome]:
    summary = job.summary
    if not isinstance(summary, CheckSummary | LongFormSummary):
        return set()
    counts = summary.counts
    found: dict[Outcome, bool] = {
        "problems": counts.not_supported > 0,
        "no_problems": counts.not_supported == 0,
        "contradicted": summary.n_contradicted > 0,
        "no_evidence": counts.not_supported > summary.n_contradicted,
        "unscored": counts.unscored > 0,
    }
    return {outcome for outcome, is_so in found.items() if is_so}


def _shown(job: Job) -> str:
    judge = getattr(job.summary, "judge", "")
    error = "" if job.error is None else job.error.message
    return " ".join((job.title, job.answer, job.against, judge, error)).casefold()
