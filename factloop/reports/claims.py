"""Prepares claims for display: their status, wording, reasons and evidence.

All outputs, including test messages and the service, use this wording of verdicts. The reasons for unscored claims are
in `factloop.core.reasons`, and the messages of guards are in `factloop.guarding.policy`.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import cached_property, lru_cache
from itertools import pairwise
from typing import Self

from factloop.core.citations import reason
from factloop.core.findings import Finding
from factloop.core.reasons import ABOUT, UnscoredReason
from factloop.core.records import Claim, Evidence, Judgement, LeftOut, NoClaim, Verdict, Vote, over_pages
from factloop.reports.differences import Kind, Piece, pieces, place_of_words
from factloop.tools.text.markup import plain_text
from factloop.tools.text.rows import row_in_words
from factloop.tools.text.sentences import Sentence, split_sentences
from factloop.tools.text.words import content_words


class Status(StrEnum):
    """A claim's verdict (with two kinds of `not_supported`), or unscored. The worst status comes first."""

    words: str
    symbol: str

    def __new__(cls, value: str, words: str, symbol: str) -> Self:
        member = str.__new__(cls, value)
        member._value_, member.words, member.symbol = value, words, symbol
        return member

    CONTRADICTED = "contradicted", "contradicted", "✗"
    NO_EVIDENCE = "no_evidence", "no evidence found", "○"
    UNSCORED = "unscored", "unscored", "?"
    SUPPORTED = "supported", "supported", "✓"
    IRRELEVANT = "irrelevant", "irrelevant", "–"


READING_ORDER = (Status.SUPPORTED, Status.CONTRADICTED, Status.NO_EVIDENCE, Status.IRRELEVANT, Status.UNSCORED)
"""The order in bars, counts and filters. Statuses that affect precision come first."""

PROBLEMS = (Status.CONTRADICTED, Status.NO_EVIDENCE, Status.UNSCORED)
"""The statuses that need the reader's attention, worst first."""

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
    words = REASON_WORDS[reason]
    return words if reason is UnscoredReason.NEEDS_READING else f"{Status.UNSCORED.words}: {words}"


def finding_words(finding: Finding) -> str:
    if finding is Finding.UNREAD:
        return NO_CLAIM_WORDS[NoClaim.NOT_READ]
    if finding is Finding.CLAIM_FREE:
        return NO_CLAIM_WORDS[NoClaim.NO_CLAIM]
    return (Status.NO_EVIDENCE if finding is Finding.UNSUPPORTED else Status[finding.name]).words


def verdict_table() -> dict[str, dict[str, str]]:
    """Maps each status and reason to its status, wording and symbol, for the pages' JavaScript."""
    looks = {status.value: (status, status.words) for status in Status}
    looks |= {reason.value: (Status.UNSCORED, unscored_words(reason)) for reason in UnscoredReason}
    return {name: {"status": one.value, "words": words, "symbol": one.symbol} for name, (one, words) in looks.items()}


@dataclass(frozen=True)
class EvidenceRow:
    """A passage as shown in a report, with the number that rationales use for it."""

    number: int
    item: Evidence
    is_cited: bool


@dataclass(frozen=True)
class Pair:
    """A claim and the matching sentence from its source. Where they differ, pieces are `removed` or `inserted`."""

    claim: tuple[Piece, ...]
    source: tuple[Piece, ...]


