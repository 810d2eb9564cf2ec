"""Stages without a model, fused and paper: rules split, revise, judge relevance and word queries; a verifier rates.

A baseline: it costs nothing, needs no network and says so in `Judgement.judged_by`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import TYPE_CHECKING

from factloop.agents.documents import document_numbers
from factloop.agents.safe.context import CheckContext
from factloop.agents.safe.judgements import other_language
from factloop.agents.safe.stages import Case, FoundFact, NextQueries, SentenceTask
from factloop.core.records import Evidence, Judgement, Verdict
from factloop.tools.linguistics.claims import split_claims
from factloop.tools.linguistics.discourse import context_at, topic_of
from factloop.tools.linguistics.language import is_english_at
from factloop.tools.linguistics.leads import under_lead
from factloop.tools.linguistics.named_things import by_noun_alone
from factloop.tools.linguistics.queries import next_query, search_query
from factloop.tools.linguistics.references import is_ambiguous, resolve_references
from factloop.tools.linguistics.relevance import is_relevant
from factloop.tools.linguistics.rows import row_claims
from factloop.tools.search.base import SearchTool
from factloop.tools.verifiers.base import SupportReading, Verifier
from factloop.tools.verifiers.found_pieces import pieces_of

if TYPE_CHECKING:
    from spacy.language import Language

MOST_LOOKED_THROUGH = 200_000
"""Characters of all documents at most, where they are looked through for another thing of a kind."""
NOTHING_FOUND = "The search found nothing on this claim."


class OfflineFusedStages:
    """`FusedStages` by rules. Where the spaCy pipeline `nlp` parses, it splits instead; its entities are added."""

    reads_code = False

    def __init__(self, verifier: Verifier, nlp: Language | None = None) -> None:
        self.name = verifier.name
        self._verifier = verifier
        self._nlp = nlp

    async def sentence_facts(
        self, tasks: Sequence[SentenceTask], _context: CheckContext
    ) -> Sequence[Sequence[FoundFact]]:
        """The facts of each sentence; empty where it states nothing that can be checked."""
        return [self._facts_of(task) for task in tasks]

    async def given_facts(
        self,
        task: SentenceTask,
        facts: Sequence[str],
        _context: CheckContext,
    ) -> Sequence[FoundFact]:
        return [self._found(fact, task) for fact in facts] if _is_read(task) else [_unread(fact) for fact in facts]

    async def assess(self, case: Case, context: CheckContext) -> Judgement | NextQueries:
        """Settles a claim as soon as the evidence speaks for or against it, or once no query is left to ask."""
        entailment = _verify(self._verifier, case, context.searching.tools)
        if entailment.label == "insufficient" and case.may_search and _is_worth_another_query(case):
            query = next_query(case.claim, case.queries)
            if query is not None:
                return NextQueries((query,))
        return _judgement(entailment, case, self.name)

    async def assess_together(
        self, cases: Sequence[Case], _evidence: Sequence[Evidence], context: CheckContext
    ) -> Sequence[Judgement | NextQueries]:
        """Each claim by its own passages: rules gain nothing from reading several together."""
        return [await self.assess(case, context) for case in cases]

    def _facts_of(self, task: SentenceTask) -> Sequence[FoundFact]:
        if not _is_read(task):
            return [_unread(task.sentence)]
        return [self._found(fact, task) for fact in _split(task, self._nlp)]

    def _found(self, fact: str, task: SentenceTask) -> FoundFact:
        context = context_at(task.response, task.start, task.prompt, self._nlp)
        claim = resolve_references(fact, context, self._nlp)
        if is_ambiguous(fact, context):
            return FoundFact(fact, claim, "ambiguous", "")
        if not is_relevant(claim, prompt=task.prompt, response=task.response, nlp=self._nlp):
            return FoundFact(fact, claim, "irrelevant", "")
        return FoundFact(fact, claim, "check", search_query(claim, topic_of(context.asked)))


class OfflinePaperStages:
    """`PaperStages` by the same rules, one stage at a time, with SAFE's fixed number of searches."""

    reads_code = False

    def __init__(self, verifier: Verifier, nlp: Language | None = None) -> None:
        self.name = verifier.name
        self._verifier = verifier
        self._nlp = nlp

    async def split(self, task: SentenceTask, _context: CheckContext) -> Sequence[str]:
        return _split(task, self._nlp) if _is_read(task) else [task.sentence]

    async def revise(self, fact: str, task: SentenceTask, _context: CheckContext) -> str:
        if not _is_read(task):
            return fact
        return resolve_references(fact, context_at(task.response, task.start, task.prompt, self._nlp), self._nlp)

    async def relevance(self, claim: str, task: SentenceTask, _context: CheckContext) -> bool:
        return not _is_read(task) or is_relevant(claim, prompt=task.prompt, response=task.response, nlp=self._nlp)

    async def next_query(self, case: Case, _context: CheckContext) -> NextQueries:
        """A formulation not asked yet; the first one again when out of ideas.

        Web searches answer a repeat from the cache; documents, and tools of the user's own, are asked again.
        """
        return NextQueries((next_query(case.claim, case.queries) or search_query(case.claim),))

    async def rate(self, case: Case, context: CheckContext) -> Judgement:
        if not _is_read(case.task):
            return other_language(self.name)
        return _judgement(_verify(self._verifier, case, context.searching.tools), case, self.name)


