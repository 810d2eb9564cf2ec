"""Measures how well sentences are split into claims.

The measures follow Claimify (Metropolitansky and Larson 2025, arXiv 2502.10855: entailment, coverage,
self-containedness), DnDScore (Wanner et al. 2024, arXiv 2412.13175: claims judged in context) and Core (Jiang et al.
2024, arXiv 2407.03572: redundancy).

Departures: in these papers, a chat model decides whether the elements of a sentence are covered and whether a claim is
entailed or clear. Here, the elements are the smallest statements found by the packaged parser, which favours splitters
that use the same parser. Entailment and coverage are mean degrees of support, from any judge. The parser decides
whether a claim is self-contained and atomic. Claimify's test, which compares verdicts with and without more context, is
omitted.

All measures are proportions in [0, 1]. Higher is better, except for redundancy. Coverage is None if no sentence states
anything. The other measures are None if there are no claims.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import permutations
from math import fsum

from factloop.checking.core_claims import largest_core
from factloop.core.records import Count, FactualityReport, Record, Share
from factloop.tools.calls.meter import UsageMeter
from factloop.tools.judges.base import Verifier
from factloop.tools.judges.pairs import read_all
from factloop.tools.text.markup import plain_text
from factloop.tools.text.pieces import read
from factloop.tools.text.pipeline import load_pipeline
from factloop.tools.text.referents import read_claims
from factloop.tools.text.splitting import split_pieces
from factloop.tools.text.statements import states_something


@dataclass(frozen=True)
class Split:
    """A sentence with its context and the claims extracted from it."""

    sentence: str
    claims: tuple[str, ...]
    before: tuple[str, ...] = ()
    prompt: str | None = None

    @property
    def context(self) -> tuple[str, ...]:
        return tuple(filter(None, (self.prompt, *self.before, self.sentence)))


class SplitShare(Record):
    value: Share | None
    n: Count
    """Number of claims. For coverage, the number of statements in sentences."""
    n_unscored: Count = 0
    """Items that the judge could not read. For redundancy, claims not compared with all others."""


class SplitQuality(Record):
    coverage: SplitShare
    """Mean degree of support that a sentence's claims together give to each statement in it."""
    entailment: SplitShare
    """Mean degree of support that the sentence and its context give to each claim."""
    self_contained: SplitShare
    """Proportion of claims without pronouns or short names that only the context explains."""
    atomicity: SplitShare
    """Proportion of claims that the parser does not split further."""
    redundancy: SplitShare
    """Proportion of claims outside a largest set of a sentence's claims in which none entails another."""

    @property
    def is_whole(self) -> bool:
        return not any(share.n_unscored for _, share in self)


async def split_quality(splits: Sequence[Split], judge: Verifier, *, meter: UsageMeter) -> SplitQuality:
    """Returns all measures. Requires the `offline` and `evaluation` extras. Raises ConfigError if an extra is not
    installed."""
    return SplitQuality(
        coverage=await coverage(splits, judge, meter=meter),
        entailment=await entailment(splits, judge, meter=meter),
        self_contained=_share([float(_is_clear(claim, one)) for one in splits for claim in one.claims]),
        atomicity=atomicity(splits),
        redundancy=await redundancy(splits, judge, meter=meter),
    )


async def coverage(splits: Sequence[Split], judge: Verifier, *, meter: UsageMeter) -> SplitShare:
    asked = [(element, one.claims) for one in splits for element in _elements(one)]
    found = await read_all(judge, [pair for pair in asked if pair[1]], meter=meter)
    without_claims = sum(not claims for _, claims in asked)
    return _share([*(None if one is None else one.score for one in found), *[0.0] * without_claims])


def _elements(split: Split) -> list[str]:
    """Returns the smallest statements in a sentence, or an empty list if the sentence states nothing."""
    nlp = load_pipeline()
    if not states_something(split.sentence, nlp):
        return []
    return [claim.self_contained for claim in read_claims(split.sentence, split.before, split.prompt, nlp)]


async def entailment(splits: Sequence[Split], judge: Verifier, *, meter: UsageMeter) -> SplitShare:
    asked = [(claim, one.context) for one in splits for claim in one.claims]
    found = await read_all(judge, asked, meter=meter)
    return _share([None if one is None else one.score for one in found])


def _is_clear(claim: str, split: Split) -> bool:
    found = read_claims(claim, (*split.before, split.sentence), split.prompt, load_pipeline())
    return not any(one.is_open or one.self_contained != one.text for one in found)


def atomicity(splits: Sequence[Split]) -> SplitShare:
    nlp = load_pipeline()
    return _share(
        [float(len(split_pieces(read(plain_text(claim), nlp))[0]) < 2) for one in splits for claim in one.claims]
    )


async def redundancy(splits: Sequence[Split], judge: Verifier, *, meter: UsageMeter) -> SplitShare:
    left_out: list[float | None] = []
    for one in splits:
        pairs = list(permutations(range(len(one.claims)), 2))
        asked = [(one.claims[follows], [one.claims[place]]) for place, follows in pairs]
        found = dict(zip(pairs, await read_all(judge, asked, meter=meter), strict=True))
        edges = {pair for pair, read in found.items() if read is not None and read.label == "supported"}
        unread = {place for pair, read in found.items() if read is None for place in pair}
        core = largest_core([1.0] * len(one.claims), edges)
        left_out += [None if place in unread else float(place not in core) for place in range(len(one.claims))]
    return _share(left_out)


def splits_of(report: FactualityReport) -> Iterator[Split]:
    """Yields a report's sentences with their claims, including sentences without any, but not code."""
    claims = {claim.id: claim.self_contained for claim in report.claims}
    before: list[str] = []
    for one in report.sentences:
        text = report.text_of(one)
        yield Split(text, tuple(claims[name] for name in one.claims), tuple(before), report.prompt)
        before.append(text)


def _share(values: Sequence[float | None]) -> SplitShare:
    scored = [one for one in values if one is not None]
    value = fsum(scored) / len(scored) if scored else None
    return SplitShare(value=value, n=len(scored), n_unscored=len(values) - len(scored))
