"""Warnings that a reader of any report needs before its numbers."""

from __future__ import annotations

from collections.abc import Sequence

from factloop.core.grounds import groundless, made_up
from factloop.core.records import Claim, Fingerprint, UnscoredReason, Verdict

NOTHING_TO_CHECK_AGAINST = "There was nothing to check against: give documents, or name a search."
OFFLINE = (
    "Judged by the offline engine: word overlap and rules, a baseline. On 865 labelled claims of four kinds, held out "
    "while it was made, its balanced accuracy was 0.60 to 0.78; 0.5 is chance."
)
MANY, MANY_SHARE = 2, 0.15
"""Claims without grounds from which on the model is doubted, and not the claim."""


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


def groundless_warning(claims: Sequence[Claim]) -> tuple[str, ...]:
    """How many supported claims cite passages without most of their names and figures, where these are many."""
    supported = [claim for claim in claims if claim.judgement.verdict is Verdict.SUPPORTED]
    found = groundless(supported)
    if len(found) < MANY or len(found) < MANY_SHARE * len(supported):
        return ()
    return (
        f"{len(found)} of {len(supported)} supported claims cite passages without most of their names and figures: "
        "the judge may be too weak for its task. `factloop doctor --controls` tries it on sentences of known truth.",
    )


def made_up_warning(claims: Sequence[Claim], prompt: str | None, response: str) -> tuple[str, ...]:
    """How many claims that a model found have hardly anything of the answer, where these are many."""
    found = made_up(claims, f"{prompt or ''}\n{response}")
    if len(found) < MANY or len(found) < MANY_SHARE * len(claims):
        return ()
    return (
        f"{len(found)} of {len(claims)} claims have few names and figures, or no word, in common with the answer: the "
        f"model may have made them up, or put them into another language. The first: {found[0].self_contained[:100]}",
    )
