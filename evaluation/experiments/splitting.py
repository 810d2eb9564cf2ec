"""How well sentences are split into claims: coverage, entailment, self-containedness, atomicity and redundancy.

After Claimify (Metropolitansky and Larson 2025, arXiv 2502.10855: entailment, coverage, self-containedness), DnDScore
(Wanner et al. 2024, arXiv 2412.13175: claims are judged in context) and Core (Jiang et al. 2024, arXiv 2407.03572:
redundancy). Departures: these papers have a chat model say whether a sentence's elements are covered and a claim is
entailed or clear. Here elements are the smallest statements that the packaged parse finds, so that a splitter by the
parse covers more of them than its due; any judge of claims by texts gives a degree of support, of which entailment
and coverage are means; and the parse tells whether a claim is self-contained and atomic, whatever the judge.
Claimify's test of verdicts with and without more context is not made.

All are shares in [0, 1], over what `n` counts; higher is better but for redundancy. None where there is nothing to
measure: no claim, or for coverage no sentence that states something.
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
    """A sentence with its context and the claims made of it."""

    sentence: str
    claims: tuple[str, ...]
    before: tuple[str, ...] = ()
    """The sentences of the text before it."""
    prompt: str | None = None

    @property
    def context(self) -> tuple[str, ...]:
        """What its claims may rest on."""
        return tuple(filter(None, (self.prompt, *self.before, self.sentence)))


class SplitShare(Record):
    """One measure."""

    value: Share | None
    n: Count
    """Claims, for coverage statements of sentences."""
    n_unscored: Count = 0
    """Those that the judge could not read; for redundancy, claims it could not compare with each other claim."""


class SplitQuality(Record):
    """The measures of some splits together."""

    coverage: SplitShare
    """Of the statements that sentences make: the mean degree to which their claims together support each."""
    entailment: SplitShare
    """Of claims: the mean degree to which the sentence in its context supports each."""
    self_contained: SplitShare
    """Share of claims without a pronoun or short name that only their context explains."""
    atomicity: SplitShare
    """Share of claims that the parse does not split further."""
    redundancy: SplitShare
    """Share of claims beyond a largest set of a sentence's claims none of which entails another."""

    @property
    def is_whole(self) -> bool:
        """Whether the judge read everything it was asked about."""
        return not any(share.n_unscored for _, share in self)


async def split_quality(splits: Sequence[Split], judge: Verifier, *, meter: UsageMeter) -> SplitQuality:
    """All measures by one judge. Raises ConfigError as the judge does; needs the extras `offline` and `evaluation`."""
    return SplitQuality(
        coverage=await coverage(splits, judge, meter=meter),
        entailment=await entailment(splits, judge, meter=meter),
        self_contained=self_containedness(splits),
        atomicity=atomicity(splits),
        redundancy=await redundancy(splits, judge, meter=meter),
    )


async def coverage(splits: Sequence[Split], judge: Verifier, *, meter: UsageMeter) -> SplitShare:
    asked = [(element, one.claims) for one in splits for element in _elements(one)]
    found = await read_all(judge, [pair for pair in asked if pair[1]], meter=meter)
    without_claims = sum(not claims for _, claims in asked)
    return _share([*(None if one is None else one.score for one in found), *[0.0] * without_claims])


def _elements(split: Split) -> list[str]:
    """The smallest statements of a sentence; none if it states nothing."""
    nlp = load_pipeline()
    if not states_something(split.sentence, nlp):
        return []
    return [claim.self_contained for claim in read_claims(split.sentence, split.before, split.prompt, nlp)]


async def entailment(splits: Sequence[Split], judge: Verifier, *, meter: UsageMeter) -> SplitShare:
    asked = [(claim, one.context) for one in splits for claim in one.claims]
    found = await read_all(judge, asked, meter=meter)
    return _share([None if one is None else one.score for one in found])


def self_containedness(splits: Sequence[Split]) -> SplitShare:
    return _share([float(_is_clear(claim, one)) for one in splits for claim in one.claims])


def _is_clear(claim: str, split: Split) -> bool:
    """Whether its context would replace nothing in it, and no pronoun is left open."""
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
    """The sentences of a report with their claims; including those without claims, except code and the like."""
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
