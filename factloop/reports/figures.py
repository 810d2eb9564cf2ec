"""Describes a report's metrics in words, with the same wording everywhere."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator
from datetime import UTC, datetime
from itertools import count
from statistics import NormalDist
from typing import Literal

from factloop.core.factuality import counted_claims
from factloop.core.records import (
    CascadeFingerprint,
    CascadeSavings,
    CitationFigures,
    Evidence,
    FactualityReport,
    Fingerprint,
    NoClaim,
    StageUsage,
    UnscoredReason,
    Usage,
    Verdict,
)
from factloop.core.report_warnings import BASELINE_FINDS, NOTHING_TO_CHECK_AGAINST
from factloop.reports.claims import NO_CLAIM_WORDS, PROBLEMS, READING_ORDER, REASON_WORDS, Status, tally, tally_reasons
from factloop.reports.visible import web_address


def plural(count: int, noun: str) -> str:
    """Returns a count with a noun, such as `1 claim`, `1,204 claims` or `2 replies`. Handles regular plurals only."""
    ending = "es" if noun.endswith("ch") else "s"
    several = f"{noun[:-1]}ies" if noun[-1] == "y" and noun[-2] not in "aeiou" else noun + ending
    return f"{count:,} {noun if count == 1 else several}"


def percent(share: float) -> str:
    """Formats a fraction as a percentage, such as `95%` or `99.9%`."""
    return f"{round(100 * share, 6):g}%"


def shown_below(value: float, threshold: float, form: Literal["f", "g"]) -> str:
    """Formats a value below the threshold with three digits, or more if it would then round up to the threshold."""
    return next(said for digits in count(3) if float(said := f"{value:.{digits}{form}}") < threshold)


def precision_interval(report: FactualityReport) -> str:
    """Returns the Wilson interval for a sample of claims, such as `95% interval 0.57 to 0.98`, or "" if there are no
    claims or if some are unscored."""
    n = report.counts.scored
    if report.precision is None or not n or report.counts.unscored:
        return ""
    z = NormalDist().inv_cdf(0.975)
    middle, share = report.precision + z * z / (2 * n), 1 + z * z / n
    half = z * math.sqrt(report.precision * (1 - report.precision) / n + (z / (2 * n)) ** 2)
    return f"95% interval {(middle - half) / share:.2f} to {(middle + half) / share:.2f}"


def how_far(report: FactualityReport) -> str:
    """Says how uncertain the main metric is, and where to read more. Returns "" if no claims are scored."""
    sampled = f"{found} if the claims are a sample. " if (found := precision_interval(report)) else ""
    return f"{sampled}{AS_IF_CORRECT}" if report.counts.scored else ""


def headline(report: FactualityReport) -> str:
    """Returns the number of claims with each kind of problem, such as `2 claims contradicted, 1 not in the sources`.
    If there are no problems, counts supported and irrelevant claims."""
    if not report.claims:
        return NO_CLAIMS
    if not report.fingerprint.search_tools:
        return NOTHING_TO_CHECK_AGAINST
    counts = tally(report.claims)
    found = [one for one in PROBLEMS if counts[one]] or [one for one in READING_ORDER if counts[one]]
    first, *others = ((counts[one], _IN_HEADLINE.get(one, one.words)) for one in found)
    return ", ".join([f"{plural(first[0], 'claim')} {first[1]}", *(f"{n:,} {said}" for n, said in others)])


NO_CLAIMS = "The response makes no claims that can be checked."
_IN_HEADLINE = {Status.NO_EVIDENCE: "not in the sources", Status.UNSCORED: "could not be decided"}


def held_against(report: FactualityReport) -> str:
    """Returns the names of the passages' sources, such as `a.md, b.pdf and 7 more`, or "" if there are no passages."""
    read = (item for claim in report.claims for item in claim.evidence)
    sources = dict.fromkeys(
        item.title if item.title and item.document is not None else item.source.partition("#")[0] for item in read
    )
    names = [one.partition("//")[2] if web_address(one) else one.rpartition("/")[2] or one for one in sources]
    shown, n_more = names[:_MOST_SOURCES], len(names) - _MOST_SOURCES
    return f"{', '.join(shown)} and {n_more:,} more" if n_more > 0 else ", ".join(shown)


