"""Sums up a run over a data set in one pass: of each response only its counts are kept."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from itertools import combinations
from typing import TYPE_CHECKING, Any, Literal, TypedDict

from factloop.checking.cascade.stage import sum_savings
from factloop.core.errors import DataError
from factloop.core.factuality import counted_claims
from factloop.core.records import CascadeSavings, CitationFigures, Counts, FactualityReport, Fingerprint, UnscoredReason
from factloop.core.report_warnings import engine_warnings
from factloop.evaluation.runs.label_agreement import (
    LabelTable,
    TabledResponse,
    agree_with_labels,
    count_labels,
    table_of,
)
from factloop.evaluation.runs.longform import (
    LEVEL,
    RESAMPLES,
    AbstentionPolicy,
    LongFormScores,
    f1_curve,
    score_long_form,
)
from factloop.evaluation.runs.records import JudgedResponse, ResponseLine, RunSummary
from factloop.reports.claims import REASON_WORDS, tally_reasons
from factloop.reports.figures import plural
from factloop.setup.sources import Sources
from factloop.tools.calls.meter import UsageMeter
from factloop.tools.search.given import is_given, without_contents

if TYPE_CHECKING:
    import numpy as np

WantedK = int | Literal["median", "maximum"]


@dataclass(frozen=True)
class Scoring:
    """How the counts of a run become scores. It changes no verdict, so that scoring a finished run anew is free."""

    ks: Sequence[WantedK] = (64,)
    abstention: AbstentionPolicy = AbstentionPolicy.ZERO
    level: float = LEVEL
    resamples: int = RESAMPLES
    """Number of resamples; 0 for no intervals."""
    seed: int = 0
    """Seed of the resamples."""


class _ResamplingOptions(TypedDict):
    rng: np.random.Generator | None
    resamples: int
    level: float


@dataclass
class _Totals:
    """Running totals over the responses seen so far."""

    lines: dict[str, ResponseLine] = field(default_factory=dict)
    tables: dict[str, LabelTable] = field(default_factory=dict)
    people: dict[str, Counts] = field(default_factory=dict)
    reasons: Counter[UnscoredReason] = field(default_factory=Counter)
    fingerprints: dict[str, tuple[str, Fingerprint]] = field(default_factory=dict)
    """Fingerprint as JSON to the first id, in the order of ids, of a response judged so. Documents that came with a
    response are one source in it, whatever they hold."""
    n_given: int = 0
    """Responses judged by documents that came with them."""
    n_given_nothing: int = 0
    """Responses that came without a text in their documents, and so had nothing to be judged by."""
    n_without_search: int = 0
    """Responses for which nothing was searched: these, and those of a run without documents or a search."""
    cascade: CascadeSavings | None = None
    citations: CitationFigures | None = None

    def add(self, judged: JudgedResponse) -> None:
        if judged.id in self.lines:
            raise DataError(f"two responses have the id {judged.id!r}")
        self.lines[judged.id] = ResponseLine(
            id=judged.id, system=judged.system, prompt_id=judged.prompt_id, counts=judged.report.counts
        )
        if judged.labels:
            report = judged.report
            self.tables[judged.id] = table_of(report.claims, judged.labels)
            self.people[judged.id] = count_labels(report.claims, judged.labels, report.fingerprint.repeats)
        self.n_without_search += not judged.report.fingerprint.search_tools
        self.n_given_nothing += _was_given_nothing(judged.report)
        self.reasons.update(tally_reasons(counted_claims(judged.report)))
        self.cascade = sum_savings((self.cascade, judged.report.cascade))
        if judged.report.citations is not None:
            self.citations = CitationFigures.sum_of(filter(None, (self.citations, judged.report.citations)))
        self._note(judged.id, judged.report.fingerprint)

    def _note(self, id: str, fingerprint: Fingerprint) -> None:
        self.n_given += any(map(is_given, fingerprint.search_tools))
        tools = tuple(map(without_contents, fingerprint.search_tools))
        fingerprint = fingerprint.model_copy(update={"search_tools": tools})
        text = fingerprint.model_dump_json()
        first, _ = self.fingerprints.get(text, (id, None))
        self.fingerprints[text] = (min(first, id), fingerprint)

    @property
    def fingerprint(self) -> Fingerprint:
        """The fingerprint of the first response in the order of ids, of those that anything was searched for."""
        return min(self.fingerprints.values(), key=lambda one: (not one[1].search_tools, one[0]))[1]

    @property
    def changed(self) -> list[str]:
        """What differs between the fingerprints of responses that were judged by the same sources."""
        dumped = [fingerprint.model_dump(mode="json") for _, fingerprint in self.fingerprints.values()]
        return [name for name in dumped[0] if any(_differ(name, *pair) for pair in combinations(dumped, 2))]

    def labels(self, line: ResponseLine) -> Counts:
        """The response's counts by people's labels; without a labelled fact it claims nothing."""
        return self.people.get(line.id, Counts())

    def tabled(self) -> Iterator[TabledResponse]:
        for id, table in self.tables.items():
            line = self.lines[id]
            yield TabledResponse(system=line.system, prompt_id=line.prompt_id, table=table)


def summarise(
    responses: Iterable[JudgedResponse],
    *,
    kind: Literal["responses", "factscore"],
    data: str,
    scoring: Scoring | None = None,
    elapsed_s: float = 0.0,
) -> RunSummary:
    """The summary of a run. The order of the responses changes nothing of it but the last digits of its cost.

    `elapsed_s` is the time that the run took. Raises DataError for no response, for an id that comes twice, and for a
    system that answers a prompt twice.
    """
    scoring = scoring or Scoring()
    found, account = _Totals(), UsageMeter()
    for judged in responses:
        found.add(judged)
        account.add(judged.report.usage)
    if not found.lines:
        raise DataError(f"{data}: there is no response to score")
    lines = sorted(found.lines.values(), key=lambda line: (line.system, line.prompt_id))
    try:
        scores = _scores(lines, scoring.ks, scoring)
    except ValueError as error:
        raise DataError(f"{data}: {error}") from error
    labelled = agreement = None
    if found.tables:
        by_label = [line.model_copy(update={"counts": found.labels(line)}) for line in lines]
        labelled = _scores(by_label, [choice.k for choice in scores.ks], scoring)
        agreement = agree_with_labels(found.tabled(), **_resampling(scoring))
    return RunSummary(
        kind=kind,
        data=data,
        scores=scores,
        curve=f1_curve(lines, abstention=scoring.abstention),
        responses=tuple(lines),
        labelled=labelled,
        agreement=agreement,
        usage=account.snapshot(elapsed_s),
        fingerprint=found.fingerprint,
        cascade=found.cascade,
        citations=found.citations,
        created_at=datetime.now(UTC),
        warnings=tuple(_warnings(found)),
    )


def _scores(lines: Sequence[ResponseLine], ks: Sequence[WantedK], scoring: Scoring) -> LongFormScores:
    return score_long_form(lines, ks, abstention=scoring.abstention, **_resampling(scoring))


def _resampling(scoring: Scoring) -> _ResamplingOptions:
    """A generator for each figure of a run, so that no figure depends on which others are asked for."""
    import numpy as np

    rng = np.random.default_rng(scoring.seed) if scoring.resamples else None
    return {"rng": rng, "resamples": scoring.resamples, "level": scoring.level}


def _was_given_nothing(report: FactualityReport) -> bool:
    """Whether documents were to come with the response, and none did."""
    return not report.fingerprint.search_tools and Sources().warning in report.warnings


def _warnings(found: _Totals) -> Iterator[str]:
    n_claims = sum(line.counts.total for line in found.lines.values())
    if n_claims and (found.fingerprint.search_tools or found.n_without_search > found.n_given_nothing):
        yield from engine_warnings(found.fingerprint)
    if found.n_given_nothing:
        of_all = plural(len(found.lines), "response")
        whose = "its" if found.n_given_nothing == 1 else "their"
        yield f"{found.n_given_nothing:,} of {of_all} could not be checked: {whose} `documents` hold no text"
    if found.reasons:
        reasons = sorted(found.reasons.items(), key=lambda reason: (-reason[1], reason[0]))
        why = ", ".join(f"{count:,} × {REASON_WORDS[reason]}" for reason, count in reasons)
        yield f"{found.reasons.total():,} of {n_claims:,} claims have no verdict: {why}"
    if found.n_given:
        n, all_ = found.n_given, len(found.lines)
        which = f"{n:,} of {plural(all_, 'response')} {'was judged by its' if n == 1 else 'were judged by their'}"
        which = "each response was judged by its" if n == all_ else which
        yield f"Faithfulness: {which} own documents, and by nothing else"
    if changed := found.changed:
        yield f"Not all responses were judged alike: {', '.join(changed)} changed between attempts at this run"


def _differ(name: str, one: Mapping[str, Any], other: Mapping[str, Any]) -> bool:
    return bool(one["search_tools"] == other["search_tools"] and one[name] != other[name])
