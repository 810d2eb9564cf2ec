"""Turns errors and model replies into judgements.

References to passages that do not exist are removed from a reply. A verdict for or against a claim is rejected if it
cites no passage, because it may come from the model's memory.

The score of a chat model's verdict is P(supported) at the position of the verdict: the probability of tokens that begin
"supported", divided by the probability of tokens that begin any verdict. It expresses the model's own uncertainty and
is not calibrated. Without log-probabilities, or if the verdict is not found among the tokens, there is no score.
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
from factloop.agents.safe.schemas import Assessment, GroundedFact, Rating
from factloop.core.citations import renumbered
from factloop.core.errors import FactloopError, ModelOutputError
from factloop.core.records import Evidence, Judgement, UnscoredReason, Verdict
from factloop.tools.models.logprobs import VALUE, option_probabilities
from factloop.tools.models.wire import ReplyToken

NO_GROUNDS = "The judge cited no passage for this verdict."
NO_CONNECTION = "It is unrelated to the question."
SUPPORTED = "supported"
NO_VERDICT = {"ambiguous": UnscoredReason.AMBIGUOUS, "disputed": UnscoredReason.DISPUTED}
"""Model replies that leave a claim unscored."""
LEAST_CITED = {"supported": 1, "contradicted": 1, "disputed": 2}
LEAST_FOUND = 0.5
"""Minimum total probability of the allowed verdicts. Below this, the model was likely to write something else, and the
probabilities reveal nothing about its verdict.
"""


def unscored(error: FactloopError) -> Judgement:
    return Judgement(unscored_reason=reason_of(error), rationale=str(error))


def unless_unanswered(judgement: Judgement, failure: Judgement | None) -> Judgement:
    """Replaces a judgement that nothing was found with the `failure` of a search, if there was one."""
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
        rationale="The offline engine reads only English. Use a chat model (--model) to judge this claim.",
        judged_by=judged_by,
    )


def no_source() -> Judgement:
    return Judgement(
        unscored_reason=UnscoredReason.NO_SOURCE, rationale="No documents and no search tool were provided."
    )


def said(verdict: str, rationale: str, cited: Sequence[str], judged_by: str, wrong: str = "") -> Judgement:
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
    """Rewrites ids and passage numbers to match the claim's evidence. `n_shown` is the number of passages shown."""

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
    """Sets the score of a judgement, unless it has no verdict or `score` is None."""
    return judgement if score is None or judgement.verdict is None else judgement.model_copy(update={"score": score})


def cited_ids(numbers: Sequence[int], evidence: Sequence[Evidence]) -> tuple[str, ...]:
    """Returns the ids of the passages with these numbers, starting at 1. Ignores unknown and repeated numbers."""
    return tuple(dict.fromkeys(evidence[number - 1].id for number in numbers if 1 <= number <= len(evidence)))


def known_numbers(text: str, n_shown: int) -> str:
    """Removes references to passages that were not shown."""
    return renumbered(text, {number: number for number in range(1, n_shown + 1)}, n_shown=n_shown)


def refuse(answer: BaseModel, complaint: str) -> NoReturn:
    """Rejects a reply. The gateway then sends the complaint and requests another reply."""
    raise ModelOutputError(complaint, schema=type(answer).__name__, reply=answer.model_dump_json())


def refuse_groundless(verdict: str, cited: Sequence[int], n_shown: int, answer: BaseModel, *, of: str = "") -> None:
    """Rejects a verdict that cites too few of the passages shown, because it may come from the model's memory."""
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


def refuse_unless_in_order(numbers: Sequence[int], n_claims: int, answer: BaseModel) -> None:
    if list(numbers) != list(range(1, n_claims + 1)):
        refuse(answer, f"{n_claims} claims are given, and judged were {list(numbers)}: judge each once, in order")


@dataclass(frozen=True)
class VerdictField:
    """The field of a JSON reply that contains a verdict."""

    name: str
    options: tuple[str, ...]

    @classmethod
    def of(cls, output: type[BaseModel], name: str) -> VerdictField:
        return cls(name, get_args(output.model_fields[name].annotation))

    @cached_property
    def pattern(self) -> re.Pattern[str]:
        """Matches the field and its value, but nothing inside other strings, whose quotes are escaped."""
        return re.compile(rf'"{re.escape(self.name)}"\s*:\s*"(?P<{VALUE}>[^"\\]*)"')

    def scores(self, tokens: Sequence[ReplyToken], said: Sequence[str]) -> list[float | None]:
        """Returns P(supported) in [0, 1] for each verdict in `said`, in order, or None where it is unknown.

        All scores are None if the tokens do not contain exactly these verdicts.
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