_MOST_SOURCES = 4
LONGEST_TITLE = 80  # characters
AS_IF_CORRECT = (
    "The figures treat every verdict as correct; the documentation says how often judges err (“How accurate is "
    "factloop?”)."
)
BASELINE_IS_RIGHT = "12 of 12 (1.00; 95% interval 0.76 to 1.00)"
"""How often the baseline's `supported` verdicts are right on unseen answers (see docs/accuracy.md)."""


def how_often_right(fingerprint: Fingerprint, *, warns: bool = True) -> str:
    """Says how often the judge is right, if this is known, and (if `warns` is set) how few errors it finds."""
    if fingerprint.engine == "offline" and fingerprint.verifier is None:
        few = f" It finds few errors: of 582 labelled facts, {BASELINE_FINDS}." if warns else ""
        return f"On answers that people labelled, its “supported” was right for {BASELINE_IS_RIGHT}.{few}"
    return f"The accuracy of {fingerprint.judge_alone} has not been measured."


def main_figure(report: FactualityReport) -> tuple[str, str, str]:
    """Returns the main metric's name, value and basis: precision, or the number of scored claims if any are unscored.

    Precision ignores unscored claims, so it could be mistaken for a score of the whole answer. If there are unscored
    claims, it appears only in the basis, with its values if all of them were wrong and if all were right.
    """
    counts, share = report.counts, "–" if report.precision is None else f"{report.precision:.2f}"
    n = counts.scored + counts.unscored
    if not counts.unscored:
        name, value = "Precision", share
        basis = f"{counts.supported:,} of {plural(n, 'scored claim')} supported" if n else "no claims were scored"
    else:
        name, value = "Decided", f"{counts.scored:,} of {plural(n, 'claim')}"
        least, most = counts.supported / n, (counts.supported + counts.unscored) / n
        bounds = f"precision {share} among those, {least:.2f} to {most:.2f} if the rest were wrong or right"
        basis = f"{counts.supported:,} supported: {bounds}" if counts.scored else "no claims were scored"
    why = "repeated and counted once" if report.every_claim is None else "not in the core"
    basis += f", {counts.repeated:,} {why}" if counts.repeated else ""
    return name, value, basis if report.claims else NO_CLAIMS


def in_a_line(report: FactualityReport) -> str:
    """Returns the main metric and its basis, such as `precision 0.84 (16 of 19 scored claims supported)`."""
    name, value, basis = main_figure(report)
    return f"{name.lower()} {value} ({basis})"


