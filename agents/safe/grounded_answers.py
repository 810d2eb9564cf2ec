"""Reads the replies of the grounded plan. Code checks every number in them; nothing is taken on trust.

A fact of an unknown sentence makes the reply unusable, since the fact cannot be placed. A passage that does not exist
is ignored. A verdict left without passages does not count: the claim is looked at again, and where that is no first
verdict, the reply is asked for again.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NoReturn

from pydantic import BaseModel

from factloop.agents.safe import judgements
from factloop.agents.safe.schemas import GroundedClaim, GroundedClaims, GroundedFact, GroundedFacts, WindowFacts
from factloop.agents.safe.stages import JudgedFact, WindowReading, WindowTask
from factloop.agents.safe.verdict_scores import with_score
from factloop.core.errors import ModelOutputError
from factloop.core.records import Judgement

NO_GROUNDS = "No passage was named that it rests on."
FIRST_REASONS = {
    "supported": "",
    "contradicted": "The cited passages say otherwise.",
    "insufficient": "The passages shown do not say so.",
}
"""Reasons of first verdicts, for which the model is not asked: they stand where the second look fails."""


def of_sentences_shown(n_sentences: int, answer: GroundedFacts | WindowFacts) -> None:
    """Refuses a reply that numbers sentences which were not shown, or says of one both that it states a fact and none.

    Its other numbers are then no safer: they may count from 0. Sentences passed over are asked again elsewhere.
    """
    with_fact, without = {fact.sentence for fact in answer.facts}, set(answer.without_fact)
    beside = set(answer.off_topic) if isinstance(answer, GroundedFacts) else set()
    if strangers := sorted((with_fact | without | beside) - set(range(1, n_sentences + 1))):
        _refuse(answer, f"there is no sentence {strangers[0]}: the sentences are numbered 1 to {n_sentences}")
    if both := sorted(with_fact & without):
        _refuse(answer, f"sentence {both[0]} has a fact, and yet it is listed in without_fact")


def claims_judged(n_claims: int, n_passages: int, answer: GroundedClaims) -> None:
    """Refuses a reply that is not one entry for each claim, in order, or has a verdict that rests on no passage."""
    numbers = [entry.claim for entry in answer.claims]
    if numbers != list(range(1, n_claims + 1)):
        _refuse(answer, f"{n_claims} claims are given, and judged were {numbers}: judge each once, in order")
    for entry in answer.claims:
        refuse_groundless(entry.verdict, entry.passages, n_passages, answer, of=f"claim {entry.claim}: ")


def refuse_groundless(verdict: str, cited: Sequence[int], n_shown: int, answer: BaseModel, *, of: str = "") -> None:
    """Refuses a verdict for or against a claim that names no passage shown: it may come from memory."""
    if verdict not in {"supported", "contradicted"} or any(1 <= number <= n_shown for number in cited):
        return
    if n_shown:
        _refuse(
            answer, f"{of}{verdict}, but by no passage shown: give the numbers (1 to {n_shown}) of those that decide"
        )
    _refuse(answer, f"{of}{verdict} cannot rest on no evidence at all")


def _refuse(answer: BaseModel, complaint: str) -> NoReturn:
    raise ModelOutputError(complaint, schema=type(answer).__name__, reply=answer.model_dump_json())


def reading_of(
    answer: GroundedFacts, window: WindowTask, judged_by: str, *, scores: Sequence[float | None]
) -> WindowReading:
    """The facts in the order of their sentences.

    `scores` are those of the verdicts as the model gave them, one for each fact of the answer.
    """
    beside = set(answer.off_topic)
    facts = [
        JudgedFact(
            sentence=fact.sentence - 1,
            text=fact.fact.strip(),
            judgement=_judgement(fact, window, judged_by, score, reason=FIRST_REASONS[fact.verdict]),
            relevant=fact.sentence not in beside if window.prompt else None,
        )
        for fact, score in zip(answer.facts, scores, strict=True)
        if fact.fact.strip()
    ]
    stated = {fact.sentence for fact in facts}
    silent = {number - 1 for number in answer.without_fact} - stated
    return WindowReading(tuple(sorted(facts, key=lambda fact: fact.sentence)), frozenset(silent))


def claims_of(
    answer: GroundedClaims,
    given: Sequence[str],
    window: WindowTask,
    judged_by: str,
    *,
    scores: Sequence[float | None],
) -> list[JudgedFact]:
    """The claims that were given, judged, in their order; `scores` as in `reading_of`."""
    return [
        JudgedFact(
            sentence=entry.claim - 1,
            text=entry.fact.strip() or text,
            judgement=_judgement(
                entry, window, judged_by, score, reason=entry.reason.strip(), wrong=entry.wrong.strip()
            ),
            relevant=None,
        )
        for entry, text, score in zip(answer.claims, given, scores, strict=True)
    ]


def _judgement(
    fact: GroundedFact | GroundedClaim,
    window: WindowTask,
    judged_by: str,
    score: float | None,
    *,
    reason: str,
    wrong: str = "",
) -> Judgement:
    """The judgement of an entry. A verdict that code changed has no score, since the score was for another verdict."""
    cited = judgements.cited_ids(fact.passages, window.passages)
    if fact.verdict == "insufficient":
        return with_score(judgements.not_supported(reason, cited, judged_by, contradicted=False), score)
    if not cited:
        return judgements.not_supported(NO_GROUNDS, (), judged_by, contradicted=False)
    if fact.verdict == "supported":
        return with_score(judgements.supported(reason, cited, judged_by), score)
    return with_score(judgements.not_supported(reason, cited, judged_by, contradicted=True, wrong=wrong), score)
