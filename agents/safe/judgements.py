"""Turns errors and models' replies into judgements.

Code checks every number in a reply; nothing is taken on trust. A passage that does not exist is ignored, and a verdict
for or against a claim that names no passage is refused, since it may come from memory.

The score of a chat model's verdict is P(supported): the probability of the tokens that begin "supported", over that of
the tokens that begin any verdict, where the model wrote its verdict. It is the model's own uncertainty, and not
calibrated. There is one only where the server gives log-probabilities and the verdict is found among the tokens; it is
never read from the words of a reply.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NoReturn, get_args

from pydantic import BaseModel

from factloop.agents.reasons import reason_of
from factloop.agents.safe.arithmetic import miscalculated
from factloop.agents.safe.schemas import Assessment, GroundedFact, Rating
from factloop.core.citations import renumbered
from factloop.core.errors import FactloopError, ModelOutputError
from factloop.core.records import Evidence, Judgement, UnscoredReason, Verdict
from factloop.tools.models.logprobs import VALUE, option_probabilities
from factloop.tools.models.wire import ReplyToken

NO_GROUNDS = "The judge named no passage for this verdict."
NO_CONNECTION = "It has no connection to what was asked."
SUPPORTED = "supported"
NO_VERDICT = {"ambiguous": UnscoredReason.AMBIGUOUS, "disputed": UnscoredReason.DISPUTED}
"""What a model may say beside the verdicts: it leaves the claim unscored."""
LEAST_CITED = {"supported": 1, "contradicted": 1, "disputed": 2}
LEAST_FOUND = 0.5
"""Least probability of all that the field may say together: below it the model was mostly about to write something
else, and its tokens tell nothing of its verdict."""


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


def irrelevant(judged_by: str) -> Judgement:
    return Judgement(verdict=Verdict.IRRELEVANT, rationale=NO_CONNECTION, judged_by=judged_by)


def ambiguous(rationale: str, judged_by: str) -> Judgement:
    return Judgement(unscored_reason=UnscoredReason.AMBIGUOUS, rationale=rationale, judged_by=judged_by)


def other_language(judged_by: str) -> Judgement:
    return Judgement(
        unscored_reason=UnscoredReason.OTHER_LANGUAGE,
        rationale="The offline engine reads only English: a chat model (--model) can judge this claim.",
        judged_by=judged_by,
    )


def no_source() -> Judgement:
    return Judgement(
        unscored_reason=UnscoredReason.NO_SOURCE, rationale="Neither documents nor a search tool were given."
    )


def said(verdict: str, rationale: str, cited: Sequence[str], judged_by: str, wrong: str = "") -> Judgement:
    """The judgement for what a model calls its verdict."""
    if verdict == SUPPORTED:
        return supported(rationale, cited, judged_by)
    if (reason := NO_VERDICT.get(verdict)) is not None:
        shown = tuple(cited) if reason is UnscoredReason.DISPUTED else ()
        return Judgement(unscored_reason=reason, rationale=rationale, cited=shown, judged_by=judged_by)
    contradicted = verdict == "contradicted"
    return not_supported(rationale, cited, judged_by, contradicted=contradicted, wrong=wrong.strip())


def in_own_terms(
    judgement: Judgement, ids: Mapping[str, str], numbers: Mapping[int, int], *, n_shown: int
) -> Judgement:
    """The judgement by the ids and numbers that passages have as evidence of its claim, of `n_shown` to the judge."""

    def told(text: str) -> str:
        return renumbered(text, numbers, n_shown=n_shown)

    votes = (vote.model_copy(update={"rationale": told(vote.rationale)}) for vote in judgement.votes)
    return judgement.model_copy(
        update={
            "cited": tuple(ids[name] for name in judgement.cited),
            "rationale": told(judgement.rationale),
            "votes": tuple(votes),
        }
    )


def with_score(judgement: Judgement, score: float | None) -> Judgement:
    """The judgement with its score, where it is a verdict."""
    return judgement if score is None or judgement.verdict is None else judgement.model_copy(update={"score": score})


def cited_ids(numbers: Sequence[int], evidence: Sequence[Evidence]) -> tuple[str, ...]:
    """Ids of the passages cited by number, from 1; numbers without a passage are ignored, repeats kept once."""
    return tuple(dict.fromkeys(evidence[number - 1].id for number in numbers if 1 <= number <= len(evidence)))


def known_numbers(text: str, n_shown: int) -> str:
    """A rationale that mentions by number only passages that were shown."""
    return renumbered(text, {number: number for number in range(1, n_shown + 1)}, n_shown=n_shown)


def refuse(answer: BaseModel, complaint: str) -> NoReturn:
    """Refuses a reply, which is then asked for again with the complaint."""
    raise ModelOutputError(complaint, schema=type(answer).__name__, reply=answer.model_dump_json())


def refuse_groundless(verdict: str, cited: Sequence[int], n_shown: int, answer: BaseModel, *, of: str = "") -> None:
    """Refuses a verdict that must rest on passages and names none that was shown: it may come from memory."""
    n_cited = len({number for number in cited if 1 <= number <= n_shown})
    if n_cited >= LEAST_CITED.get(verdict, 0):
        return
    if verdict == "disputed" and n_cited:
        refuse(answer, f"{of}disputed, but by one passage alone: give the numbers of both sides")
    if n_shown:
        refuse(
            answer, f"{of}{verdict}, but by no passage shown: give the numbers (1 to {n_shown}) of those that decide"
        )
    refuse(answer, f"{of}{verdict} cannot rest on no evidence at all")


def refuse_miscalculated(reason: str, answer: BaseModel) -> None:
    """Refuses a verdict whose reason shows a wrong sum; the complaint has the right one."""
    if correction := miscalculated(reason):
        refuse(answer, f"{correction}: judge by the right result")


def refuse_unless_in_order(numbers: Sequence[int], n_claims: int, answer: BaseModel) -> None:
    """Refuses a reply that is not one entry for each claim, in order."""
    if list(numbers) != list(range(1, n_claims + 1)):
        refuse(answer, f"{n_claims} claims are given, and judged were {list(numbers)}: judge each once, in order")


@dataclass(frozen=True)
class VerdictField:
    """The field of a JSON reply that holds a verdict, and what it may say."""

    name: str
    options: tuple[str, ...]

    @classmethod
    def of(cls, output: type[BaseModel], name: str) -> VerdictField:
        return cls(name, get_args(output.model_fields[name].annotation))

    @cached_property
    def pattern(self) -> re.Pattern[str]:
        """Finds the field with its value; a quote within a text of the reply is escaped, and so no such field."""
        return re.compile(rf'"{re.escape(self.name)}"\s*:\s*"(?P<{VALUE}>[^"\\]*)"')

    def scores(self, tokens: Sequence[ReplyToken], said: Sequence[str]) -> list[float | None]:
        """P(supported) in [0, 1] of each verdict that was `said`, in the order of the reply.

        None where it is not known; for all of them where the tokens do not spell just these verdicts.
        """
        found = list(self.pattern.finditer("".join(token.text for token in tokens)))
        if [match[VALUE] for match in found] != list(said):
            return [None] * len(said)
        return [self._score(tokens, match.span(VALUE)) for match in found]

    def _score(self, tokens: Sequence[ReplyToken], span: tuple[int, int]) -> float | None:
        shares = option_probabilities(tokens, span, self.options, closing='"')
        if shares is None or sum(shares.values()) < LEAST_FOUND:
            return None
        of_verdicts = math.fsum(share for option, share in shares.items() if option not in NO_VERDICT)
        return min(shares[SUPPORTED] / of_verdicts, 1.0) if of_verdicts > 0.0 else None


ASSESSED = VerdictField.of(Assessment, "verdict")
RATED = VerdictField.of(Rating, "rating")
GROUNDED = VerdictField.of(GroundedFact, "verdict")