def title_of(text: str) -> str:
    """Returns the first words of the text, on one line, with an ellipsis if there are more."""
    line = " ".join("".join(one if one.isprintable() else " " for one in text[: 4 * LONGEST_TITLE]).split())
    end = line.rfind(" ", LONGEST_TITLE // 2, LONGEST_TITLE)  # -1 if it would be in the middle of a long word
    return line if len(line) <= LONGEST_TITLE else line[: end if end > 0 else LONGEST_TITLE - 1] + "…"


def name_of(report: FactualityReport, file: str = "") -> str:
    """Returns a page's title: the question or, failing that, the file or the beginning of the response."""
    begun = report.response.strip().lstrip("#* ").partition("\n")[0]
    return report.prompt or file or title_of(begun) or "An empty answer"


def unscored_reasons(report: FactualityReport) -> list[str]:
    """Says why claims are unscored, most frequent reason first. Returns an empty list if all claims are scored."""
    return reason_counts(tally_reasons(counted_claims(report)))


def reason_counts(reasons: Counter[UnscoredReason]) -> list[str]:
    """Says how often each reason occurs, such as `2 × no source`, most frequent first."""
    return [f"{count:,} × {REASON_WORDS[reason]}" for reason, count in reasons.most_common()]


def sentences_without_claim(report: FactualityReport) -> str:
    """Counts the sentences without claims, as in `9 of 27: 5 headings, 4 remarks`. Returns "" if there are none."""
    reasons = Counter(one.no_claim for one in report.sentences if one.no_claim is not None)
    if not reasons:
        return ""
    counted = ((NO_CLAIM_WORDS[reason], count, reason in _COUNTED) for reason, count in reasons.most_common())
    parts = (plural(count, words) if is_noun else f"{count:,} {words}" for words, count, is_noun in counted)
    return f"{reasons.total():,} of {len(report.sentences):,}: {', '.join(parts)}"


_COUNTED = frozenset({NoClaim.HEADING, NoClaim.QUESTION, NoClaim.REMARK})


def citations(found: CitationFigures) -> str:
    """Returns the figures, such as `recall 0.50 of 4 sentences, precision 0.67 of 3 citations`."""
    recall = "" if found.recall is None else f"recall {found.recall:.2f} of {plural(found.n_sentences, 'sentence')}"
    cited = plural(found.n_citations, "citation")
    precision = "" if found.precision is None else f"precision {found.precision:.2f} of {cited}"
    return ", ".join(filter(None, (recall, precision, f"{found.n_unscored:,} unscored" if found.n_unscored else "")))


def place_of(item: Evidence) -> str:
    """Says where a passage is from, such as `page 3`, or `document 2, page 3, doc_17` for a supplied document."""
    document = item.document
    if document is None:
        return item.source.partition("#")[2].replace("=", " ") if web_address(item.source) is None else ""
    place = None if document.index is None else f"document {document.index + 1}"
    page = document.metadata.get("page", document.metadata.get("page_number"))
    named = document.id or document.metadata.get("chunk_id")
    said = (place, None if page is None else f"page {page}", None if named == item.source else named)
    return ", ".join(str(one) for one in said if one not in (None, ""))


def eligibility(report: FactualityReport) -> str:
    """Says whether the response does what its prompt asks. Returns an empty string if no judge was asked."""
    found = report.eligibility
    if found is None:
        return ""
    if found.unscored_reason is not None:
        return f"not judged: {REASON_WORDS[found.unscored_reason]}"
    return f"the response does {'' if found.verdict is Verdict.SUPPORTED else 'not do '}what its prompt asks"


def every_claim(report: FactualityReport) -> str:
    """Returns the metrics over all claims, or "" if the report's metrics already count every claim."""
    found = report.every_claim
    if found is None:
        return ""
    share = "undefined" if found.precision is None else f"{found.precision:.2f}"
    at_k = "".join(f", F1@{at.k} {at.f1:.2f}" for at in found.at_k)
    left_out = plural(report.counts.repeated, "claim")
    return f"{left_out} left out of these figures; precision {share}{at_k} with every claim counted"


def distribution(report: FactualityReport) -> str:
    """Returns the number of claims with each status that occurs."""
    counts = tally(report.claims)
    return ", ".join(f"{counts[status]:,} {status.words}" for status in READING_ORDER if counts[status])


def cost(usage: StageUsage) -> str:
    """Formats the cost in US dollars, with two decimals or, below $0.10, with three significant digits."""
    dollars = usage.cost_usd
    if dollars is None:
        return "price unknown" if usage.asked_a_model else "no model calls"
    decimals = 2 if dollars == 0 or dollars >= 0.1 else 2 - math.floor(math.log10(dollars))
    return f"${dollars:,.{decimals}f}"


def used_a_model(usage: StageUsage) -> bool:
    """Whether a model was called or its replies were reused. If not, there is no cost to show. Ignores searches."""
    searched = usage.stages.get(_SEARCH) if isinstance(usage, Usage) else None
    n_at_hand = usage.cache_hits - (0 if searched is None else searched.cache_hits)
    return bool(usage.calls or usage.failed_calls or n_at_hand or usage.cost_usd)


def counted(usage: StageUsage) -> list[tuple[str, str]]:
    """Returns the headers and field names of the counts that are not zero."""
    return [(head, count) for head, count in _COUNTS if getattr(usage, count)]


_SEARCH = "search"
_COUNTS = (
    ("Calls", "calls"),
    ("Failed", "failed_calls"),
    ("Replies reused", "cache_hits"),
    ("Prompt tokens", "prompt_tokens"),
    ("Cached", "cached_tokens"),
    ("Completion tokens", "completion_tokens"),
    ("Searches", "searches"),
)


def searches(usage: StageUsage) -> str:
    return plural(usage.searches, "search") if usage.searches else ""


def calls(usage: StageUsage) -> str:
    """Returns the numbers of model calls, failed calls, reused replies and searches. Zeros are omitted."""
    parts = [
        plural(usage.calls, "model call") if usage.calls else "",
        f"{usage.failed_calls:,} failed" if usage.failed_calls else "",
        f"{plural(usage.cache_hits, 'reply')} reused from the cache" if usage.cache_hits else "",
        searches(usage),
    ]
    return ", ".join(filter(None, parts)) or "none"


def tokens(usage: StageUsage) -> str:
    about = " (approximate)" if usage.approximate_tokens else ""
    cached = f" ({usage.cached_tokens:,} cached)" if usage.cached_tokens else ""
    return f"{usage.prompt_tokens:,} prompt{cached} + {usage.completion_tokens:,} completion{about}"


def all_tokens(usage: StageUsage) -> str:
    """Returns the total of prompt and completion tokens, with a tilde if some were estimated."""
    return f"{'~' if usage.approximate_tokens else ''}{usage.prompt_tokens + usage.completion_tokens:,}"


def duration(seconds: float) -> str:
    """Formats a duration, such as `0.42 s`, `12.3 s`, `3 min 5 s` or `2 h 4 min`."""
    if seconds < 1:
        return f"{seconds:.2f} s"
    if seconds < 59.95:
        return f"{seconds:.1f} s"
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes} min" if hours else f"{minutes} min {rest} s"


