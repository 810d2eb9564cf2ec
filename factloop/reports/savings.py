"""What the cascade of a check saved, in words."""

from __future__ import annotations

from collections.abc import Iterator

from factloop.core.records import CascadeFingerprint, CascadeSavings
from factloop.reports.figures import percent, plural


def savings_words(savings: CascadeSavings, first: CascadeFingerprint | None) -> Iterator[str]:
    """What the cascade of a check settled, and what that spared: a sentence each."""
    verifier = "the cheap verifier" if first is None else first.verifier
    yield (
        f"{verifier} settled {savings.n_settled:,} of {plural(savings.n_looked_at, 'claim')} by the documents "
        f"({savings.n_supported:,} supported, {savings.n_not_supported:,} not); the model took {savings.n_sent_on:,}"
    )
    if savings.calls_avoided is not None and savings.searches_avoided is not None and savings.n_settled:
        yield (
            f"about {plural(round(savings.calls_avoided), 'model call')} and {_searches(savings.searches_avoided)} "
            f"spared: what the {plural(savings.n_sent_on, 'claim')} sent on took each, times {savings.n_settled:,}; "
            "less, where these were the harder ones"
        )
    elif savings.n_settled:
        yield "what that spared cannot be estimated: no claim of this check went to the model"
    if savings.max_error is not None and savings.confidence is not None:
        yield (
            f"tuned so that at most {percent(savings.max_error)} of the claims settled on a side are wrong, "
            f"with {percent(savings.confidence)} confidence, on claims and passages like the labelled ones"
        )
    if savings.n_failed:
        yield f"{plural(savings.n_failed, 'look')} at the documents failed; the claims went to the model"


def _searches(number: float) -> str:
    count = round(number)
    return f"{count:,} search" if count == 1 else f"{count:,} searches"
