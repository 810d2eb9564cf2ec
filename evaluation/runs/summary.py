"""Summarizes a run in one pass. Only the counts of each response are kept in memory."""

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
from factloop.core.records import CascadeSavings, CitationFigures, Counts, Fingerprint, UnscoredReason
from factloop.core.report_warnings import engine_warnings, share_of
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
from factloop.tools.calls.meter import UsageMeter
from factloop.tools.search.given import without_contents

if TYPE_CHECKING:
    import numpy as np

WantedK = int | Literal["median", "maximum"]


@dataclass(frozen=True)
class Scoring:
    """How to score a run. Verdicts do not depend on these settings, so a finished run can be rescored for free."""

    ks: Sequence[WantedK] = ("median",)
    abstention: AbstentionPolicy = AbstentionPolicy.ZERO
    level: float = LEVEL
    resamples: int = RESAMPLES
    """0 means no intervals."""
    seed: int = 0


class _ResamplingOptions(TypedDict):
    rng: np.random.Generator | None
    resamples: int
    level: float


@dataclass
class _Totals:
    lines: dict[str, ResponseLine] = field(default_factory=dict)
    tables: dict[str, LabelTable] = field(default_factory=dict)
    people: dict[str, Counts] = field(default_factory=dict)
    every: dict[str, Counts] = field(default_factory=dict)
    """Counts with every claim included, for responses whose own counts include only core claims."""
    reasons: Counter[UnscoredReason] = field(default_factory=Counter)
    fingerprints: dict[str, tuple[str, Fingerprint]] = field(default_factory=dict)
    """Maps each fingerprint, as JSON, to the lowest id of its responses and the fingerprint itself. Documents supplied
    with responses count as the same source, whatever their contents."""
    n_given: int = 0
    """Responses checked against their own documents."""
    n_given_nothing: int = 0
    """Responses whose own documents contain no text."""
    n_without_search: int = 0
    """Responses without a search tool, including `n_given_nothing`."""
    n_undecided: int = 0
    """Responses whose eligibility could not be judged."""
    cascade: CascadeSavings | None = None
    citations: CitationFigures | None = None

    def add(self, judged: JudgedResponse) -> None:
        if judged.id in self.lines:
            raise DataError(f"two responses have the id {judged.id!r}; use unique ids")
        self.lines[judged.id] = ResponseLine(id=judged.id, **dict(judged.counted))
        if judged.report.every_claim is not None:
            self.every[judged.id] = judged.report.every_claim.counts
        if judged.labels:
            report = judged.report
            self.tables[judged.id] = table_of(report.claims, judged.labels)
            self.people[judged.id] = count_labels(report.claims, judged.labels, report.fingerprint.repeats)
        self.n_undecided += judged.report.eligibility is not None and judged.report.eligibility.verdict is None
        has_search = bool(judged.report.fingerprint.search_tools)
        self.n_without_search += not has_search
        self.n_given_nothing += not has_search and judged.report.mode == "faithfulness"
        self.reasons.update(tally_reasons(counted_claims(judged.report)))
        self.cascade = sum_savings((self.cascade, judged.report.cascade))
        if judged.report.citations is not None:
            self.citations = CitationFigures.sum_of(filter(None, (self.citations, judged.report.citations)))
        self.n_given += has_search and judged.report.mode == "faithfulness"
        self._note(judged.id, judged.report.fingerprint)

    def _note(self, id: str, fingerprint: Fingerprint) -> None:
        tools = tuple(map(without_contents, fingerprint.search_tools))
        fingerprint = fingerprint.model_copy(update={"search_tools": tools})
        text = fingerprint.model_dump_json()
        first, _ = self.fingerprints.get(text, (id, None))
        self.fingerprints[text] = (min(first, id), fingerprint)

    @property
    def fingerprint(self) -> Fingerprint:
        """The fingerprint of the first response (by id) that has a search tool, with the snapshots of all responses."""
        first = min(self.fingerprints.values(), key=lambda one: (not one[1].search_tools, one[0]))[1]
        answered = {name for _, one in self.fingerprints.values() for name in one.snapshots}
        return first.model_copy(update={"snapshots": tuple(sorted(answered))})

    @property
    def changed(self) -> list[str]:
        dumped = [fingerprint.model_dump(mode="json") for _, fingerprint in self.fingerprints.values()]
        return [name for name in dumped[0] if any(_differ(name, *pair) for pair in combinations(dumped, 2))]

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
    """Returns the summary of a run. The order of responses affects only the last digits of the cost. Raises DataError
    if there are no responses, an id is repeated, or a system answers a prompt twice."""
    scoring = scoring or Scoring()
    found, account = _Totals(), UsageMeter()
    for judged in responses:
        found.add(judged)
        account.add(judged.report.usage)
    if not found.lines:
        raise DataError(f"{data} contains no responses to score")
    lines = sorted(found.lines.values(), key=lambda line: (line.system, line.prompt_id))
    try:
        scores = _scores(lines, scoring.ks, scoring)
    except ValueError as error:
        raise DataError(f"{data}: {error}") from error
    labelled = agreement = every = None
    if found.every:
        whole = [line.model_copy(update={"counts": found.every.get(line.id, line.counts)}) for line in lines]
        every = _scores(whole, [choice.k for choice in scores.ks], scoring)
    if found.tables:
        people = {id: {"counts": found.people.get(id, Counts()), "eligible": None} for id in found.lines}
        by_label = [line.model_copy(update=people[line.id]) for line in lines]
        labelled = _scores(by_label, [choice.k for choice in scores.ks], scoring)
        agreement = agree_with_labels(found.tabled(), **_resampling(scoring))
    return RunSummary(
        kind=kind,
        data=data,
        scores=scores,
        curve=f1_curve(lines, abstention=scoring.abstention),
        responses=tuple(lines),
        labelled=labelled,
        every_claim=every,
        agreement=agreement,
        usage=account.snapshot(elapsed_s),
        fingerprint=found.fingerprint.model_copy(update={"seed": scoring.seed}),
        cascade=found.cascade,
        citations=found.citations,
        created_at=datetime.now(UTC),
        warnings=tuple(_warnings(found)),
    )