def moment(when: datetime) -> str:
    """Formats a date and time to the minute, in UTC if the time zone is known."""
    if when.tzinfo is None:
        return f"{when:%Y-%m-%d %H:%M}"
    try:
        return f"{when.astimezone(UTC):%Y-%m-%d %H:%M} UTC"
    except (OverflowError, ValueError):  # the first or last possible date: shown as in the report
        return when.isoformat(" ", "minutes")


def savings_words(savings: CascadeSavings, first: CascadeFingerprint | None) -> Iterator[str]:
    """Yields sentences on how many claims a cascade settled, and on the calls and searches that it saved."""
    verifier = "the cheap verifier" if first is None else first.verifier
    yield (
        f"{verifier} settled {savings.n_settled:,} of {plural(savings.n_looked_at, 'claim')} from the documents "
        f"({savings.n_supported:,} supported, {savings.n_not_supported:,} not); the model judged {savings.n_sent_on:,}"
    )
    if savings.calls_avoided is not None and savings.searches_avoided is not None and savings.n_settled:
        yield (
            f"this saved about {plural(round(savings.calls_avoided), 'model call')} and "
            f"{plural(round(savings.searches_avoided), 'search')} ({savings.n_settled:,} times the average for the "
            f"{plural(savings.n_sent_on, 'claim')} left to the model), or fewer if the settled claims were easier"
        )
    elif savings.n_settled:
        yield "the savings cannot be estimated, because no claims in this check were left to the model"
    if savings.max_error is not None and savings.confidence is not None:
        yield (
            f"tuned so that at most {percent(savings.max_error)} of the claims settled on either side are wrong, "
            f"with {percent(savings.confidence)} confidence, on claims and passages like the labelled ones"
        )
    if savings.n_failed:
        yield f"{plural(savings.n_failed, 'claim')} could not be judged from the documents and went to the model"
