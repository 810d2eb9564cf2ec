"""Pairs the responses of two runs by prompt, and the claims in them by text.

Reports are read one at a time. Only a hash and the claims of each response of the first run, and the matched claims of
the second, are kept in memory.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from factloop.core.errors import ConfigError
from factloop.core.factuality import counted_claims
from factloop.core.figure import Undefined, ends
from factloop.evaluation.comparing.demands import Missed
from factloop.evaluation.comparing.matching import RIGHT, JudgedClaim, match_claims
from factloop.evaluation.comparing.records import (
    ClaimAgreement,
    Direction,
    Flip,
    FlipCount,
    FlipSide,
    GroupFigure,
    Pair,
)
from factloop.evaluation.comparing.table import CODES, MISSING, SPLIT, UNSCORED, VERDICTS, ClaimPanel, Codes, Floats
from factloop.evaluation.runs.records import JudgedResponse, ResponseLine
from factloop.evaluation.statistics.bootstrap import bootstrap, percentile_interval
from factloop.evaluation.statistics.kappa import kappas

NAMED = 3


@dataclass(frozen=True)
class ClaimPair:
    system: str
    prompt_id: str
    response_id: str
    first: JudgedClaim
    second: JudgedClaim


Key = tuple[str, str]
"""System and prompt. The system is empty if responses are paired by prompt alone."""


@dataclass(frozen=True)
class SeenResponse:
    line: ResponseLine
    digest: bytes
    claims: tuple[JudgedClaim, ...]
    sources: frozenset[str]


@dataclass
class Pairing:
    pairs: list[Pair] = field(default_factory=list)
    claims: list[ClaimPair] = field(default_factory=list)
    n_claims_only_first: int = 0
    n_claims_only_second: int = 0
    only_first: list[ResponseLine] = field(default_factory=list)
    only_second: list[ResponseLine] = field(default_factory=list)

    def add(self, one: SeenResponse, other: SeenResponse) -> None:
        same_text = one.digest == other.digest
        self.pairs.append(Pair(first=one.line, second=other.line, same_text=same_text))
        if same_text:
            matched = match_claims(one.claims, other.claims)
            self.n_claims_only_first += len(one.claims) - len(matched)
            self.n_claims_only_second += len(other.claims) - len(matched)
            place = one.line.system, one.line.prompt_id, one.line.id
            self.claims += [ClaimPair(*place, *_trimmed(*both)) for both in matched]


def pair_responses(
    first: Iterable[JudgedResponse], second: Iterable[JudgedResponse], *, by_system: bool, with_claims: bool
) -> Pairing:
    """Pairs responses by prompt or, with `by_system`, by system and prompt. Reads each side once. Raises ConfigError if
    the sides have no prompts in common, or if a side answers a prompt twice."""
    found, waiting = Pairing(), dict(seen_responses(first, by_system=by_system, with_claims=with_claims))
    for key, other in seen_responses(second, by_system=by_system, with_claims=with_claims):
        one = waiting.pop(key, None)
        if one is None:
            found.only_second.append(other.line)
        else:
            found.add(one, other)
    found.only_first = [one.line for one in waiting.values()]
    if not found.pairs:
        raise ConfigError(
            "the runs have no prompts in common, so there is nothing to compare: "
            f"A answers {_some(found.only_first)}; B answers {_some(found.only_second)}"
        )
    found.pairs.sort(key=lambda pair: (*_order(pair.first), pair.second.system))
    found.claims.sort(key=lambda pair: (pair.prompt_id, pair.system))  # stable, so claims keep their order
    found.only_first.sort(key=_order)
    found.only_second.sort(key=_order)
    return found


def _trimmed(one: JudgedClaim, other: JudgedClaim) -> tuple[JudgedClaim, JudgedClaim]:
    """Drops the texts if the verdicts agree, because only disputed claims are shown."""
    if one.verdict is not other.verdict:
        return one, other
    return replace(one, text="", shown="", rationale=""), replace(other, text="", shown="", rationale="")


def seen_responses(
    responses: Iterable[JudgedResponse], *, by_system: bool, with_claims: bool = False
) -> Iterator[tuple[Key, SeenResponse]]:
    """Raises ConfigError if a prompt is answered twice."""
    seen: set[Key] = set()
    for judged in responses:
        key = (judged.system if by_system else "", judged.prompt_id)
        if key in seen:
            raise ConfigError(
                f"{judged.system!r} answers the prompt {judged.prompt_id!r} twice; keep only one of these responses"
            )
        seen.add(key)
        report = judged.report
        line = ResponseLine(id=judged.id, **dict(judged.counted))
        counted = counted_claims(report) if with_claims else ()
        claims = tuple(JudgedClaim.of(claim, claim.text, judged.labels.get(claim.id)) for claim in counted)
        sources = frozenset(item.source for claim in report.claims for item in claim.evidence)
        yield key, SeenResponse(line, hashlib.sha256(report.response.encode()).digest(), claims, sources)


def _order(line: ResponseLine) -> tuple[str, str]:
    return line.prompt_id, line.system


def _some(lines: Sequence[ResponseLine]) -> str:
    prompts = sorted({line.prompt_id for line in lines})
    named = ", ".join(repr(prompt[:60]) for prompt in prompts[:NAMED])
    rest = len(prompts) - NAMED
    return (f"{named} and {rest:,} more" if rest > 0 else named) or "none"


_ORDER = (Direction.WORSE, Direction.BETTER, Direction.NEUTRAL)


def paired_claims(claims: Sequence[ClaimPair], prompts: Mapping[str, int]) -> tuple[ClaimPanel, int]:
    """Returns the panel, and the number of claims with two different labels, which count as unlabelled."""
    labels = [{label for label in (pair.first.label, pair.second.label) if label is not None} for pair in claims]
    gold = [CODES[RIGHT[next(iter(given))]] if len(given) == 1 else MISSING for given in labels]
    sides = [[CODES[pair.first.verdict] for pair in claims]], [[CODES[pair.second.verdict] for pair in claims]]
    cluster = np.array([prompts[pair.prompt_id] for pair in claims], np.int64)
    panel = ClaimPanel(cluster, max(1, len(prompts)), np.array(gold, np.int8), np.array(sides, np.int8))
    return panel, sum(len(given) > 1 for given in labels)


def agree(found: Pairing, panel: ClaimPanel, *, seed: int, resamples: int, level: float) -> ClaimAgreement:
    """Tabulates both sides' verdicts, with the proportion that agree and Cohen's kappa. Intervals are percentile
    bootstraps over whole prompts. There are no intervals if all claims come from one prompt or all resamples agree."""
    tables = np.zeros((panel.n_clusters, 4, 4))
    np.add.at(tables, (panel.cluster, panel.verdicts[0, 0], panel.verdicts[1, 0]), 1)
    scored = tables[:, :UNSCORED, :UNSCORED]
    n = int(scored.sum())
    n_groups = int(np.count_nonzero(scored.sum(axis=(1, 2))))
    figures = {}
    for name, statistic, why in (
        ("agreement", _equal_share, Undefined.NOT_BOTH_SCORED),
        ("kappa", kappas, Undefined.ONE_CLASS if n else Undefined.NOT_BOTH_SCORED),
    ):
        (value,) = statistic(scored.sum(axis=0)[None])
        if np.isnan(value):
            figures[name] = GroupFigure(value=None, undefined=why, n=n, n_groups=n_groups)
            continue
        interval = None
        if n_groups > 1 and resamples:
            rng = np.random.default_rng(seed)
            interval = percentile_interval(bootstrap(scored, statistic, rng, resamples), level)
        figures[name] = GroupFigure(value=float(value), **ends(interval), n=n, n_groups=n_groups)
    return ClaimAgreement(
        n_matched=len(found.claims),
        n_only_first=found.n_claims_only_first,
        n_only_second=found.n_claims_only_second,
        n_labelled=panel.n_labelled,
        table=tuple(tuple(int(cell) for cell in row) for row in tables.sum(axis=0)),
        **figures,
    )


def _equal_share(tables: Floats) -> Floats:
    with np.errstate(invalid="ignore"):
        return np.asarray(np.trace(tables, axis1=1, axis2=2) / tables.sum(axis=(1, 2)))


def pair_flips(claims: Sequence[ClaimPair], panel: ClaimPanel) -> tuple[Flip, ...]:
    first, second = (np.where(codes[0] == UNSCORED, MISSING, codes[0]) for codes in panel.verdicts)

    def flip(place: int) -> Flip:
        pair = claims[place]
        sides = [
            FlipSide(claim_id=one.id, verdict=VERDICTS[CODES[one.verdict]], rationale=one.rationale)
            for one in (pair.first, pair.second)
        ]
        return make_flip(("A", "B"), pair.response_id, pair.first.shown, int(panel.gold[place]), sides)

    return in_order(flip(place) for place in flipped(first, second))


def flipped(first: Codes, second: Codes) -> list[int]:
    places: list[int] = np.flatnonzero((first >= 0) & (second >= 0) & (first != second)).tolist()
    return places


def missed_claims(first: Codes, second: Codes, gold: Codes, text: Callable[[int], str]) -> list[Missed]:
    """Returns the claims whose majority verdict on the second side is wrong or missing. Lost claims come first."""
    places: list[int] = np.flatnonzero((gold >= 0) & (second != gold)).tolist()
    missed = (Missed(text(at), int(gold[at]), bool(first[at] == gold[at]), second[at] != MISSING) for at in places)
    return sorted(missed, key=lambda one: not one.is_lost)


def make_flip(sides: tuple[str, str], group: str, claim: str, gold: int, found: Sequence[FlipSide]) -> Flip:
    first, second = found
    right = VERDICTS[gold] if gold >= 0 else None
    direction = Direction.NEUTRAL
    if right is not None:
        direction = {second.verdict: Direction.BETTER, first.verdict: Direction.WORSE}.get(right, Direction.NEUTRAL)
    return Flip(
        first=sides[0], second=sides[1], group=group, claim=claim, gold=right, direction=direction,
        first_side=first, second_side=second,
    )  # fmt: skip


def in_order(flips: Iterator[Flip]) -> tuple[Flip, ...]:
    """Sorts flips by direction (worse, better, neutral), then by cause, most frequent first."""
    found = list(flips)
    n = Counter(flip.cause for flip in found)
    place = {cause: number for number, cause in enumerate(n)}
    return tuple(sorted(found, key=lambda one: (_ORDER.index(one.direction), -n[one.cause], place[one.cause])))


def count_flips(sides: tuple[str, str], first: Codes, second: Codes, flips: Sequence[Flip]) -> FlipCount:
    """`first` and `second` hold each claim's majority verdict, SPLIT or MISSING."""
    n = {direction: sum(flip.direction is direction for flip in flips) for direction in Direction}
    is_unscored = (first == MISSING) | (second == MISSING)
    return FlipCount(
        first=sides[0],
        second=sides[1],
        n_claims=int(((first >= 0) & (second >= 0)).sum()),
        n_better=n[Direction.BETTER],
        n_worse=n[Direction.WORSE],
        n_neutral=n[Direction.NEUTRAL],
        n_split=int((((first == SPLIT) | (second == SPLIT)) & ~is_unscored).sum()),
        n_unscored=int(is_unscored.sum()),
    )
