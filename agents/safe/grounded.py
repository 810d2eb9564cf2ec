"""The grounded plan, for documents that come with an answer: claims are found and judged together, by passages shown.

One call for a window of sentences lists their facts and judges each. What is not supported is looked at again, in
batches, by passages found for these claims themselves. Nothing is judged by relevance, which is a label here. What a
reply leaves out is asked again, then read sentence by sentence and judged claim by claim, as in the fused plan.

factloop's own: SAFE (Wei et al. 2024, section 3) judges each fact by a search of its own.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from factloop.agents.safe.branch import ClaimNode, task_of
from factloop.agents.safe.claims import claim_id, settle
from factloop.agents.safe.context import CheckContext, SafeGraph
from factloop.agents.safe.fused import FusedPlan
from factloop.agents.safe.given import read_in_batches, unread
from factloop.agents.safe.judgements import unless_unanswered, unscored
from factloop.agents.safe.passages import passages_for, passages_of_claims
from factloop.agents.safe.repeats import without_repeats
from factloop.agents.safe.stages import GroundedStages, JudgedFact, WindowReading, WindowTask
from factloop.agents.safe.state import FactState, Place, PlacedClaim, PlacedFact, SentenceState, place_fact
from factloop.agents.safe.windows import GROUNDED_WINDOW, goes_on, windows_of
from factloop.agents.shown import PASSAGE_CHARACTERS
from factloop.core.citations import renumbered
from factloop.core.errors import ConfigError, FactloopError, ModelOutputError
from factloop.core.grounds import absent
from factloop.core.records import Evidence, Judgement, Verdict
from factloop.tools.search.passages import best_passages

BATCH_CLAIMS = 7
"""Most claims in one second look."""
MOST_SHOWN = 5
"""Passages that a claim lists as evidence if its judgement cites no passage."""


@dataclass(frozen=True)
class GroundedPlan:
    """The grounded plan, with the stages that fill it."""

    stages: GroundedStages
    results: int
    """Passages to search for each sentence, and for each claim that is looked at again."""

    @property
    def merges_repeats(self) -> bool:
        return True

    @property
    def reads_code(self) -> bool:
        return self.stages.reads_code

    @property
    def searches_ahead(self) -> bool:
        return False

    @property
    def _one_by_one(self) -> FusedPlan:
        return FusedPlan(self.stages, gates=False)

    @property
    def second_look(self) -> GroundedPlan:
        return self

    def grouped(self, sentences: Sequence[SentenceState]) -> Sequence[Sequence[SentenceState]]:
        return windows_of(sentences, GROUNDED_WINDOW, goes_on)

    def branches(self, cases: Sequence[FactState]) -> Sequence[FactState]:
        return cases

    def build_claim_branch(self, *, max_searches: int, look: ClaimNode | None = None) -> SafeGraph:
        """The claim's graph, as in the fused plan: for sentences read by themselves, and claims a batch left open."""
        return self._one_by_one.build_claim_graph(max_searches=max_searches, look=look)

    async def find_facts(self, group: Sequence[SentenceState], context: CheckContext) -> list[PlacedFact]:
        """The facts of a window, each judged; without anything to judge by they are found one by one."""
        if not context.searching.tools:
            return await self._one_by_one.each_alone(group, context)
        if group[0]["given"] is not None:
            return await read_in_batches(self._read_given, group[0], context)
        tasks = tuple(task_of(sentence, context) for sentence in group)
        shown = await passages_for(tasks, context, results=self.results)
        window = WindowTask(tasks, shown.items, shown.failure)
        if not window.passages:
            return await self._one_by_one.each_alone(group, context)
        try:
            reading = await self.stages.read(window, context)
        except ModelOutputError:
            return await self._one_by_one.each_alone(group, context)
        found = self._placed(reading, group, window)
        if passed_over := _passed_over(reading, group):
            found += await self._asked_again(passed_over, window, context)
        return found

    async def _asked_again(
        self, passed_over: Sequence[SentenceState], window: WindowTask, context: CheckContext
    ) -> list[PlacedFact]:
        """The facts of sentences that a reply passed over, asked once more, then sentence by sentence."""
        tasks = tuple(task_of(sentence, context) for sentence in passed_over)
        again = replace(window, sentences=tasks)
        try:
            reading = await self.stages.read(again, context)
        except ModelOutputError:
            return await self._one_by_one.each_alone(passed_over, context)
        except ConfigError:
            raise
        except FactloopError as error:  # what the first reply told of the others is paid for, and stands
            return [fact for one in passed_over for fact in unread(one, unscored(error), [(0, one["text"])])]
        rest = _passed_over(reading, passed_over)
        return [
            *self._placed(reading, passed_over, again),
            *(await self._one_by_one.each_alone(rest, context) if rest else []),
        ]

    async def _read_given(
        self, sentence: SentenceState, start: int, facts: Sequence[str], context: CheckContext
    ) -> list[PlacedFact]:
        """Facts that are split already, the first at place `start`, each judged."""
        task = task_of(sentence, context)
        try:
            shown = await passages_of_claims(facts, [task] * len(facts), context, results=self.results)
            window = WindowTask((task,), shown.items, shown.failure)
            judged = await self.stages.look_again(facts, window, context)
        except ModelOutputError:
            return await self._one_by_one.read_given(sentence, start, facts, context)
        pairs = enumerate(zip(facts, judged, strict=True), start)
        found = [_found(sentence, number, text, fact, window) for number, (text, fact) in pairs]
        # These were judged by passages found for themselves: where they are supported, another look would be the same.
        return [{**fact, "status": "settled"} if _is_supported(fact) else fact for fact in found]

    def _placed(self, reading: WindowReading, group: Sequence[SentenceState], window: WindowTask) -> list[PlacedFact]:
        numbers = [0] * len(group)
        found: list[PlacedFact] = []
        for fact in reading.facts:
            place = numbers[fact.sentence]
            numbers[fact.sentence] += 1
            found.append(_found(group[fact.sentence], place, fact.text, fact, window))
        return found

    def batches(self, facts: Sequence[PlacedFact]) -> Sequence[Sequence[PlacedFact]]:
        """The batches of judged facts; those settled stand alone, as no call will be needed for them."""
        doubted = [fact for fact in facts if fact["judgement"] is not None and not _is_settled(fact)]
        size = math.ceil(len(doubted) / max(1, math.ceil(len(doubted) / BATCH_CLAIMS)))
        batches = [doubted[start : start + size] for start in range(0, len(doubted), size or 1)]
        settled = [fact for fact in facts if _is_settled(fact)]
        return [*batches, settled] if settled else batches

    async def look_again(
        self, facts: Sequence[PlacedFact], sentences: Sequence[SentenceState], context: CheckContext
    ) -> list[PlacedClaim]:
        """Judges each claim by passages found for all of them; a look that fails leaves what the first one said.

        Only "nothing was found" it does not leave: that is a verdict where all was answered.

        What the first one settled needs none: it is here only because a cascade's verifier went before it.
        """
        if _is_settled(facts[0]):
            return [settle(fact, Judgement.model_validate(fact["judgement"])) for fact in facts]
        claims = [fact["self_contained"] for fact in facts]
        tasks = [task_of(sentence, context) for sentence in sentences]
        try:
            found = await passages_of_claims(claims, tasks, context, results=self.results)
            passages = _distinct([*found.items, *_cited_before(facts)])
            window = WindowTask((tasks[0],), passages, found.failure)
            judged = await self.stages.look_again(claims, window, context)
        except ModelOutputError:
            return []  # each goes to a branch of its own
        except ConfigError:
            raise
        except FactloopError as error:
            failure = unscored(error)
            firsts = [Judgement.model_validate(fact["judgement"]) for fact in facts]
            return [settle(fact, unless_unanswered(first, failure)) for fact, first in zip(facts, firsts, strict=True)]
        return [_settled(fact, answer.judgement, window) for fact, answer in zip(facts, judged, strict=True)]


