"""The grounded plan, for answers based on documents: one call finds claims and judges them against the passages.

Each call lists and judges the facts in a window of sentences. Claims are examined again in batches, for example if the
passages cited in support lack a figure or name of the claim, or if a search for the claim itself finds another passage
that may change the verdict. Relevance is only a label here and settles nothing. Sentences missing from a reply are
requested again, if necessary one at a time. Their claims are then judged one at a time, as in the fused plan.

This plan is our own: SAFE (Wei et al. 2024, section 3) searches for each fact separately.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial

from factloop.agents.safe.claim import ClaimNode
from factloop.agents.safe.fused import FusedPlan, GivenReader, in_groups
from factloop.agents.safe.judgements import NO_GROUNDS, in_own_terms, unless_unanswered, unscored
from factloop.agents.safe.passages import (
    SHOWN_CHARACTERS,
    Passages,
    may_bring_more,
    numbered,
    passages_for,
    passages_of_claims,
    without_repeats,
)
from factloop.agents.safe.sentences import GROUNDED_WINDOW, goes_on, windows_of
from factloop.agents.safe.stages import CheckContext, GroundedStages, JudgedFact, SafeGraph, WindowReading, WindowTask
from factloop.agents.safe.state import Fact, SentenceTask, settle, unsplit, whole
from factloop.agents.shown import PASSAGE_CHARACTERS
from factloop.core.errors import ConfigError, FactloopError, ModelOutputError
from factloop.core.grounds import absent
from factloop.core.records import Claim, Evidence, Judgement, UnscoredReason, Verdict
from factloop.tools.calls.together import together
from factloop.tools.search.passages import best_passages

BATCH_CLAIMS = 7
"""Maximum number of claims to examine again in one batch."""
MORE_MAY_SETTLE = (UnscoredReason.DISPUTED, UnscoredReason.SPLIT_JURY)
"""Reasons for an unscored claim that more passages may resolve."""
MOST_SHOWN = 5
"""Number of passages to list as evidence if a judgement cites none."""


@dataclass(frozen=True)
class GroundedPlan(GivenReader):
    stages: GroundedStages
    results: int
    """Number of search results to use for each sentence or claim. Searches of local documents may add more."""
    characters: int = SHOWN_CHARACTERS
    """Intended total length, in characters, of the passages in one prompt."""

    looks_again = True

    @cached_property
    def _one_by_one(self) -> FusedPlan:
        return FusedPlan(self.stages, gates=False)

    def grouped(self, sentences: Sequence[SentenceTask]) -> Sequence[Sequence[SentenceTask]]:
        return windows_of(sentences, GROUNDED_WINDOW, goes_on)

    def build_claim_branch(self, *, max_searches: int, look: ClaimNode | None = None) -> SafeGraph:
        """Builds the fused plan's graph, for open claims and for claims of sentences that were read alone."""
        return self._one_by_one.build_claim_graph(max_searches=max_searches, look=look)

    async def find_facts(self, group: Sequence[SentenceTask], context: CheckContext) -> list[Fact]:
        """Extracts the facts of a window and judges them, if there are passages to judge them against."""
        if not context.searching.tools:
            return await self._one_by_one.each_alone(group, context)
        if group[0].given is not None:
            return await self.read_all_given(group[0], context)
        shown = await passages_for(group, context, results=self.results, characters=self.characters)
        window = WindowTask(group, *shown)
        if not window.passages:
            return await self._one_by_one.each_alone(group, context)
        try:
            reading = await self.stages.read(window, context)
        except ModelOutputError:
            return await self._one_by_one.each_alone(group, context)
        found = _placed(reading, window)
        if passed_over := _passed_over(reading, group):
            found += await self._asked_again(replace(window, sentences=passed_over), context)
        return await self._closed(found, window, context)

    async def _asked_again(self, window: WindowTask, context: CheckContext) -> list[Fact]:
        try:
            reading = await self.stages.read(window, context)
        except ModelOutputError:
            return await self._one_by_one.each_alone(window.sentences, context)
        except ConfigError:
            raise
        except FactloopError as error:  # the first reply was paid for, and its facts are kept
            return [fact for task in window.sentences for fact in unsplit(task, unscored(error))]
        rest = await self._one_by_one.each_alone(_passed_over(reading, window.sentences), context)
        return [*_placed(reading, window), *rest]

    async def read_given(
        self, task: SentenceTask, start: int, facts: Sequence[str], context: CheckContext
    ) -> list[Fact]:
        """Judges supplied facts against passages found for them. Supported facts are final."""
        try:
            shown = await self._passages_of(facts, context)
            window = WindowTask((task,), *shown)
            judged = await self.stages.judge_given(facts, window, context)
        except ModelOutputError:
            return await self._one_by_one.read_given(task, start, facts, context)
        pairs = enumerate(zip(facts, judged, strict=True), start)
        found = [_found(task, number, text, fact, window) for number, (text, fact) in pairs]
        return await self._closed([_final(fact) if _is_supported(fact) else fact for fact in found], window, context)

    async def _closed(self, facts: Sequence[Fact], window: WindowTask, context: CheckContext) -> list[Fact]:
        """A supported fact is settled if the cited passages contain all its figures and names, and no other passage is
        likely to give another value. Otherwise, the verdict may come from the model's memory.
        """

        async def closed(fact: Fact) -> Fact:
            if fact.judgement is None or fact.status == "settled":
                return fact
            if fact.judgement.verdict is None and fact.judgement.unscored_reason not in MORE_MAY_SETTLE:
                return fact
            is_supported, claim = _is_supported(fact), fact.self_contained
            if is_supported and absent(claim, _cited(fact)):
                return fact
            if not is_supported and not fact.judgement.cited and fact.judgement.rationale == NO_GROUNDS:
                return fact
            more = partial(may_bring_more, claim, window.passages, context, results=self.results)
            return fact if not window.is_all and await more(other_side=is_supported) else _final(fact)

        return [*await together(closed(fact) for fact in facts)]

    async def _passages_of(self, claims: Sequence[str], context: CheckContext) -> Passages:
        return await passages_of_claims(claims, context, results=self.results, characters=self.characters)

    def batches(self, facts: Sequence[Fact]) -> Sequence[Sequence[Fact]]:
        """Groups the facts to examine again. Final facts form a separate batch, which costs no call."""
        settled = [fact for fact in facts if fact.is_final]
        doubted = [fact for fact in facts if fact.judgement is not None and not fact.is_final]
        size = math.ceil(len(doubted) / max(1, math.ceil(len(doubted) / BATCH_CLAIMS)))
        batches = in_groups(doubted, max(1, size))
        return [*batches, settled] if settled else batches

    async def look_again(
        self, facts: Sequence[Fact], tasks: Sequence[SentenceTask], context: CheckContext
    ) -> list[Claim]:
        """Judges all claims against the passages found for any of them.

        If a search or the request fails, first judgements are kept, but "nothing was found" becomes the failure. After
        an invalid reply, each claim gets its own branch. Final facts are included only because a cascade's verifier
        runs just before this method.
        """
        pairs = list(zip(facts, tasks, strict=True))
        firsts = [fact.judgement for fact in facts if fact.judgement is not None]
        if facts[0].is_final:
            return [settle(*pair, first) for pair, first in zip(pairs, firsts, strict=True)]
        claims = [fact.self_contained for fact in facts]
        try:
            found = await self._passages_of(claims, context)
            shown = (item for fact in facts for item in fact.evidence)
            passages = numbered(without_repeats([*found.items, *shown], most=PASSAGE_CHARACTERS))
            window = WindowTask(tasks[:1], passages, found.failure)
            judged = await self.stages.look_again(claims, window, context)
        except ModelOutputError:
            return []  # each claim gets its own branch
        except ConfigError:
            raise
        except FactloopError as error:
            failure = unscored(error)
            return [settle(*pair, unless_unanswered(first, failure)) for pair, first in zip(pairs, firsts, strict=True)]
        settled: list[Claim] = []
        for (fact, task), judgement in zip(pairs, judged, strict=True):
            stands = unless_unanswered(judgement, window.failure)
            evidence, own = _own_evidence(fact.id, fact.self_contained, stands, window)
            settled.append(settle(replace(fact, evidence=evidence), task, own))
        return settled


