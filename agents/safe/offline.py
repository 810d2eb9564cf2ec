"""Implements the fused and paper stages without a chat model: spaCy extracts facts, and a verifier judges them."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Protocol

from factloop.agents.safe.answer import Answer
from factloop.agents.safe.judgements import other_language
from factloop.agents.safe.stages import Case, CheckContext, FoundFact, SplitSentence
from factloop.agents.safe.state import NextQueries, SentenceTask
from factloop.agents.shown import document_numbers
from factloop.core.citations import heading
from factloop.core.records import Evidence, Judgement, UnscoredReason, Verdict
from factloop.tools.judges.base import SupportReading, Verifier
from factloop.tools.judges.found_pieces import pieces_of
from factloop.tools.judges.pairs import THRESHOLD, Judge, Read, rate
from factloop.tools.text.language import is_english_at
from factloop.tools.text.markup import plain_text
from factloop.tools.text.pipeline import parse, parsed_part
from factloop.tools.text.queries import next_query, search_query, topic_of
from factloop.tools.text.referents import ReadClaim, read_claims
from factloop.tools.text.rows import row_claims
from factloop.tools.text.statements import states_something

if TYPE_CHECKING:
    from spacy.language import Language

NOTHING_FOUND = "The search found nothing on this claim."
OPEN = "The response leaves open whom or what the claim is about."
_LOOK_BACK = 12
"""Number of earlier sentences to pass on for resolving pronouns and short names."""


class Rater(Protocol):
    @property
    def name(self) -> str: ...

    async def judge(self, case: Case, context: CheckContext) -> tuple[SupportReading, Judgement]: ...


@dataclass(frozen=True)
class VerifierRater:
    """Rates claims with a verifier, such as the packaged baseline."""

    verifier: Verifier
    nlp: Language

    @property
    def name(self) -> str:
        return self.verifier.name

    async def judge(self, case: Case, context: CheckContext) -> tuple[SupportReading, Judgement]:
        async with context.computing:
            await asyncio.sleep(0)  # lets other checks run
            context.meter.allowance.refuse_late()
            reading = verify_case(self.verifier, case, self.nlp)
        return reading, judgement_of(reading, case, self.verifier)


@dataclass(frozen=True)
class JudgeRater:
    """Rates claims with a judge model and its thresholds (`--judge`).

    Claims that score at least `upper` are supported, and claims that score at most `lower` are not. The claims in
    between are left to a person. Without thresholds derived from labels, `lower` is None and no claims are in between.
    """

    verifier: Judge
    upper: float = THRESHOLD
    lower: float | None = None
    reads: Read | None = None
    """Replaces the judge's own `read`, so that all waiting claims are read together."""

    @property
    def name(self) -> str:
        return self.verifier.judged_by

    async def judge(self, case: Case, context: CheckContext) -> tuple[SupportReading, Judgement]:
        """Puts its title above each passage, because the title often names the subject that the passage calls *it*."""
        texts = [f"{heading(one.title, one.section)}\n{one.passage}".strip() for one in case.evidence]
        reading = await rate(self.verifier, case.claim, texts, meter=context.meter, upper=self.upper, read=self.reads)
        judgement = judgement_of(reading, case, self.verifier).model_copy(update={"judged_by": self.name})
        score, lower = judgement.score, self.lower
        if lower is None or score is None or not lower < score < self.upper:
            return reading, judgement
        return reading, Judgement(
            unscored_reason=UnscoredReason.NEEDS_READING,
            rationale=f"{judgement.rationale} According to your labels, {lower:g} or less means not "
            f"supported, and {self.upper:g} or more means supported.",
            cited=judgement.cited,
            score=score,
            judged_by=judgement.judged_by,
        )


@dataclass(frozen=True)
class _OfflineStages:
    rater: Rater
    nlp: Language
    reads_code: bool = False

    @property
    def name(self) -> str:
        return self.rater.name

    async def abstention(self, _task: SentenceTask, _passages: Sequence[Evidence], _context: CheckContext) -> None:
        """Returns None, because comparing words cannot show whether a passage answers a question."""


class OfflineFusedStages(_OfflineStages):
    async def sentence_facts(
        self, tasks: Sequence[SentenceTask], context: CheckContext
    ) -> Sequence[Sequence[FoundFact]]:
        return [
            [_found(claim, context.answer) for claim in _claims_of(task, context.answer, self.nlp)]
            if _is_read(task, context.answer)
            else [_unread(task.sentence)]
            for task in tasks
        ]

    async def given_facts(self, task: SentenceTask, facts: Sequence[str], context: CheckContext) -> Sequence[FoundFact]:
        """Resolves pronouns and short names in the supplied facts, without splitting them."""
        if not _is_read(task, context.answer):
            return [_unread(fact) for fact in facts]
        return [_found(_whole(fact, task, context.answer, self.nlp), context.answer) for fact in facts]

    async def assess(self, case: Case, context: CheckContext) -> Judgement | NextQueries:
        """Settles a claim once the evidence supports or contradicts it, or no queries are left."""
        reading, judgement = await self.rater.judge(case, context)
        if reading.label == "insufficient" and case.may_search and _is_worth_another_query(case):
            query = next_query(case.claim, case.queries)
            if query is not None:
                return NextQueries((query,))
        return judgement

    async def assess_together(
        self, cases: Sequence[Case], _evidence: Sequence[Evidence], context: CheckContext
    ) -> Sequence[Judgement | NextQueries]:
        """Judges each claim by its own passages."""
        return [await self.assess(case, context) for case in cases]


