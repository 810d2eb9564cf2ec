"""Warnings that a reader of any report needs before its numbers."""

from __future__ import annotations

from collections.abc import Sequence

from factloop.core.records import Claim, Fingerprint, UnscoredReason

NOTHING_TO_CHECK_AGAINST = "There was nothing to check against: give documents (--docs) or a search tool (--search)."
OFFLINE = (
    "Judged by the offline engine: word overlap and rules, a baseline. On 865 labelled claims of four kinds, held out "
    "while it was made, its balanced accuracy was 0.57 to 0.76; 0.5 is chance."
)


def engine_warnings(fingerprint: Fingerprint) -> tuple[str, ...]:
    """Warnings that follow from the settings alone, with any claims."""
    if not fingerprint.search_tools:
        return (NOTHING_TO_CHECK_AGAINST,)
    return (OFFLINE,) if fingerprint.engine == "offline" else ()


def unscored_warning(fingerprint: Fingerprint, claims: Sequence[Claim]) -> tuple[str, ...]:
    """How many claims are unscored for another reason than missing sources; those in another language apart."""
    unscored = [claim.judgement for claim in claims if claim.judgement.verdict is None]
    if not unscored or not fingerprint.search_tools:
        return ()
    foreign = [one for one in unscored if one.unscored_reason is UnscoredReason.OTHER_LANGUAGE]
    others = [one for one in unscored if one.unscored_reason is not UnscoredReason.OTHER_LANGUAGE]
    said = [f"{len(foreign)} of {len(claims)} claims: {foreign[0].rationale}"] if foreign else []
    if others:
        said.append(f"{len(others)} of {len(claims)} claims have no verdict; the first: {others[0].rationale}")
    return tuple(said)