@dataclass(frozen=True)
class ClaimView:
    """A claim as shown in all outputs. Its texts are not escaped: each output must make them safe to display."""

    claim: Claim
    number: int = 0
    """Number in the report, starting at 1."""
    repeats: int | None = None
    """Number of the earlier claim that says the same thing, if it is in the report."""
    not_counted: str = ""
    """Why the claim is not counted, in words. Empty if it is counted."""

    @property
    def text(self) -> str:
        """The claim's text without Markdown. Claims from table rows are turned into sentences."""
        return plain_text(row_in_words(self.claim.self_contained, self.claim.sentence))

    @property
    def status(self) -> Status:
        return status_of(self.claim)

    @property
    def words(self) -> str:
        return verdict_words(self.claim.judgement)

    @property
    def is_problem(self) -> bool:
        return self.status in PROBLEMS

    @property
    def needs_reading(self) -> bool:
        return self.claim.judgement.unscored_reason is UnscoredReason.NEEDS_READING

    @property
    def source_says(self) -> str:
        """The wrong and the correct words, as in `1836 · the source says 1826`. Empty unless the judge names both."""
        judgement = self.claim.judgement
        wrong, instead = (" ".join(text.split()) for text in (judgement.wrong, judgement.instead))
        return f"{wrong} · the source says {instead}" if wrong and instead else ""

    @property
    def why(self) -> str:
        """The rationale with titles instead of passage numbers."""
        return reason(self.claim)

    @property
    def beside(self) -> str:
        """The part of a problem's rationale that is not already shown by the decisive sentence and the marked words.
        For a `needs_reading` claim, this is the part before the sentence that contains the quote."""
        rationale = self.claim.judgement.rationale
        if not self.is_problem:
            return ""
        if self.deciding is None or self.deciding.text not in rationale:
            return self.why
        if self.needs_reading:
            lead, stop, _ = rationale.partition(self.deciding.text)[0].rpartition(". ")
            return lead + stop.strip()
        return "" if self.source_says else self.why

    @property
    def stage(self) -> str:
        """The stage of the cascade that judged the claim. Empty without a cascade."""
        stage = self.claim.judgement.stage
        return "" if stage is None else _STAGE_WORDS[stage]

    @property
    def jury(self) -> tuple[str, ...]:
        """Each jury model's vote, with the model's reason unless the claim already shows it."""
        shown = ("", self.claim.judgement.rationale)
        return tuple(
            f"{vote.judged_by}: {verdict_words(vote)}{'' if vote.rationale in shown else f' ({vote.rationale})'}"
            for vote in self.claim.judgement.votes
        )

    @cached_property
    def cited(self) -> tuple[Evidence, ...]:
        """The evidence that the verdict is based on, in the judge's order. Empty if no evidence was found, even if the
        judge names passages that come closest."""
        if self.status is Status.NO_EVIDENCE:
            return ()
        by_id = {item.id: item for item in self.claim.evidence}
        return tuple(by_id[name] for name in self.claim.judgement.cited)

    @cached_property
    def deciding(self) -> DecidingSentence | None:
        """The sentence that the judge quotes, or the only sentence of the only cited passage, or None."""
        found = next(_quoted_in(self.cited, [self.claim.judgement.quote]), None)
        if found is not None:
            return found
        quoted = next(_quoted_in(self.cited, _quotes(self.claim.judgement.rationale)), None)
        if quoted is not None:
            return _whole(quoted)
        return _only_sentence(self.cited[0]) if len(self.cited) == 1 else None

    @cached_property
    def marked(self) -> DecidingSentence | None:
        """The sentence to mark in its passage: the decisive sentence or, if it is unknown, the closest one.

        For a claim without evidence, the judge names the closest sentence. For a verdict based on whole passages, it is
        the one that shares the most words with the claim and the rationale, with rare words counting more.
        """
        if self.deciding is not None or self.status in (Status.UNSCORED, Status.IRRELEVANT):
            return self.deciding
        judgement = self.claim.judgement
        if self.status is not Status.NO_EVIDENCE:
            said = {*content_words(self.claim.self_contained)} - {*content_words(judgement.wrong)}
            return _closest(self.cited, said | {*content_words(judgement.rationale)})
        read = sorted(self.claim.evidence, key=lambda item: item.id not in judgement.cited)
        quoted = next(_quoted_in(read, [judgement.quote, *_quotes(judgement.rationale)]), None)
        return None if quoted is None else replace(_whole(quoted), decides=False)

    @cached_property
    def pair(self) -> Pair:
        """The claim and the marked sentence, with their differences if the claim is a problem.

        The judge names the words that differ. If it names none, phrases found in only one of the two texts are marked,
        unless the texts have too little in common.
        """
        said = "" if self.marked is None else self.marked.text
        alone = Pair((Piece("same", self.text),), (Piece("same", said),) if said else ())
        if not said or not self.is_problem:
            return alone
        judgement = self.claim.judgement
        wrong, instead = place_of_words(self.text, judgement.wrong), place_of_words(said, judgement.instead)
        if wrong is not None:
            source = _around(said, instead, "inserted") if instead else alone.source
            return Pair(_around(self.text, wrong, "removed"), source)
        found = pieces(self.text, said)
        if sum(len(one.text) for one in found if one.kind == "same") < _LEAST_ALIKE * len(self.text):
            return alone
        differs = {one for one in found if one.kind == "removed" and one.text.strip(_PUNCTUATION)}
        replaced = {after for before, after in pairwise(found) if before in differs}
        return Pair(
            tuple(one if one in differs else Piece("same", one.text) for one in found if one.kind != "inserted"),
            tuple(one if one in replaced else Piece("same", one.text) for one in found if one.kind != "removed"),
        )

    @property
    def evidence(self) -> list[EvidenceRow]:
        """All passages, starting with the one that contains the marked sentence, followed by other cited passages."""
        cited = {item.id for item in self.cited}
        first = self.marked.evidence.id if self.marked is not None else None
        rows = [EvidenceRow(number, item, item.id in cited) for number, item in enumerate(self.claim.evidence, 1)]
        return sorted(rows, key=lambda row: (row.item.id != first, not row.is_cited))


