"""The sentence of the evidence that decides a claim or comes nearest, where the judge names it; none is guessed."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

from factloop.core.records import Claim, Evidence
from factloop.reports.figures import plural
from factloop.reports.status import Status, status_of
from factloop.tools.linguistics.sentences import Sentence, split_sentences

_QUOTED = re.compile('“([^”\n]{8,600})”|"([^"\n]{8,600})"|«([^»\n]{8,600})»|‘([^’\n]{8,600})’')
_FEWEST_WORDS = 3
"""Words of a quote in a rationale: shorter ones name a thing, and stand in many sentences."""
_LONGEST_SENTENCE = 600
"""Characters: a longer passage is no single sentence."""
_HEADING = re.compile(r"\n\n((?:[^\n›]{1,60}|[^\n]{1,300}›[^\n]{1,300})(?<![.!?…:;,\"”)]))(?=\n)")
"""The headings within a passage that reaches over several sections, as local documents give it."""


@dataclass(frozen=True)
class DecidingSentence:
    """A sentence in its passage."""

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


def cited_evidence(claim: Claim) -> tuple[Evidence, ...]:
    """The evidence that the verdict rests on, as the judge orders it; empty where no evidence was found.

    A judge may name the nearest passages there too, but nothing rests on them.
    """
    if status_of(claim) is Status.NO_EVIDENCE:
        return ()
    by_id = {item.id: item for item in claim.evidence}
    return tuple(by_id[name] for name in claim.judgement.cited)


@dataclass(frozen=True)
class ShownEvidence:
    """A passage as a report shows it, with the number by which a rationale speaks of it."""

    number: int
    item: Evidence
    is_cited: bool


def shown_evidence(claim: Claim, deciding: DecidingSentence | None) -> list[ShownEvidence]:
    """All passages of a claim: the one with the deciding sentence, then the others that are cited, then the rest."""
    cited = {item.id for item in cited_evidence(claim)}
    first = deciding.evidence.id if deciding is not None else None
    shown = [ShownEvidence(number, item, item.id in cited) for number, item in enumerate(claim.evidence, 1)]
    return sorted(shown, key=lambda one: (one.item.id != first, not one.is_cited))


@dataclass(frozen=True)
class SharedPassage:
    """A passage that several claims of a page show. It stands with the first of them, and the others refer to it."""

    number: int
    """Of the passage on its page, from 1."""
    claim: int
    """The number of the claim that it stands with."""
    stands_here: bool


def shared_passages(claims: Iterable[tuple[int, Claim]]) -> Mapping[tuple[int, str], SharedPassage]:
    """The passages that several claims show, by the claim's number and the evidence's id. Claims in the page's order.

    Without it a page would grow with the claims times what each of them reads.
    """
    shown: dict[tuple[str, str | None, str], list[tuple[int, str]]] = {}
    for number, claim in claims:
        for item in claim.evidence:
            shown.setdefault((item.source, item.section, item.passage), []).append((number, item.id))
    several = [places for places in shown.values() if len(places) > 1]
    return {
        place: SharedPassage(number, places[0][0], place == places[0])
        for number, places in enumerate(several, 1)
        for place in places
    }


def grounds_words(claim: Claim) -> str:
    """`2 sources cited`, `3 passages read`; empty where nothing was read."""
    if claim.duplicate_of is not None:
        return "repeats another claim"
    sources = {item.source for item in cited_evidence(claim)}
    if sources:
        return f"{plural(len(sources), 'source')} cited"
    return f"{plural(len(claim.evidence), 'passage')} read" if claim.evidence else ""


def deciding_sentence(claim: Claim) -> DecidingSentence | None:
    """The sentence that the judge quotes, in its words or beside them, or the whole of a cited passage of one sentence.

    None where only passages are known.
    """
    cited = cited_evidence(claim)
    found = next(_quoted_in(cited, [claim.judgement.quote]), None)
    if found is not None:
        return found
    quoted = next(_quoted_in(cited, _quotes(claim.judgement.rationale)), None)
    if quoted is not None:
        return _whole(quoted)
    return _only_sentence(cited[0]) if len(cited) == 1 else None


def marked_sentence(claim: Claim) -> DecidingSentence | None:
    """The sentence to be marked in its passage: the deciding one, or the one that the judge calls the nearest."""
    return deciding_sentence(claim) or _nearest_sentence(claim)


def _nearest_sentence(claim: Claim) -> DecidingSentence | None:
    if status_of(claim) is not Status.NO_EVIDENCE:
        return None
    named = frozenset(claim.judgement.cited)
    read = sorted(claim.evidence, key=lambda item: item.id not in named)
    quoted = next(_quoted_in(read, [claim.judgement.quote, *_quotes(claim.judgement.rationale)]), None)
    return None if quoted is None else replace(_whole(quoted), decides=False)


def _quoted_in(cited: Sequence[Evidence], quotes: Sequence[str]) -> Iterator[DecidingSentence]:
    for quote in filter(None, map(str.split, quotes)):
        pattern = re.compile(r"\s+".join(map(re.escape, quote)))
        for item in cited:
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
    sentences = split_sentences(item.passage)
    return DecidingSentence(item, sentences[0].start, sentences[0].end) if len(sentences) == 1 else None
