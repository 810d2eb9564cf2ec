"""A cascade on the terminal and on its page, and what reports say of one that was used."""

from __future__ import annotations

import io

import pytest
from rich.console import Console

from factloop.checking.cascade.records import CascadeFile
from factloop.checking.cascade.savings import sum_savings, with_estimates
from factloop.core.records import CascadeFingerprint, CascadeSavings
from factloop.evaluation.cascades.views.html import render_cascade_html
from factloop.evaluation.cascades.views.terminal import print_cascade
from factloop.reports.savings import savings_words
from tests.evaluation.cascades.views.cascade_samples import hostile_cascade, set_by_hand, tuned_cascade

FIRST = CascadeFingerprint(verifier="lexical", identity="0" * 64, upper=0.8, lower=0.2)


def printed(cascade: CascadeFile, width: int = 100) -> str:
    console = Console(file=io.StringIO(), width=width, emoji=False, markup=False, highlight=False)
    print_cascade(cascade, console)
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue()


def test_the_terminal_says_thresholds_promise_and_basis() -> None:
    cascade = tuned_cascade()
    assert cascade.tuned is not None
    said = " ".join(printed(cascade).split())
    assert f"a score of {cascade.upper:g} or more" in said
    assert "at most 10% of the claims settled on a side are wrong, with 95% confidence" in said
    assert "800 labelled claims, 400 of them supported" in said
    assert f"{cascade.tuned.accepted.n} claims" in said
    assert f"{cascade.tuned.rejected.n_wrong} of 400 claims labelled supported" in said


def test_a_promise_on_claims_in_groups_is_called_approximate() -> None:
    cascade = tuned_cascade()
    assert cascade.tuned is not None
    assert "approximately" not in printed(cascade)
    grouped = cascade.model_copy(update={"tuned": cascade.tuned.model_copy(update={"n_groups": 90})})
    assert "with 95% confidence, approximately: claims come in groups" in " ".join(printed(grouped).split())


def test_a_bound_is_said_to_be_that_of_one_threshold() -> None:
    """Of the one chosen among many it is broken more often than its confidence says; the promise is not."""
    assert "confidence, were no other threshold tried)" in " ".join(printed(tuned_cascade()).split())


def test_thresholds_set_by_hand_promise_nothing() -> None:
    said = " ".join(printed(set_by_hand()).split())
    assert "none: the thresholds were set by hand" in said
    assert "Rejects nothing" in said
    assert "<svg" not in render_cascade_html(set_by_hand())


@pytest.mark.parametrize("width", [20, 80, 200])
def test_hostile_names_stay_text(width: int) -> None:
    said = printed(hostile_cascade(), width)
    assert "\x1b" not in said
    assert "\u202e" not in said
    page = render_cascade_html(hostile_cascade())
    assert "<script>alert" not in page
    assert "\u202e" not in page


def test_the_page_has_its_curve_and_a_table_of_it() -> None:
    page = render_cascade_html(tuned_cascade())
    assert page == render_cascade_html(tuned_cascade())
    assert page.count("<svg") == 1
    assert 'role="img"' in page
    assert '<th scope="row"><bdi>7.5%</bdi></th>' in page


def test_savings_by_hand() -> None:
    """Six settled; four sent on took 10 calls and 6 searches: 6 * 10 / 4 = 15 and 6 * 6 / 4 = 9."""
    saved = with_estimates(
        CascadeSavings(n_supported=4, n_not_supported=2, n_sent_on=4, calls_taken=10, searches_taken=6)
    )
    assert (saved.calls_avoided, saved.searches_avoided) == (15.0, 9.0)
    settled, spared = savings_words(saved, FIRST)
    assert settled.startswith("lexical settled 6 of 10 claims by the documents (4 supported, 2 not)")
    assert spared.startswith("about 15 model calls and 9 searches spared")


def test_savings_of_a_run_rest_on_all_its_claims() -> None:
    """One response sent nothing on: alone it has no estimate, together 7 settled at 10 calls for 4: 17.5."""
    some = CascadeSavings(n_supported=4, n_not_supported=0, n_sent_on=4, calls_taken=10, max_error=0.1, confidence=0.9)
    none = CascadeSavings(n_supported=3, n_not_supported=0, n_sent_on=0, max_error=0.1, confidence=0.9)
    assert with_estimates(none).calls_avoided is None
    both = sum_savings([some, None, none])
    assert both == sum_savings([none, some])
    assert both is not None
    assert both.calls_avoided == 17.5
    assert (both.max_error, both.confidence) == (0.1, 0.9)
    other = sum_savings([some, none.model_copy(update={"max_error": 0.2})])
    assert other is not None
    assert other.max_error is None
    assert sum_savings([None]) is None


def test_what_failed_is_told() -> None:
    said = list(savings_words(CascadeSavings(n_supported=0, n_not_supported=0, n_sent_on=2, n_failed=1), None))
    assert any("1 look at the documents failed" in sentence for sentence in said)
