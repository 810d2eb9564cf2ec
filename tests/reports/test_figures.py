from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone

import pytest

from factloop.core.records import StageUsage, UnscoredReason
from factloop.reports import figures
from tests.reports.sample import make_report, sample_claims, sample_report


def test_precision_says_what_it_rests_on() -> None:
    report = sample_report()
    assert figures.precision(report) == "0.75"  # 9 / (9 + 3)
    assert figures.precision_basis(report) == "9 of 12 scored claims supported, 9 unscored"
    assert figures.precision_basis(sample_report(())) == "9 of 12 scored claims supported"


def test_nothing_scored_is_not_zero() -> None:
    unscored = tuple(claim for claim in sample_claims() if claim.judgement.verdict is None)
    report = make_report(sample_report().response, unscored)
    assert figures.precision(report) == "–"
    assert figures.precision_basis(report) == "no claim was scored, 9 unscored"


def test_a_report_with_claims_to_read_says_how_much_was_matched() -> None:
    report = sample_report((UnscoredReason.NEEDS_READING, UnscoredReason.BUDGET))
    assert figures.is_partial(report)
    assert figures.matched(report) == "9 of 15 claims matched the sources, 1 differs, 1 needs reading"
    assert not figures.is_partial(sample_report())


@pytest.mark.parametrize(
    ("usage", "words"),
    [
        (StageUsage(calls=1), "price unknown"),
        (StageUsage(), "no model calls"),
        (StageUsage(calls=1, cost_usd=0.0), "$0.00"),
        (StageUsage(calls=1, cost_usd=0.0030512), "$0.00305"),
        (StageUsage(calls=1, cost_usd=0.000004), "$0.00000400"),
        (StageUsage(calls=1, cost_usd=0.5), "$0.50"),
        (StageUsage(calls=1, cost_usd=1234.5), "$1,234.50"),
    ],
)
def test_cost(usage: StageUsage, words: str) -> None:
    assert figures.cost(usage) == words


def test_calls_and_tokens() -> None:
    usage = StageUsage(calls=1, failed_calls=2, cache_hits=3, searches=1, prompt_tokens=1234, completion_tokens=5)
    assert figures.calls(usage) == "1 model call, 2 failed, 3 answers reused, 1 search"
    assert figures.tokens(usage) == "1,234 prompt + 5 completion"
    assert figures.all_tokens(usage) == "1,239"
    estimated = usage.model_copy(update={"approximate_tokens": True})
    assert figures.tokens(estimated) == "1,234 prompt + 5 completion (approximate)"
    assert figures.all_tokens(estimated) == "~1,239"


@pytest.mark.parametrize(
    ("seconds", "words"),
    [
        (0, "0.00 s"),
        (0.416, "0.42 s"),
        (12.34, "12.3 s"),
        (59.96, "1 min 0 s"),
        (185, "3 min 5 s"),
        (7440, "2 h 4 min"),
    ],
)
def test_duration(seconds: float, words: str) -> None:
    assert figures.duration(seconds) == words


def test_moments_are_in_utc() -> None:
    when = datetime(2026, 11, 21, 9, 30, tzinfo=UTC)
    assert figures.moment(when.astimezone(timezone(timedelta(hours=5)))) == "2026-11-21 09:30 UTC"
    assert figures.moment(when.replace(tzinfo=None)) == "2026-11-21 09:30"


@pytest.mark.parametrize(
    ("value", "threshold", "as_f", "as_g"),
    [(0.5, 0.9, "0.500", "0.5"), (0.8996, 0.9, "0.8996", "0.8996"), (0.0, 1, "0.000", "0")],
)
def test_a_figure_below_a_threshold_looks_so(value: float, threshold: float, as_f: str, as_g: str) -> None:
    assert (figures.shown_below(value, threshold, "f"), figures.shown_below(value, threshold, "g")) == (as_f, as_g)