def _is_supported(fact: PlacedFact) -> bool:
    return (fact["judgement"] or {}).get("verdict") == Verdict.SUPPORTED


def _is_settled(fact: PlacedFact) -> bool:
    """Whether a judged fact is supported by passages that name what it names: it needs no second look."""
    judgement = fact["judgement"] or {}
    if not _is_supported(fact):
        return False
    cited = [Evidence.model_validate(item) for item in fact["evidence"] if item["id"] in judgement["cited"]]
    return not absent(fact["self_contained"], cited)


def _passed_over(reading: WindowReading, group: Sequence[SentenceState]) -> list[SentenceState]:
    told = {fact.sentence for fact in reading.facts} | reading.silent
    return [sentence for number, sentence in enumerate(group) if number not in told]


def _found(sentence: SentenceState, number: int, text: str, fact: JudgedFact, window: WindowTask) -> PlacedFact:
    """A fact as it was judged at first, which leaves it open unless it is settled."""
    place = Place(sentence=sentence["number"], fact=number)
    evidence, judgement = _own_evidence(place, fact.text, unless_unanswered(fact.judgement, window.failure), window)
    found = place_fact(
        sentence,
        number,
        text,
        self_contained=fact.text,
        status="open",
        relevant=fact.relevant,
        judgement=judgement,
        evidence=evidence,
    )
    return {**found, "status": "settled"} if _is_settled(found) else found


