"""Combines the votes of several models on each claim. Only the first model reads the answer.

    majority     the outcome of more than half of all jurors
    unanimous    the outcome that all jurors agree on
    first_sure   the first sure verdict: one without a score, or with a score of at most .1 or at least .9

Under `first_sure`, each model judges only the claims that all earlier models were unsure about, and the last judgement
counts. Under the other rules, all models judge every claim concurrently. A model that fails has no vote but still
counts as a juror, so a verdict stands only if the missing vote could not change it. All votes are recorded in
`Judgement.votes`.

The jury is our own: SAFE has one rater (Wei et al. 2024, section 3).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace
from math import fsum
from typing import Any

from factloop.agents.safe.claim import may_be_answered_alone
from factloop.agents.safe.judgements import unscored
from factloop.agents.safe.model_stages import ModelGroundedStages, ModelPaperStages
from factloop.agents.safe.stages import Case, CheckContext, JudgedFact, WindowReading, WindowTask
from factloop.agents.safe.state import NextQueries
from factloop.core.errors import ConfigError, FactloopError
from factloop.core.reasons import ABOUT
from factloop.core.records import Evidence, Judgement, JuryRule, UnscoredReason, Vote
from factloop.tools.calls.together import together

SURE = 0.9
"""Minimum score of a sure `supported` verdict. A `not_supported` verdict is sure up to a score of 1 - SURE."""

Ask = Callable[[Any, Sequence[int]], Awaitable[Sequence[Judgement]]]
"""Asks a juror to judge the claims at these positions in a single request."""


@dataclass(frozen=True)
class GroundedJury(ModelGroundedStages):
    """The grounded and fused stages with a jury. The first juror extracts facts and writes queries."""

    others: Sequence[ModelGroundedStages] = ()
    rule: JuryRule = "majority"

    async def read(self, window: WindowTask, context: CheckContext) -> WindowReading:
        reading = await super().read(window, context)
        first, claims = [fact.judgement for fact in reading.facts], [fact.text for fact in reading.facts]
        return replace(reading, facts=_with(reading.facts, await self._all_looking(first, claims, window, context)))

    async def judge_given(
        self, claims: Sequence[str], window: WindowTask, context: CheckContext
    ) -> Sequence[JudgedFact]:
        facts = await super().judge_given(claims, window, context)
        first, told = [fact.judgement for fact in facts], [fact.text for fact in facts]
        return _with(facts, await self._all_looking(first, told, window, context))

    async def look_again(self, claims: Sequence[str], window: WindowTask, context: CheckContext) -> Sequence[Judgement]:
        return await self._all_looking(await super().look_again(claims, window, context), claims, window, context)

    async def _all_looking(
        self, first: Sequence[Judgement], claims: Sequence[str], window: WindowTask, context: CheckContext
    ) -> Sequence[Judgement]:
        async def ask(juror: ModelGroundedStages, places: Sequence[int]) -> Sequence[Judgement]:
            return await juror.look_again([claims[place] for place in places], window, context)

        return await decided(first, self.others, self.rule, ask)

    async def assess(self, case: Case, context: CheckContext) -> Judgement | NextQueries:
        first = await super().assess(case, context)
        return first if isinstance(first, NextQueries) else await self.joined(case, first, context)

    async def joined(self, case: Case, first: Judgement, context: CheckContext) -> Judgement:
        return (await self._joined([case], [first], None, context))[0]

    async def assess_together(
        self, cases: Sequence[Case], evidence: Sequence[Evidence], context: CheckContext
    ) -> Sequence[Judgement | NextQueries]:
        steps = list(await super().assess_together(cases, evidence, context))
        settled = {place: step for place, step in enumerate(steps) if isinstance(step, Judgement)}
        joined = await self._joined([cases[place] for place in settled], list(settled.values()), evidence, context)
        for place, judgement in zip(settled, joined, strict=True):
            steps[place] = judgement
        return steps

    async def _joined(
        self,
        cases: Sequence[Case],
        first: Sequence[Judgement],
        evidence: Sequence[Evidence] | None,
        context: CheckContext,
    ) -> list[Judgement]:
        async def ask(juror: ModelGroundedStages, places: Sequence[int]) -> Sequence[Judgement]:
            closed = [replace(cases[place], searches_left=0) for place in places]
            steps = (
                [await juror.assess(closed[0], context)]
                if evidence is None
                else await juror.assess_together(closed, evidence, context)
            )
            return [step for step in steps if isinstance(step, Judgement)]

        return await decided(first, self.others, self.rule, ask)


@dataclass(frozen=True)
class PaperJury(ModelPaperStages):
    """The paper plan's stages with a jury. Every juror rates every claim."""

    others: Sequence[ModelPaperStages] = ()
    rule: JuryRule = "majority"

    async def rate(self, case: Case, context: CheckContext) -> Judgement:
        async def ask(juror: ModelPaperStages, _: Sequence[int]) -> Sequence[Judgement]:
            return [await juror.rate(case, context)]

        (joint,) = await decided([await super().rate(case, context)], self.others, self.rule, ask)
        return joint