class OfflinePaperStages(_OfflineStages):
    """The paper plan's stages without a chat model, with SAFE's fixed number of searches."""

    async def split(self, task: SentenceTask, context: CheckContext) -> SplitSentence:
        if not _is_read(task, context.answer):
            return SplitSentence([task.sentence])
        return SplitSentence([claim.text for claim in _claims_of(task, context.answer, self.nlp)])

    async def revise(self, fact: str, task: SentenceTask, context: CheckContext) -> str:
        if not _is_read(task, context.answer):
            return fact
        claims = _claims_of(task, context.answer, self.nlp)
        return next((one.self_contained for one in claims if one.text == fact), fact)

    async def relevance(self, _claim: str, _task: SentenceTask, _context: CheckContext) -> bool:
        """Returns True, because words alone do not show relevance, and excluding claims would hide errors."""
        return True

    async def next_query(self, case: Case, _context: CheckContext) -> NextQueries:
        """Returns a query in new words, or the first query again if there are none.

        A repeated web search is answered from the cache. Documents and custom tools are searched again.
        """
        return NextQueries((next_query(case.claim, case.queries) or search_query(case.claim),))

    async def rate(self, case: Case, context: CheckContext) -> Judgement:
        if not _is_read(case.task, context.answer):
            return other_language(self.name)
        return (await self.rater.judge(case, context))[1]


def verify_case(verifier: Verifier, case: Case, nlp: Language) -> SupportReading:
    """Judges a claim by its evidence.

    Search results contain neighbouring text on other subjects, so the verifier reads them in pieces. Each piece follows
    its title, which often names the subject that the passage calls *she* or *it*. If a claim does not say whom it is
    about, a verifier that can abstain gives no verdict.
    """
    numbers = document_numbers(case.evidence)
    found = [
        (index, piece)
        for index, one in enumerate(case.evidence)
        for piece in pieces_of(one.title, one.section, one.passage)
    ]
    reading = verifier.verify(case.claim, [piece for _, piece in found], [numbers[index] for index, _ in found])
    cited = tuple(dict.fromkeys(found[index][0] for index in reading.cited))
    is_said = bool(cited) and reading.quote in case.evidence[cited[0]].passage  # otherwise it is from a heading
    reading = replace(reading, cited=cited, quote=reading.quote if is_said else "")
    if verifier.abstains and reading.label != "insufficient" and _is_open(case.claim, nlp):
        return replace(reading, label="insufficient", rationale=OPEN, wrong="", instead="")
    return reading


def judgement_of(reading: SupportReading, case: Case, verifier: Verifier) -> Judgement:
    """Converts a reading to a judgement. If a verifier that can abstain is unsure, the claim is left to a person."""
    supported = reading.label == "supported"
    needs_reading = reading.label == "insufficient" and verifier.abstains and bool(reading.cited)
    said: dict[str, Any] = {
        "rationale": reading.rationale if case.evidence else NOTHING_FOUND,
        "cited": tuple(case.evidence[index].id for index in reading.cited),
        "score": reading.score,
        "judged_by": verifier.name,
        "quote": reading.quote,
    }
    if needs_reading:
        return Judgement(unscored_reason=UnscoredReason.NEEDS_READING, **said)
    return Judgement(
        verdict=Verdict.SUPPORTED if supported else Verdict.NOT_SUPPORTED,
        contradicted=None if supported else reading.label == "contradicted",
        wrong=reading.wrong,
        instead=reading.instead,
        **said,
    )


def _is_open(claim: str, nlp: Language) -> bool:
    doc = parse(parsed_part(claim), nlp)
    subject = next((token for token in doc if token.dep_ in {"nsubj", "nsubjpass"}), None)
    named = () if subject is None else subject.subtree
    return any(token.pos_ == "PRON" and "3" in token.morph.get("Person", []) for token in named)


def _is_read(task: SentenceTask, answer: Answer) -> bool:
    return is_english_at(answer.response, task.start, task.end)


def _found(claim: ReadClaim, answer: Answer) -> FoundFact:
    query = search_query(claim.self_contained, topic_of(answer.prompt))
    return FoundFact(claim.text, claim.self_contained, "check", query)


def _unread(fact: str) -> FoundFact:
    return FoundFact(fact, fact, "other_language", "")


def _claims_of(task: SentenceTask, answer: Answer, nlp: Language) -> Sequence[ReadClaim]:
    lead = task.above.splitlines()[-1] if task.above else ""
    rows = row_claims(task.sentence, lead)
    if rows:
        return [ReadClaim(row, row, is_open=False) for row in rows]
    text = plain_text(task.sentence)
    doc = parse(parsed_part(text), nlp) if lead.rstrip("*_ ").endswith(":") else None
    if doc is not None and all(token.pos_ not in {"VERB", "AUX"} for token in doc):
        said = f"{plain_text(lead)} {text}"  # *Side effects: nausea*
        return [ReadClaim(text, said, is_open=False)] if text else []
    if not states_something(text, nlp):
        return []
    return read_claims(text, _before(task, answer), answer.asked, nlp)


def _whole(fact: str, task: SentenceTask, answer: Answer, nlp: Language) -> ReadClaim:
    read = read_claims(plain_text(fact), _before(task, answer), answer.asked, nlp)
    return replace(read[0], text=fact) if len(read) == 1 else ReadClaim(fact, plain_text(fact), is_open=False)


def _before(task: SentenceTask, answer: Answer) -> Sequence[str]:
    before = [*answer.said_before, *(part.text for part in answer.prose_before(task.start))]
    opening = before[:1] if len(before) > _LOOK_BACK else []
    return [plain_text(text) for text in [*opening, *before[-_LOOK_BACK:]]]


def _is_worth_another_query(case: Case) -> bool:
    return len(case.queries) < 2 or any(item.query == " ".join(case.queries[-1].split()) for item in case.evidence)
