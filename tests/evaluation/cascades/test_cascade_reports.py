from __future__ import annotations

import io

from rich.console import Console

from factloop.checking.cascade.records import CascadeFile
from factloop.checking.cascade.stage import sum_savings, with_estimates
from factloop.core.records import CascadeFingerprint, CascadeSavings
from factloop.evaluation.cascades.views import print_cascade, render_cascade_html
from factloop.reports.figures import savings_words
from tests.evaluation.cascades.cascade_samples import set_by_hand, tuned_cascade

FIRST = CascadeFingerprint(verifier="baseline", identity="0" * 64, upper=0.8, lower=0.2)


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
    assert "at most 10% of the claims settled on either side are wrong, with 95% confidence" in said
    assert "800 labelled claims, 400 of them supported" in said
    assert f"{cascade.tuned.accepted.n} claims" in said
    assert f"{cascade.tuned.rejected.n_wrong} of 400 claims labelled supported" in said


def test_thresholds_set_by_hand_promise_nothing() -> None:
    said = " ".join(printed(set_by_hand()).split())
    assert "none: the thresholds were set by hand" in said
    assert "Rejects nothing" in said
    assert "<svg" not in render_cascade_html(set_by_hand())


def test_the_page_has_a_table_of_other_errors() -> None:
    page = render_cascade_html(tuned_cascade())
    assert page == render_cascade_html(tuned_cascade())
    assert '<th scope="row"><bdi>7.5%</bdi></th>' in page


def test_savings_by_hand() -> None:
    """Six settled; four sent on took 10 calls and 6 searches: 6 * 10 / 4 = 15 and 6 * 6 / 4 = 9."""
    saved = with_estimates(
        CascadeSavings(n_supported=4, n_not_supported=2, n_sent_on=4, calls_taken=10, searches_taken=6)
    )
    assert (saved.calls_avoided, saved.searches_avoided) == (15.0, 9.0)
    settled, spared = savings_words(saved, FIRST)
    assert settled.startswith("baseline settled 6 of 10 claims from the documents (4 supported, 2 not)")
    assert spared.startswith("this saved about 15 model calls and 9 searches")


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