async def decided(first: Sequence[Judgement], others: Sequence[Any], rule: JuryRule, ask: Ask) -> list[Judgement]:
    """Asks the other jurors and returns the joint judgement of each claim. Raises ConfigError."""
    votes = [[one] for one in first]

    async def add(juror: Any, places: Sequence[int]) -> None:
        if not places:
            return
        try:
            given = await ask(juror, places)
        except ConfigError:
            raise
        except FactloopError as error:
            if len(places) > 1 and may_be_answered_alone(error):
                await together(add(juror, [place]) for place in places)
                return
            given = [unscored(error).model_copy(update={"judged_by": juror.name})] * len(places)
        for place, judgement in zip(places, given, strict=True):
            votes[place].append(judgement)

    if rule == "first_sure":
        for juror in others:
            await add(juror, [place for place, said in enumerate(votes) if not is_sure(said[-1])])
    else:
        await together(add(juror, range(len(first))) for juror in others)
    order = {juror.name: place for place, juror in enumerate(others, 1)}
    return [joint(sorted(said, key=lambda one: order.get(one.judged_by, 0)), rule) for said in votes]


def is_sure(judgement: Judgement) -> bool:
    score = judgement.score
    return judgement.verdict is not None and (score is None or score >= SURE or score <= 1 - SURE)


def joint(said: Sequence[Judgement], rule: JuryRule) -> Judgement:
    """Combines the jurors' judgements. A claim without enough votes is unscored and keeps all citations."""
    votes = tuple(_vote(one) for one in said)
    quorum = {"first_sure": 1, "majority": len(said) // 2 + 1, "unanimous": len(said)}[rule]
    chosen = said[-1] if rule == "first_sure" else _chosen(said, quorum)
    if chosen is None:
        cited = tuple(dict.fromkeys(name for one in said for name in one.cited))
        told = ", ".join(f"{n} {outcome}" for outcome, n in Counter(map(_outcome, said)).items())
        chosen = Judgement(unscored_reason=_why_open(said), rationale=f"The jury is split: {told}.", cited=cited)
    scores = [one.score for one in said if one.verdict is not None]
    known = [score for score in scores if score is not None]
    mean = fsum(known) / len(known) if chosen.verdict is not None and known and len(known) == len(scores) else None
    return chosen.model_copy(update={"votes": votes, "score": mean, "judged_by": ", ".join(v.judged_by for v in votes)})


def _chosen(said: Sequence[Judgement], quorum: int) -> Judgement | None:
    """Among "not supported" votes, chooses one that agrees with the majority on `contradicted`."""
    outcome, n = Counter(map(_outcome, said)).most_common(1)[0]
    if n < quorum:
        return None
    alike = [one for one in said if _outcome(one) == outcome]
    contradicted = sum(one.contradicted is True for one in alike)
    return next(one for one in alike if one.contradicted is None or one.contradicted is (2 * contradicted > n))


def _outcome(judgement: Judgement) -> str:
    return str(judgement.verdict or judgement.unscored_reason)


def _why_open(said: Sequence[Judgement]) -> UnscoredReason:
    """Returns a juror's failure if there is one, because another attempt may succeed. Otherwise, the jury is split."""
    reasons = [one.unscored_reason for one in said if one.unscored_reason is not None]
    return next((reason for reason in reasons if ABOUT[reason].failure), UnscoredReason.SPLIT_JURY)


def _vote(one: Judgement) -> Vote:
    return Vote(
        judged_by=one.judged_by,
        verdict=one.verdict,
        contradicted=one.contradicted,
        unscored_reason=one.unscored_reason,
        rationale=one.rationale,
        score=one.score,
    )


def _with(facts: Sequence[JudgedFact], judgements: Sequence[Judgement]) -> list[JudgedFact]:
    return [replace(fact, judgement=one) for fact, one in zip(facts, judgements, strict=True)]
