"""Turns errors and models' replies into judgements."""

from __future__ import annotations

from collections.abc import Sequence

from factloop.agents.reasons import reason_of
from factloop.core.errors import FactloopError
from factloop.core.records import Evidence, Judgement, UnscoredReason, Verdict

NO_CONNECTION = "It has no connection to what was asked."


def unscored(error: FactloopError) -> Judgement:
    """Why a claim has no verdict, from the error that kept it from one."""
    return Judgement(unscored_reason=reason_of(error), rationale=str(error))


def unless_unanswered(judgement: Judgement, failure: Judgement | None) -> Judgement:
    """The judgement, or the failure of a search: "nothing was found" is a verdict only where all were answered."""
    nothing_found = judgement.verdict is Verdict.NOT_SUPPORTED and not judgement.contradicted
    return failure if nothing_found and failure is not None else judgement


def supported(rationale: str, cited: Sequence[str], judged_by: str) -> Judgement:
    return Judgement(verdict=Verdict.SUPPORTED, rationale=rationale, cited=tuple(cited), judged_by=judged_by)


def not_supported(
    rationale: str, cited: Sequence[str], judged_by: str, *, contradicted: bool, wrong: str = ""
) -> Judgement:
    return Judgement(
        verdict=Verdict.NOT_SUPPORTED,
        rationale=rationale,
        cited=tuple(cited),
        contradicted=contradicted,
        wrong=wrong if contradicted else "",
        judged_by=judged_by,
    )


def irrelevant(rationale: str, judged_by: str) -> Judgement:
    return Judgement(verdict=Verdict.IRRELEVANT, rationale=rationale, judged_by=judged_by)


def ambiguous(rationale: str, judged_by: str) -> Judgement:
    return Judgement(unscored_reason=UnscoredReason.AMBIGUOUS, rationale=rationale, judged_by=judged_by)


def other_language(judged_by: str) -> Judgement:
    return Judgement(
        unscored_reason=UnscoredReason.OTHER_LANGUAGE,
        rationale="Not in English, which is all that the offline engine reads: a chat model (--model) can judge it.",
        judged_by=judged_by,
    )


def no_source() -> Judgement:
    return Judgement(
        unscored_reason=UnscoredReason.NO_SOURCE, rationale="Neither documents nor a search tool were given."
    )


def cited_ids(numbers: Sequence[int], evidence: Sequence[Evidence]) -> tuple[str, ...]:
    """Ids of the passages cited by number, from 1; numbers without a passage are passed over, repeats kept once."""
    return tuple(dict.fromkeys(evidence[number - 1].id for number in numbers if 1 <= number <= len(evidence)))
