"""Warnings that a reader of any report needs before its numbers."""

from __future__ import annotations

from collections.abc import Sequence

from factloop.core.records import Claim, Fingerprint

NOTHING_TO_CHECK_AGAINST = "There was nothing to check against: give documents (--docs) or a search tool (--search)."
OFFLINE = "Judged by the offline engine: word overlap and rules, a baseline. See the README for its error rates."


def engine_warnings(fingerprint: Fingerprint) -> tuple[str, ...]:
    """Warnings that follow from the settings alone, with any claims."""
    if not fingerprint.search_tools:
        return (NOTHING_TO_CHECK_AGAINST,)
    return (OFFLINE,) if fingerprint.engine == "offline" else ()


def unscored_warning(fingerprint: Fingerprint, claims: Sequence[Claim]) -> tuple[str, ...]:
    """How many claims are unscored for another reason than missing sources."""
    unscored = [claim.judgement for claim in claims if claim.judgement.verdict is None]
    if not unscored or not fingerprint.search_tools:
        return ()
    return (f"{len(unscored)} of {len(claims)} claims have no verdict; the first: {unscored[0].rationale}",)
