"""Finds the responses that LLM-AggreFact's claims come from, so that audits can compare systems.

A claim belongs to a response that contains its words consecutively, ignoring case and punctuation. If several responses
do, those whose documents begin like the claim's are preferred. A claim that still matches several responses, or none,
gets its own response by `UNKNOWN_SYSTEM`, which audits exclude from all per-system figures. No claims are dropped.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Literal

from factloop.core.records import Count, Record
from factloop.evaluation.datasets.benchmark import BENCHMARK
from factloop.evaluation.datasets.mapping import UNKNOWN_SYSTEM, LabelledClaim
from factloop.evaluation.datasets.upstream import UpstreamResponse

UNKNOWN_TASK = "unknown"
_WORD = re.compile(r"\w+")
_KEY_WORDS = 5
"""Number of consecutive words used to look up responses."""
_BEGINNING = 40
"""Number of words compared at the start of documents, because benchmarks truncate documents."""
_UPSTREAM = {one.name: one.upstream for one in BENCHMARK}
_TASK = {one.name: one.task for one in BENCHMARK}
_ALONE = {one.upstream: one.name for one in BENCHMARK if [*_UPSTREAM.values()].count(one.upstream) == 1}
"""Maps names in benchmark rows to names in the paper, except for RAGTruth, which the paper splits."""


class Match(StrEnum):
    MATCHED = "matched"
    AMBIGUOUS = "ambiguous"
    """Several responses contain the claim's words."""
    UNMATCHED = "unmatched"


class JoinCounts(Record):
    """How many claims of a data set, named as in the benchmark, were matched."""

    dataset: str
    n_responses: Count
    matched: Count
    ambiguous: Count
    unmatched: Count
    into: dict[str, Count]
    """The number of matched claims by data set, named as in the paper."""


class JoinReport(Record):
    schema_version: Literal["1.0"] = "1.0"
    datasets: tuple[JoinCounts, ...]
    """Sorted by name. Every claim is counted in exactly one entry."""

    @property
    def n_claims(self) -> int:
        return sum(one.matched + one.ambiguous + one.unmatched for one in self.datasets)


@dataclass
class Join:
    """Matches claims with responses. Create it from the responses, then pass the claims through `joined`."""

    responses: Sequence[UpstreamResponse]
    _by_key: dict[tuple[str, str], list[int]] = field(default_factory=lambda: defaultdict(list))
    _texts: list[str] = field(default_factory=list)
    _counts: dict[str, Counter[Match]] = field(default_factory=lambda: defaultdict(Counter))
    _into: dict[str, Counter[str]] = field(default_factory=lambda: defaultdict(Counter))

    def __post_init__(self) -> None:
        for place, one in enumerate(self.responses):
            words = _words(one.response)
            self._texts.append(_padded(words))
            for key in {_joined(words[at : at + _KEY_WORDS]) for at in range(max(1, len(words) - _KEY_WORDS + 1))}:
                self._by_key[_upstream_of(one), key].append(place)

    def joined(self, claims: Iterable[LabelledClaim]) -> Iterator[LabelledClaim]:
        """Yields the claims in order, each with the data of its response filled in."""
        for claim in claims:
            found = self._found(claim)
            match = Match.MATCHED if len(found) == 1 else Match.AMBIGUOUS if found else Match.UNMATCHED
            self._counts[claim.dataset][match] += 1
            one = found[0] if match is Match.MATCHED else None
            if one is not None:
                self._into[claim.dataset][one.dataset] += 1
            yield _labelled(claim, one)

    @property
    def report(self) -> JoinReport:
        given = Counter(map(_upstream_of, self.responses))
        return JoinReport(
            datasets=tuple(
                JoinCounts(
                    dataset=name,
                    n_responses=given[name],
                    matched=counts[Match.MATCHED],
                    ambiguous=counts[Match.AMBIGUOUS],
                    unmatched=counts[Match.UNMATCHED],
                    into=dict(sorted(self._into[name].items())),
                )
                for name, counts in sorted(self._counts.items())
            )
        )

    def _found(self, claim: LabelledClaim) -> list[UpstreamResponse]:
        words = _words(claim.claim)
        if not words:
            return []
        text = _padded(words)
        places = self._candidates(claim.dataset, words)
        found = [self.responses[place] for place in places if text in self._texts[place]]
        beginning = _words(claim.document or "")[:_BEGINNING]
        same = [one for one in found if one.document and _words(one.document)[:_BEGINNING] == beginning]
        return same or found

    def _candidates(self, dataset: str, words: Sequence[str]) -> Iterable[int]:
        if len(words) >= _KEY_WORDS:
            return self._by_key.get((dataset, _joined(words[:_KEY_WORDS])), ())
        return (place for place, one in enumerate(self.responses) if _upstream_of(one) == dataset)


def _labelled(claim: LabelledClaim, one: UpstreamResponse | None) -> LabelledClaim:
    dataset = _ALONE.get(claim.dataset, claim.dataset) if one is None else one.dataset
    own = {name: claim.id if one is None else getattr(one, name) for name in ("response_id", "prompt_id")}
    system = UNKNOWN_SYSTEM if one is None else one.system
    return claim.model_copy(
        update={**own, "dataset": dataset, "system": system, "task": _TASK.get(dataset, UNKNOWN_TASK)}
    )


def _upstream_of(one: UpstreamResponse) -> str:
    return _UPSTREAM.get(one.dataset, one.dataset)


def _words(text: str) -> list[str]:
    return _WORD.findall(text.casefold())


def _joined(words: Iterable[str]) -> str:
    return " ".join(words)


def _padded(words: Iterable[str]) -> str:
    return f" {_joined(words)} "