def _final(fact: Fact) -> Fact:
    return replace(fact, status="settled", is_final=True)


def _is_supported(fact: Fact) -> bool:
    return fact.judgement is not None and fact.judgement.verdict is Verdict.SUPPORTED


def _cited(fact: Fact) -> list[Evidence]:
    cited = () if fact.judgement is None else fact.judgement.cited
    return [item for item in fact.evidence if item.id in cited]


def _passed_over(reading: WindowReading, group: Sequence[SentenceTask]) -> list[SentenceTask]:
    told = {fact.sentence for fact in reading.facts} | reading.silent | reading.unfit
    return [task for number, task in enumerate(group) if number not in told]


def _placed(reading: WindowReading, window: WindowTask) -> list[Fact]:
    numbers = [0] * len(window.sentences)
    found: list[Fact] = []
    for fact in reading.facts:
        found.append(_found(window.sentences[fact.sentence], numbers[fact.sentence], fact.text, fact, window))
        numbers[fact.sentence] += 1
    return [*found, *(whole(window.sentences[place]) for place in sorted(reading.unfit))]


def _found(task: SentenceTask, number: int, text: str, judged: JudgedFact, window: WindowTask) -> Fact:

    fact = Fact(task.number, number, text, judged.text, "open", relevant=judged.relevant)
    stands = unless_unanswered(judged.judgement, window.failure)
    evidence, judgement = _own_evidence(fact.id, judged.text, stands, window)
    return replace(fact, judgement=judgement, evidence=evidence)


def _own_evidence(name: str, claim: str, judgement: Judgement, window: WindowTask) -> tuple[list[Evidence], Judgement]:
    cited = set(judgement.cited)
    shown = [item for item in window.passages if item.id in cited] or _nearest(claim, window.passages)
    ids = {item.id: f"{name}-e{number}" for number, item in enumerate(shown, 1)}
    of_window = {item.id: number for number, item in enumerate(window.passages, 1)}
    numbers = {of_window[item.id]: number for number, item in enumerate(shown, 1)}
    own = in_own_terms(judgement, ids, numbers, n_shown=len(window.passages))
    return [item.model_copy(update={"id": ids[item.id]}) for item in shown], own


def _nearest(claim: str, passages: Sequence[Evidence]) -> list[Evidence]:
    chosen = best_passages(claim, [f"{item.title} {item.passage}" for item in passages], MOST_SHOWN)
    return [passages[index] for index in sorted(chosen)]
