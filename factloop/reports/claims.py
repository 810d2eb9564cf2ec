"""One view of a claim: its status and words, why it is judged so, and its evidence.

The terminal, the page, the brief, the CSV file, the messages of tests and the service's page are laid out from it. The
words of a verdict stand here alone, those of the reasons why a claim is unscored in `factloop.core.reasons`.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import cached_property, lru_cache

from factloop.core.citations import reason
from factloop.core.findings import Finding
from factloop.core.reasons import ABOUT, UnscoredReason
from factloop.core.records import Claim, Evidence, Judgement, NoClaim, Verdict, Vote
from factloop.tools.text.sentences import Sentence, split_sentences


class Status(StrEnum):
    """The verdict, with its two kinds of `not_supported` apart, or unscored. Declared worst first."""

    CONTRADICTED = "contradicted"
    NO_EVIDENCE = "no_evidence"
    UNSCORED = "unscored"
    SUPPORTED = "supported"
    IRRELEVANT = "irrelevant"

    @property
    def words(self) -> str:
        return _LOOK[self][0]

    @property
    def symbol(self) -> str:
        """One character that tells the statuses apart without colour."""
        return _LOOK[self][1]


_LOOK = {
    Status.CONTRADICTED: ("contradicted", "✗"),
    Status.NO_EVIDENCE: ("no evidence found", "○"),
    Status.UNSCORED: ("unscored", "?"),
    Status.SUPPORTED: ("supported", "✓"),
    Status.IRRELEVANT: ("irrelevant", "–"),
}

READING_ORDER = (Status.SUPPORTED, Status.CONTRADICTED, Status.NO_EVIDENCE, Status.IRRELEVANT, Status.UNSCORED)
"""The order of bars, counts and filters: what entered precision first."""

PROBLEMS = (Status.CONTRADICTED, Status.NO_EVIDENCE, Status.UNSCORED)
"""What a reader has to look into, worst first."""

REASON_WORDS = {reason: about.claim for reason, about in ABOUT.items()}

NO_CLAIM_WORDS = {
    NoClaim.ABSTENTION: "says that there is no answer",
    NoClaim.HEADING: "heading",
    NoClaim.QUESTION: "question",
    NoClaim.REMARK: "remark",
    NoClaim.NO_STATEMENT: "states nothing",
    NoClaim.NO_CLAIM: "no claim found",
    NoClaim.CODE: "code, not read",
    NoClaim.NOT_READ: "not read",
}
NO_CLAIM_SYMBOL = "·"

_STAGE_WORDS = {"cheap": "the cheap verifier", "model": "the model"}


def unscored_words(reason: UnscoredReason) -> str:
    """The words of a claim without a verdict."""
    words = REASON_WORDS[reason]
    return words if reason is UnscoredReason.NEEDS_READING else f"{Status.UNSCORED.words}: {words}"


def finding_words(finding: Finding) -> str:
    """The words of a finding: those of a claim with it, or of a sentence without a claim."""
    if finding is Finding.UNREAD:
        return NO_CLAIM_WORDS[NoClaim.NOT_READ]
    if finding is Finding.CLAIM_FREE:
        return NO_CLAIM_WORDS[NoClaim.NO_CLAIM]
    return (Status.NO_EVIDENCE if finding is Finding.UNSUPPORTED else Status(finding.value)).words


def verdict_table() -> dict[str, dict[str, str]]:
    """Status, words and symbol by status and by reason, as JSON for the scripts of pages."""
    looks = {status.value: (status, status.words) for status in Status}
    looks |= {reason.value: (Status.UNSCORED, unscored_words(reason)) for reason in UnscoredReason}
    return {name: {"status": one.value, "words": words, "symbol": one.symbol} for name, (one, words) in looks.items()}


@dataclass(frozen=True)
class EvidenceRow:
    """A passage as a report shows it, with the number by which a rationale speaks of it."""

    number: int
    item: Evidence
    is_cited: bool


@dataclass(frozen=True)
class ClaimView:
    """A claim as every output shows it. Its texts are those of the report: each output makes them safe to look at."""

    claim: Claim
    number: int = 0
    """In the report, from 1."""
    repeats: int | None = None
    """Number of the earlier claim that says the same, where that is in the report."""

    @property
    def text(self) -> str:
        return self.claim.self_contained

    @property
    def status(self) -> Status:
        return status_of(self.claim)

    @property
    def words(self) -> str:
        """The verdict in words, or why there is none."""
        return verdict_words(self.claim.judgement)

    @property
    def is_problem(self) -> bool:
        return self.status in PROBLEMS

    @property
    def needs_reading(self) -> bool:
        return self.claim.judgement.unscored_reason is UnscoredReason.NEEDS_READING

    @property
    def source_says(self) -> str:
        """`1836 · the source says 1826`; empty where the judge does not name both."""
        judgement = self.claim.judgement
        wrong, instead = (" ".join(text.split()) for text in (judgement.wrong, judgement.instead))
        return f"{wrong} · the source says {instead}" if wrong and instead else ""

    @property
    def why(self) -> str:
        """The rationale, for readers who do not see the numbers of its passages."""
        return reason(self.claim)

    @property
    def stage(self) -> str:
        """What judged in a cascade; empty without one."""
        stage = self.claim.judgement.stage
        return "" if stage is None else _STAGE_WORDS[stage]

    @property
    def jury(self) -> tuple[str, ...]:
        """What each model of a jury said, with its reason where that is not the one shown for the claim."""
        shown = ("", self.claim.judgement.rationale)
        return tuple(
            f"{vote.judged_by}: {verdict_words(vote)}{'' if vote.rationale in shown else f' ({vote.rationale})'}"
            for vote in self.claim.judgement.votes
        )

    @cached_property
    def cited(self) -> tuple[Evidence, ...]:
        """The evidence that the verdict rests on, as the judge orders it; empty where no evidence was found.

        A judge may name the nearest passages there too, but nothing rests on them.
        """
        if self.status is Status.NO_EVIDENCE:
            return ()
        by_id = {item.id: item for item in self.claim.evidence}
        return tuple(by_id[name] for name in self.claim.judgement.cited)

    @cached_property
    def deciding(self) -> DecidingSentence | None:
        """The sentence that the judge quotes, in its words or beside them, or the whole of a cited passage of one
        sentence. None where only passages are known: none is guessed.
        """
        found = next(_quoted_in(self.cited, [self.claim.judgement.quote]), None)
        if found is not None:
            return found
        quoted = next(_quoted_in(self.cited, _quotes(self.claim.judgement.rationale)), None)
        if quoted is not None:
            return _whole(quoted)
        return _only_sentence(self.cited[0]) if len(self.cited) == 1 else None

    @cached_property
    def marked(self) -> DecidingSentence | None:
        """The sentence to be marked in its passage: the deciding one, or the one that the judge calls the nearest."""
        if self.deciding is not None or self.status is not Status.NO_EVIDENCE:
            return self.deciding
        judgement = self.claim.judgement
        read = sorted(self.claim.evidence, key=lambda item: item.id not in judgement.cited)
        quoted = next(_quoted_in(read, [judgement.quote, *_quotes(judgement.rationale)]), None)
        return None if quoted is None else replace(_whole(quoted), decides=False)

    @property
    def evidence(self) -> list[EvidenceRow]:
        """All passages: the one with the deciding sentence, then the others that are cited, then the rest."""
        cited = {item.id for item in self.cited}
        first = self.marked.evidence.id if self.marked is not None else None
        rows = [EvidenceRow(number, item, item.id in cited) for number, item in enumerate(self.claim.evidence, 1)]
        return sorted(rows, key=lambda row: (row.item.id != first, not row.is_cited))


def views_of(claims: Sequence[Claim]) -> list[ClaimView]:
    """The claims of a report, numbered in its order."""
    numbers = {claim.id: number for number, claim in enumerate(claims, 1)}
    return [
        ClaimView(claim, number, None if claim.duplicate_of is None else numbers.get(claim.duplicate_of))
        for number, claim in enumerate(claims, 1)
    ]


def verdict_words(said: Judgement | Vote) -> str:
    """The verdict in words, or why there is none."""
    return _status(said).words if said.unscored_reason is None else unscored_words(said.unscored_reason)


def status_of(claim: Claim) -> Status:
    """The status that the claim's judgement gives it."""
    return _status(claim.judgement)