def _settled(fact: PlacedFact, judgement: Judgement, window: WindowTask) -> PlacedClaim:
    stands = unless_unanswered(judgement, window.failure)
    evidence, own = _own_evidence(fact["place"], fact["self_contained"], stands, window)
    return settle({**fact, "evidence": [item.model_dump(mode="json") for item in evidence]}, own)


def _own_evidence(
    place: Place, claim: str, judgement: Judgement, window: WindowTask
) -> tuple[list[Evidence], Judgement]:
    """The passages that a judgement cites, as evidence of this claim; where it cites none, those nearest to it."""
    cited = set(judgement.cited)
    shown = [item for item in window.passages if item.id in cited] or _nearest(claim, window.passages)
    ids = {item.id: f"{claim_id(place)}-e{number}" for number, item in enumerate(shown, 1)}
    evidence = [item.model_copy(update={"id": ids[item.id]}) for item in shown]
    of_window = {item.id: number for number, item in enumerate(window.passages, 1)}
    numbers = {of_window[item.id]: number for number, item in enumerate(shown, 1)}
    own = {
        "cited": tuple(ids[name] for name in judgement.cited),
        "rationale": renumbered(judgement.rationale, numbers, n_shown=len(window.passages)),
    }
    return evidence, judgement.model_copy(update=own)


def _nearest(claim: str, passages: Sequence[Evidence]) -> list[Evidence]:
    """The passages that share the rarest words with a claim, in their order."""
    chosen = best_passages(claim, [f"{item.title} {item.passage}" for item in passages], MOST_SHOWN)
    return [passages[index] for index in sorted(chosen)]


def _cited_before(facts: Sequence[PlacedFact]) -> list[Evidence]:
    """The passages that the first look cited."""
    cited: Mapping[str, Any]
    found: list[Evidence] = []
    for fact in facts:
        cited = dict.fromkeys((fact["judgement"] or {})["cited"])
        found += (Evidence.model_validate(item) for item in fact["evidence"] if item["id"] in cited)
    return found


def _distinct(passages: Iterable[Evidence]) -> tuple[Evidence, ...]:
    """The distinct passages, numbered anew."""
    kept = without_repeats(passages, most=PASSAGE_CHARACTERS)
    return tuple(item.model_copy(update={"id": f"p{number}"}) for number, item in enumerate(kept, 1))
