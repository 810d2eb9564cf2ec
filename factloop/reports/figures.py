"""The numbers of a report in words, the same words on every surface."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator
from datetime import UTC, datetime
from itertools import count
from textwrap import shorten
from typing import Literal

from factloop.core.factuality import counted_claims
from factloop.core.records import (
    CascadeFingerprint,
    CascadeSavings,
    CitationFigures,
    Evidence,
    FactualityReport,
    NoClaim,
    StageUsage,
    UnscoredReason,
    Usage,
)
from factloop.reports.claims import NO_CLAIM_WORDS, READING_ORDER, REASON_WORDS, Status, tally, tally_reasons


def plural(count: int, noun: str) -> str:
    """`1 claim`, `1,204 claims`; for nouns with a regular plural."""
    return f"{count:,} {noun}" if count == 1 else f"{count:,} {noun}s"


def percent(share: float) -> str:
    """`95%`, `99.9%`."""
    return f"{round(100 * share, 6):g}%"


def precision(report: FactualityReport) -> str:
    """Precision to two digits, or a dash where nothing was scored."""
    return "–" if report.precision is None else f"{report.precision:.2f}"


def shown_below(value: float, threshold: float, form: Literal["f", "g"]) -> str:
    """A figure that is below the threshold, with three digits or as many as tell the two apart."""
    return next(said for digits in count(3) if float(said := f"{value:.{digits}{form}}") < threshold)


def precision_basis(report: FactualityReport) -> str:
    """The basis of precision: how many claims were scored and how many are unscored."""
    counts = report.counts
    if not report.claims:
        return "The response makes no claim that can be checked."
    if counts.scored:
        basis = f"{counts.supported:,} of {plural(counts.scored, 'scored claim')} supported"
    else:
        basis = "no claim was scored"
    basis += f", {counts.unscored:,} unscored" if counts.unscored else ""
    return f"{basis}, {counts.repeated:,} repeated and counted once" if counts.repeated else basis


def is_partial(report: FactualityReport) -> bool:
    """Whether the judge left claims to be read: precision then speaks of a part, and must not stand in large type."""
    return tally_reasons(counted_claims(report))[UnscoredReason.NEEDS_READING] > 0


MOST_OF_NAME = 80
"""Characters of a response that name its page."""


def name_of(report: FactualityReport) -> str:
    """What a page is named by: the question, or without one how the response begins."""
    begun = report.response.strip().lstrip("#* ").partition("\n")[0]
    return report.prompt or shorten(begun, MOST_OF_NAME, placeholder=" …") or "An empty answer"


def matched(report: FactualityReport) -> str:
    """`12 of 33 claims matched the sources, 2 differ, 19 need reading`: what a partial report comes to."""
    counts, claims = report.counts, counted_claims(report)
    n_reading = tally_reasons(claims)[UnscoredReason.NEEDS_READING]
    n_contradicted = tally(claims)[Status.CONTRADICTED]
    parts = [
        f"{counts.supported:,} of {plural(counts.total, 'claim')} matched the sources",
        f"{n_contradicted:,} {'differs' if n_contradicted == 1 else 'differ'}",
        f"{n_reading:,} {'needs' if n_reading == 1 else 'need'} reading",
    ]
    return ", ".join(parts)


def unscored_reasons(report: FactualityReport) -> list[str]:
    """Why claims are unscored, most frequent reason first; empty where all are scored."""
    return reason_counts(tally_reasons(counted_claims(report)))


def reason_counts(reasons: Counter[UnscoredReason]) -> list[str]:
    """`2 × no source` for each reason, most frequent first."""
    return [f"{count:,} × {REASON_WORDS[reason]}" for reason, count in reasons.most_common()]


def sentences_without_claim(report: FactualityReport) -> str:
    """`9 of 27: 4 headings, 2 remarks, ...`, most frequent reason first; empty where every sentence has a claim."""
    reasons = Counter(one.no_claim for one in report.sentences if one.no_claim is not None)
    if not reasons:
        return ""
    parts = (_of_reason(reason, count) for reason, count in reasons.most_common())
    return f"{reasons.total():,} of {len(report.sentences):,}: {', '.join(parts)}"


def _of_reason(reason: NoClaim, count: int) -> str:
    words = NO_CLAIM_WORDS[reason]
    return plural(count, words) if reason in _COUNTED else f"{count:,} {words}"


_COUNTED = frozenset({NoClaim.HEADING, NoClaim.QUESTION, NoClaim.REMARK})


def repeated_errors(report: FactualityReport) -> list[str]:
    """Errors that several claims repeat: `“Otto Sverdrup”: 1 error, 7 claims`."""
    return [f"“{error.words}”: 1 error, {plural(len(error.claims), 'claim')}" for error in report.shared_errors]


def citations(found: CitationFigures) -> str:
    """`recall 0.50 of 4 sentences, precision 0.67 of 3 citations`."""
    recall = "" if found.recall is None else f"recall {found.recall:.2f} of {plural(found.n_sentences, 'sentence')}"
    cited = plural(found.n_citations, "citation")
    precision = "" if found.precision is None else f"precision {found.precision:.2f} of {cited}"
    return ", ".join(filter(None, (recall, precision, f"{found.n_unscored:,} unscored" if found.n_unscored else "")))


def place_of(item: Evidence) -> str:
    """Where the document of a passage is among those given, its page and its id: `document 2, page 3, doc_17`."""
    document = item.document
    if document is None:
        return ""
    place = None if document.index is None else f"document {document.index + 1}"
    page = document.metadata.get("page", document.metadata.get("page_number"))
    named = document.id or document.metadata.get("chunk_id")
    said = (place, None if page is None else f"page {page}", None if named == item.source else named)
    return ", ".join(str(one) for one in said if one not in (None, ""))


def precision_by_error(report: FactualityReport) -> str:
    """Precision with each repeated error counted once; empty where none is repeated."""
    share = report.precision_by_error
    if not report.shared_errors or share is None:
        return ""
    return f"{share:.2f} with each repeated error counted once"


def distribution(report: FactualityReport) -> str:
    """Claims per status, the statuses that occur."""
    counts = tally(report.claims)
    return ", ".join(f"{counts[status]:,} {status.words}" for status in READING_ORDER if counts[status])


def cost(usage: StageUsage) -> str:
    """US dollars, to the cent from ten cents on and to three significant digits below."""
    dollars = usage.cost_usd
    if dollars is None:
        return "price unknown" if usage.asked_a_model else "no model calls"
    decimals = 2 if dollars == 0 or dollars >= 0.1 else 2 - math.floor(math.log10(dollars))
    return f"${dollars:,.{decimals}f}"


def used_a_model(usage: StageUsage) -> bool:
    """Whether a model was asked, or gave its answers from the cache: only then is there a cost to show.

    Searches that were answered before tell of no model.
    """
    searched = usage.stages.get(_SEARCH) if isinstance(usage, Usage) else None
    n_at_hand = usage.cache_hits - (0 if searched is None else searched.cache_hits)
    return bool(usage.calls or usage.failed_calls or n_at_hand or usage.cost_usd)


def counted(usage: StageUsage) -> list[tuple[str, str]]:
    """The counts of a usage that are not zero: what each is called, and its field."""
    return [(head, count) for head, count in _COUNTS if getattr(usage, count)]


_SEARCH = "search"
"""The stage of searches."""
_COUNTS = (
    ("Calls", "calls"),
    ("Failed", "failed_calls"),
    ("Answers reused", "cache_hits"),
    ("Prompt tokens", "prompt_tokens"),
    ("Cached", "cached_tokens"),
    ("Completion tokens", "completion_tokens"),
    ("Searches", "searches"),
)


def searches(usage: StageUsage) -> str:
    """`17 searches`; empty where there were none."""
    if not usage.searches:
        return ""
    return f"{usage.searches:,} search" if usage.searches == 1 else f"{usage.searches:,} searches"


def calls(usage: StageUsage) -> str:
    """Model calls, those that failed, answers from the cache or to an equal call of the same run, searches; what is
    zero is left out."""
    parts = [
        plural(usage.calls, "model call") if usage.calls else "",
        f"{usage.failed_calls:,} failed" if usage.failed_calls else "",
        f"{plural(usage.cache_hits, 'answer')} reused" if usage.cache_hits else "",
        searches(usage),
    ]
    return ", ".join(filter(None, parts)) or "none"


def tokens(usage: StageUsage) -> str:
    about = " (approximate)" if usage.approximate_tokens else ""
    cached = f" ({usage.cached_tokens:,} cached)" if usage.cached_tokens else ""
    return f"{usage.prompt_tokens:,} prompt{cached} + {usage.completion_tokens:,} completion{about}"


def all_tokens(usage: StageUsage) -> str:
    """Prompt and completion tokens together, with a tilde where some were estimated."""
    return f"{'~' if usage.approximate_tokens else ''}{usage.prompt_tokens + usage.completion_tokens:,}"


def duration(seconds: float) -> str:
    """`0.42 s`, `12.3 s`, `3 min 5 s`, `2 h 4 min`."""
    if seconds < 1:
        return f"{seconds:.2f} s"
    if seconds < 59.95:
        return f"{seconds:.1f} s"
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes} min" if hours else f"{minutes} min {rest} s"


def moment(when: datetime) -> str:
    """Date and time to the minute, in UTC where the zone is known."""
    if when.tzinfo is None:
        return f"{when:%Y-%m-%d %H:%M}"
    try:
        return f"{when.astimezone(UTC):%Y-%m-%d %H:%M} UTC"
    except (OverflowError, ValueError):  # on the first or the last day there is, as the report has it
        return when.isoformat(" ", "minutes")


def savings_words(savings: CascadeSavings, first: CascadeFingerprint | None) -> Iterator[str]:
    """What the cascade of a check settled and what that saved, a sentence each."""
    verifier = "the cheap verifier" if first is None else first.verifier
    yield (
        f"{verifier} settled {savings.n_settled:,} of {plural(savings.n_looked_at, 'claim')} by the documents "
        f"({savings.n_supported:,} supported, {savings.n_not_supported:,} not); the model took {savings.n_sent_on:,}"
    )
    if savings.calls_avoided is not None and savings.searches_avoided is not None and savings.n_settled:
        yield (
            f"about {plural(round(savings.calls_avoided), 'model call')} and {_searches(savings.searches_avoided)} "
            f"saved: the average for the {plural(savings.n_sent_on, 'claim')} sent on, times {savings.n_settled:,}; "
            "less, if those were the harder ones"
        )
    elif savings.n_settled:
        yield "the savings cannot be estimated: no claim of this check went to the model"
    if savings.max_error is not None and savings.confidence is not None:
        yield (
            f"tuned so that at most {percent(savings.max_error)} of the claims settled on either side are wrong, "
            f"with {percent(savings.confidence)} confidence, on claims and passages like the labelled ones"
        )
    if savings.n_failed:
        yield f"{plural(savings.n_failed, 'claim')} could not be judged by the documents and went to the model"


def _searches(number: float) -> str:
    count = round(number)
    return f"{count:,} search" if count == 1 else f"{count:,} searches"