def _scores(lines: Sequence[ResponseLine], ks: Sequence[WantedK], scoring: Scoring) -> LongFormScores:
    return score_long_form(lines, ks, abstention=scoring.abstention, **_resampling(scoring))


def _resampling(scoring: Scoring) -> _ResamplingOptions:
    """Creates a new generator for each call, so that no figure depends on which others are computed."""
    import numpy as np

    rng = np.random.default_rng(scoring.seed) if scoring.resamples else None
    return {"rng": rng, "resamples": scoring.resamples, "level": scoring.level}


def _warnings(found: _Totals) -> Iterator[str]:
    lines, of_all = found.lines.values(), plural(len(found.lines), "response")
    n_claims = sum(line.counts.total for line in lines)
    if n_claims and (found.fingerprint.search_tools or found.n_without_search > found.n_given_nothing):
        yield from engine_warnings(found.fingerprint)
    if found.n_given_nothing:
        whose = "its" if found.n_given_nothing == 1 else "their"
        yield f"{found.n_given_nothing:,} of {of_all} could not be checked: {whose} `documents` contain no text"
    if n_ineligible := sum(line.eligible is False for line in lines):
        yield f"{n_ineligible:,} of {of_all} do not do what the prompt asks, so no claim in them counts as supported"
    if found.n_undecided:
        undecided = plural(found.n_undecided, "response")
        yield f"No verdict on the eligibility of {undecided}; affects only the eligible and fully supported share"
    if found.reasons:
        reasons = sorted(found.reasons.items(), key=lambda reason: (-reason[1], reason[0]))
        why = ", ".join(f"{REASON_WORDS[reason]} ({count:,})" for reason, count in reasons)
        left_out = sum(line.counts.unscored > 0 and not line.counts.not_supported for line in lines)
        yield f"{share_of(found.reasons.total(), n_claims, 'claim', 'has', 'have')} no verdict: {why}"
        if left_out:
            yield f"Because of these claims, the fully supported share leaves out {plural(left_out, 'response')}"
    if found.n_given:
        n, all_ = found.n_given, len(found.lines)
        which = f"{n:,} of {plural(all_, 'response')} {'was' if n == 1 else 'were'} judged only against"
        which = "each response was judged only against its" if n == all_ else f"{which} {'its' if n == 1 else 'their'}"
        yield f"Faithfulness: {which} own documents"
    if changed := found.changed:
        yield f"Not all responses were judged in the same way: {', '.join(changed)} changed between attempts at the run"


def _differ(name: str, one: Mapping[str, Any], other: Mapping[str, Any]) -> bool:
    if name == "snapshots":  # some responses may need fewer models than others
        return not ({*one[name]} <= {*other[name]} or {*other[name]} <= {*one[name]})
    return bool(one["search_tools"] == other["search_tools"] and one[name] != other[name])