def _is_read(task: SentenceTask) -> bool:
    """Whether the sentence is in the language of the rules."""
    return is_english_at(task.response, task.start, task.end)


def _unread(fact: str) -> FoundFact:
    """A fact in another language, as it stands."""
    return FoundFact(fact, fact, "other_language", "")


def _split(task: SentenceTask, nlp: Language | None) -> Sequence[str]:
    """The facts of a sentence or a row."""
    head = task.above.splitlines()[-1] if task.above else ""
    return row_claims(task.sentence, head) or split_claims(under_lead(task.sentence, head), nlp)


def _is_worth_another_query(case: Case) -> bool:
    """Whether the last query brought anything new; the first may fail for its wording alone."""
    return len(case.queries) < 2 or any(item.query == " ".join(case.queries[-1].split()) for item in case.evidence)


def _verify(verifier: Verifier, case: Case, tools: Sequence[SearchTool]) -> SupportReading:
    """By pieces of the length that the rater was fitted on: a hit comes with its neighbours, whose figures and names
    would hide what the one that speaks of the claim says otherwise. Each stands under its title, which often names the
    subject that the passage calls *she* or *it*. Those of one document may bear the claim out together."""
    numbers = document_numbers(case.evidence)
    found = [
        (index, piece)
        for index, one in enumerate(case.evidence)
        for piece in pieces_of(one.title, one.section, one.passage)
    ]
    pieces, documents = tuple(piece for _, piece in found), tuple(numbers[index] for index, _ in found)
    read = _read(verifier.verify, case.claim, pieces, documents)
    if read.label == "insufficient":
        read = _by_noun(verifier, case, pieces, documents, tools) or read
    cited = tuple(dict.fromkeys(found[index][0] for index in read.cited))
    is_said = bool(cited) and read.quote in case.evidence[cited[0]].passage  # else it is of a heading above it
    return replace(read, cited=cited, quote=read.quote if is_said else "")


def _by_noun(
    verifier: Verifier, case: Case, pieces: Sequence[str], documents: Sequence[int], tools: Sequence[SearchTool]
) -> SupportReading | None:
    """The reading that bears out a claim about *it* by pieces that call it *the bakery*, where no document that could
    be found names another one; else None."""

    def all_texts() -> list[str] | None:
        known = [tool.all_passages(MOST_LOOKED_THROUGH) for tool in tools]
        return None if None in known else [f"{hit.title}\n{hit.passage}" for hits in known for hit in hits or ()]

    found = by_noun_alone(case.claim, case.task.sentence, pieces, all_texts)
    if found is None:
        return None
    taken = found.passages
    read = _read(
        verifier.verify,
        found.claim,
        tuple(pieces[place] for place in taken),
        tuple(documents[place] for place in taken),
    )
    is_said = read.label == "supported" and f"the {found.noun}" in read.quote.lower()  # not of the mill beside it
    return replace(read, cited=tuple(taken[place] for place in read.cited)) if is_said else None


@lru_cache(maxsize=100)
def _read(
    verify: Callable[[str, Sequence[str], Sequence[int]], SupportReading],
    claim: str,
    pieces: tuple[str, ...],
    documents: tuple[int, ...],
) -> SupportReading:
    """Kept a while: where a search brings nothing new, the claim is judged by what was read before."""
    return verify(claim, pieces, documents)


def _rationale(entailment: SupportReading, case: Case) -> str:
    return entailment.rationale if case.evidence else NOTHING_FOUND


def _judgement(entailment: SupportReading, case: Case, judged_by: str) -> Judgement:
    supported = entailment.label == "supported"
    return Judgement(
        verdict=Verdict.SUPPORTED if supported else Verdict.NOT_SUPPORTED,
        contradicted=None if supported else entailment.label == "contradicted",
        rationale=_rationale(entailment, case),
        cited=tuple(dict.fromkeys(case.evidence[index].id for index in entailment.cited)),
        score=entailment.score,
        judged_by=judged_by,
        wrong=entailment.wrong,
        instead=entailment.instead,
        quote=entailment.quote,
    )
