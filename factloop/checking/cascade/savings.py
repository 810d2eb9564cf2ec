"""The savings of a cascade: one check's, or those of a run together."""

from __future__ import annotations

from collections.abc import Iterable

from factloop.core.records import CascadeSavings


def with_estimates(seen: CascadeSavings) -> CascadeSavings:
    """Claims settled times what a claim sent on took, in calls and searches; None where none was sent on."""
    settled, sent = seen.n_settled, seen.n_sent_on
    return seen.model_copy(
        update={
            "calls_avoided": settled * seen.calls_taken / sent if sent else None,
            "searches_avoided": settled * seen.searches_taken / sent if sent else None,
        }
    )


def sum_savings(all_savings: Iterable[CascadeSavings | None]) -> CascadeSavings | None:
    """The savings of several checks as of one; None where none had a cascade. Their order changes nothing.

    The stated error is kept where it is the same for all.
    """
    found = [one for one in all_savings if one is not None]
    if not found:
        return None
    promises = {(one.max_error, one.confidence) for one in found}
    max_error, confidence = promises.pop() if len(promises) == 1 else (None, None)
    counts = ("n_supported", "n_not_supported", "n_sent_on", "n_failed", "calls_taken", "searches_taken")
    summed = {name: sum(getattr(one, name) for one in found) for name in counts}
    return with_estimates(CascadeSavings(**summed, max_error=max_error, confidence=confidence))