def views_of(claims: Sequence[Claim]) -> list[ClaimView]:
    numbers = {claim.id: number for number, claim in enumerate(claims, 1)}
    return [
        ClaimView(
            claim,
            number,
            None if claim.duplicate_of is None else numbers.get(claim.duplicate_of),
            "" if claim.left_out is None else _not_counted(claim.left_out, numbers),
        )
        for number, claim in enumerate(claims, 1)
    ]


def _not_counted(why: LeftOut, numbers: Mapping[str, int]) -> str:
    named = sorted(numbers[name] for name in why.claims if name in numbers)
    which = f"claim{'s' if len(named) > 1 else ''} {', '.join(map(str, named))}" if named else "another claim"
    follow = "follow" if len(named) > 1 else "follows"
    said = {"follows": f"it follows from {which}", "combines": f"{which} {follow} from it"}
    return f"not counted: {said.get(why.why, 'it is true of almost anything')}"


def verdict_words(said: Judgement | Vote) -> str:
    return _status(said).words if said.unscored_reason is None else unscored_words(said.unscored_reason)


def status_of(claim: Claim) -> Status:
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
    """Returns the worst status. Raises ValueError if there are no claims."""
    return min(map(status_of, claims), key=list(Status).index)


def problems_first(views: Iterable[ClaimView]) -> list[ClaimView]:
    """Sorts contradicted claims first, then unsupported, unscored and all others, each group in its original order."""
    return sorted(views, key=lambda one: PROBLEMS.index(one.status) if one.is_problem else len(PROBLEMS))


def tally(claims: Iterable[Claim]) -> Counter[Status]:
    return Counter(map(status_of, claims))


def tally_reasons(claims: Iterable[Claim]) -> Counter[UnscoredReason]:
    return Counter(claim.judgement.unscored_reason for claim in claims if claim.judgement.unscored_reason is not None)


@dataclass(frozen=True)
class SharedPassage:
    """A passage that several claims on a page share. It is shown with the first claim, and the others refer to it."""

    number: int
    """Number of the passage on its page, starting at 1."""
    claim: int
    """Number of the claim that the passage is shown with."""
    stands_here: bool