def _status(judgement: Judgement | Vote) -> Status:
    match judgement.verdict:
        case Verdict.SUPPORTED:
            return Status.SUPPORTED
        case Verdict.NOT_SUPPORTED:
            return Status.CONTRADICTED if judgement.contradicted else Status.NO_EVIDENCE
        case Verdict.IRRELEVANT:
            return Status.IRRELEVANT
        case None:
            return Status.UNSCORED


def worst(claims: Sequence[Claim]) -> Status:
    """The status that decides the colour of a sentence with these claims. Raises ValueError without claims."""
    return min(map(status_of, claims), key=list(Status).index)


def problems_first(views: Iterable[ClaimView]) -> list[ClaimView]:
    """Contradicted claims, then those without evidence, then unscored ones, then the others; each kind in its order."""
    return sorted(views, key=lambda one: PROBLEMS.index(one.status) if one.is_problem else len(PROBLEMS))


def tally(claims: Iterable[Claim]) -> Counter[Status]:
    """Number of claims of each status."""
    return Counter(map(status_of, claims))


def tally_reasons(claims: Iterable[Claim]) -> Counter[UnscoredReason]:
    """Number of unscored claims by reason."""
    return Counter(claim.judgement.unscored_reason for claim in claims if claim.judgement.unscored_reason is not None)