def shared_passages(views: Iterable[ClaimView]) -> Mapping[tuple[int, str], SharedPassage]:
    """Finds the passages that several claims share, by claim number and evidence id. `views` must be in the order of
    the page. Showing each passage once keeps pages short."""
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


_PUNCTUATION = " \n,.;:!?…()'\"‘’“”"  # differences in these alone are not marked
_LEAST_ALIKE = 0.5
"""Differences are marked only if the sentence contains at least this fraction of the claim's characters."""


def _around(text: str, place: tuple[int, int], kind: Kind) -> tuple[Piece, ...]:
    start, end = place
    found = (Piece("same", text[:start]), Piece(kind, text[start:end]), Piece("same", text[end:]))
    return tuple(one for one in found if one.text)


_QUOTED = re.compile('“([^”\n]{8,600})”|"([^"\n]{8,600})"|«([^»\n]{8,600})»|‘([^’\n]{8,600})’')
_FEWEST_WORDS = 3
"""Minimum number of words in a rationale's quote. Shorter quotes are mostly names that occur in many sentences."""
_LONGEST_SENTENCE = 600  # maximum number of characters of a sentence; longer text is not treated as a single sentence
_HEADING = re.compile(r"\n\n((?:[^\n›]{1,60}|[^\n]{1,300}›[^\n]{1,300})(?<![.!?…:;,\"”)]))(?=\n)")
"""Headings in a passage that spans several sections, in the format used for local documents."""


@dataclass(frozen=True)
class DecidingSentence:
    """The sentence in a passage that settles a claim or comes closest to settling it."""

    evidence: Evidence
    start: int
    """Position in the passage, in characters."""
    end: int
    decides: bool = True
    """False if the sentence only comes closest."""

    @property
    def text(self) -> str:
        return self.evidence.passage[self.start : self.end]

    @property
    def source(self) -> Evidence:
        """The evidence, with only those pages that the sentence is on."""
        item, file = self.evidence, self.evidence.source.partition("#page=")[0]
        pages = [f"{file}#page={page}" for at, page in item.pages if at < self.end]
        n_before = sum(at <= self.start for at, _ in item.pages[1:])
        return item.model_copy(update={"source": over_pages(pages[n_before], pages[-1])}) if pages else item

    @property
    def section(self) -> str | None:
        """The last heading before the sentence in its passage or, if there is none, the passage's section."""
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
    sentences = [
        one for one in _sentences(quoted.evidence.passage) if one.start < quoted.end and quoted.start < one.end
    ]
    if not sentences:
        return quoted
    start, end = min(quoted.start, sentences[0].start), max(quoted.end, sentences[-1].end)
    return DecidingSentence(quoted.evidence, start, end)


def _closest(passages: Sequence[Evidence], said: Set[str]) -> DecidingSentence | None:
    """Returns the sentence that shares the most numbers with `said` or, if there is a tie, the most words, with rare
    words counting more. Returns None if no sentence shares two words."""
    found = [
        (item, one, words)
        for item in passages
        for one in _sentences(item.passage)
        if len(one.text) <= _LONGEST_SENTENCE and len(words := said & {*content_words(one.text)}) > 1
    ]
    n_with = Counter(word for *_, words in found for word in words)

    def closeness(words: Set[str]) -> tuple[int, float]:
        return sum(any(map(str.isdigit, word)) for word in words), sum(1 / n_with[word] for word in words)

    best = max(found, key=lambda each: closeness(each[2]), default=None)
    return None if best is None else DecidingSentence(best[0], best[1].start, best[1].end, decides=False)


@lru_cache(maxsize=256)
def _sentences(passage: str) -> Sequence[Sentence]:
    return tuple(split_sentences(passage))


def _only_sentence(item: Evidence) -> DecidingSentence | None:
    if len(item.passage) > _LONGEST_SENTENCE:
        return None
    sentences = _sentences(item.passage)
    return DecidingSentence(item, sentences[0].start, sentences[0].end) if len(sentences) == 1 else None