@dataclass(frozen=True)
class SharedPassage:
    """A passage that several claims of a page show. It stands with the first of them, and the others refer to it."""

    number: int
    """Of the passage on its page, from 1."""
    claim: int
    """The number of the claim that it stands with."""
    stands_here: bool


def shared_passages(views: Iterable[ClaimView]) -> Mapping[tuple[int, str], SharedPassage]:
    """The passages that several claims show, by the claim's number and the evidence's id. Claims in the page's order.

    Without it a page would grow with the claims times what each of them reads.
    """
    shown: dict[tuple[str, str | None, str], list[tuple[int, str]]] = {}
    for one in views:
        for item in one.claim.evidence:
            shown.setdefault((item.source, item.section, item.passage), []).append((one.number, item.id))
    several = [places for places in shown.values() if len(places) > 1]
    return {
        place: SharedPassage(number, places[0][0], place == places[0])
        for number, places in enumerate(several, 1)
        for place in places
    }


_QUOTED = re.compile('“([^”\n]{8,600})”|"([^"\n]{8,600})"|«([^»\n]{8,600})»|‘([^’\n]{8,600})’')
_FEWEST_WORDS = 3
"""Words of a quote in a rationale: shorter ones name a thing, and stand in many sentences."""
_LONGEST_SENTENCE = 600
"""Characters: a longer passage is no single sentence."""
_HEADING = re.compile(r"\n\n((?:[^\n›]{1,60}|[^\n]{1,300}›[^\n]{1,300})(?<![.!?…:;,\"”)]))(?=\n)")
"""The headings within a passage that reaches over several sections, as local documents give it."""


@dataclass(frozen=True)
class DecidingSentence:
    """The sentence of the evidence that decides a claim, or comes nearest to it, in its passage."""

    evidence: Evidence
    start: int
    """In the passage, in characters."""
    end: int
    decides: bool = True
    """Otherwise it only comes nearest to a claim for which no evidence was found."""

    @property
    def text(self) -> str:
        return self.evidence.passage[self.start : self.end]

    @property
    def section(self) -> str | None:
        """The headings that it stands under: the last in its passage before it, else those the passage begins under."""
        above = _HEADING.findall(self.evidence.passage, 0, self.start)
        return above[-1] if above else self.evidence.section


def _quoted_in(passages: Sequence[Evidence], quotes: Sequence[str]) -> Iterator[DecidingSentence]:
    for quote in filter(None, map(str.split, quotes)):
        pattern = re.compile(r"\s+".join(map(re.escape, quote)))
        for item in passages:
            found = pattern.search(item.passage)
            if found is not None:
                yield DecidingSentence(item, *found.span())


def _quotes(rationale: str) -> list[str]:
    quotes = ["".join(filter(None, groups)).strip(" .…") for groups in _QUOTED.findall(rationale)]
    return [quote for quote in quotes if len(quote.split()) >= _FEWEST_WORDS]


def _whole(quoted: DecidingSentence) -> DecidingSentence:
    """The sentences that hold the quote."""
    sentences = [
        one for one in _sentences(quoted.evidence.passage) if one.start < quoted.end and quoted.start < one.end
    ]
    if not sentences:
        return quoted
    start, end = min(quoted.start, sentences[0].start), max(quoted.end, sentences[-1].end)
    return DecidingSentence(quoted.evidence, start, end)


@lru_cache(maxsize=256)
def _sentences(passage: str) -> Sequence[Sentence]:
    """Kept for the claims that follow: many of a long response read the same few passages."""
    return tuple(split_sentences(passage))


def _only_sentence(item: Evidence) -> DecidingSentence | None:
    if len(item.passage) > _LONGEST_SENTENCE:
        return None
    sentences = _sentences(item.passage)
    return DecidingSentence(item, sentences[0].start, sentences[0].end) if len(sentences) == 1 else None
