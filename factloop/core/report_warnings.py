"""The warnings that a report shows before its figures."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence

from factloop.core.grounds import is_groundless
from factloop.core.reasons import FAILURES
from factloop.core.records import Claim, Fingerprint, Judgement, Sentence, UnscoredReason, Verdict

NOTHING_TO_CHECK_AGAINST = "There was nothing to check against: supply documents or a search tool."
BASELINE_FINDS = "including 214 planted errors, the baseline called only 4 claims contradicted"
"""Measured on labelled answers; see docs/rag.md."""
OFFLINE = (
    "Judged without a model, by a baseline that compares words and figures. It gives a verdict only in cases that it "
    "usually gets right, and leaves all others for you to read. It finds few errors: of 582 labelled facts, "
    f"{BASELINE_FINDS}."
)
_BROKEN_OFF = FAILURES | {UnscoredReason.BUDGET}
MANY, MANY_SHARE = 2, 0.15
"""Minimum number and proportion of groundless supported claims for a warning that the judge may be too weak."""

MOST_NAMED, MOST_QUOTED = 5, 300
"""Maximum number of quoted texts that tell the judge what to say, and of characters in each quotation."""
_STEERS = re.compile(
    r"(?s)A (?:passage|sentence) of .* tells the judge what to say: |\d+ more passages and sentences tell "
)


def engine_warnings(fingerprint: Fingerprint) -> tuple[str, ...]:
    """Warnings that follow from the settings alone."""
    if not fingerprint.search_tools:
        return (NOTHING_TO_CHECK_AGAINST,)
    return (OFFLINE,) if fingerprint.engine == "offline" and fingerprint.verifier is None else ()


def found_warnings(
    fingerprint: Fingerprint, claims: Sequence[Claim], sentences: Sequence[Sentence], response: str
) -> tuple[str, ...]:
    return (
        *unscored_warning(fingerprint, claims),
        *groundless_warning(claims),
        *jury_warning(claims),
        *whole_warning(sentences),
        *abstention_warnings(sentences, response),
    )


def unscored_warning(fingerprint: Fingerprint, claims: Sequence[Claim]) -> tuple[str, ...]:
    """Warns about unscored claims, and separately about claims in other languages. Returns nothing without sources.

    Excludes claims that need reading or whose sources disagree, because these are results rather than failures.
    """
    unscored = [one.judgement for one in claims if one.judgement.verdict is None and fingerprint.search_tools]
    foreign = [one for one in unscored if one.unscored_reason is UnscoredReason.OTHER_LANGUAGE]
    said_elsewhere = (UnscoredReason.OTHER_LANGUAGE, UnscoredReason.NEEDS_READING, UnscoredReason.DISPUTED)
    others = [one for one in unscored if one.unscored_reason not in said_elsewhere]
    said = [f"{share_of(len(foreign), len(claims), 'claim')}: {foreign[0].rationale}"] if foreign else []
    if others:
        n_of = share_of(len(others), len(claims), "claim", "has", "have")
        said.append(f"{n_of} no verdict; first reason: {others[0].rationale}")
    return tuple(said)


def share_of(n: int, total: int, noun: str, verb: str = "", of_many: str = "") -> str:
    """Describes a part of a whole, as in `1 of 2 claims has`. `verb` is the singular form, and `of_many` the plural."""
    return f"{n:,} of {total:,} {noun}{'' if total == 1 else 's'} {verb if n == 1 else of_many}".rstrip()


def failures(claims: Iterable[Claim]) -> list[Judgement]:
    """Judgements without a verdict because a call failed or a limit was reached."""
    return [claim.judgement for claim in claims if claim.judgement.unscored_reason in _BROKEN_OFF]


def failure_of_all(claims: Sequence[Claim]) -> Judgement | None:
    """Returns the first failure, or None if any claim has a verdict or nothing failed."""
    failed = next(iter(failures(claims)), None)
    return failed if all(claim.judgement.verdict is None for claim in claims) else None


def groundless_warning(claims: Sequence[Claim]) -> tuple[str, ...]:
    """Warns if many supported claims cite passages that lack most of their names and figures."""
    supported = [claim for claim in claims if claim.judgement.verdict is Verdict.SUPPORTED]
    found = [claim for claim in supported if is_groundless(claim)]
    if len(found) < MANY or len(found) < MANY_SHARE * len(supported):
        return ()
    return (
        f"{len(found)} of {len(supported)} supported claims cite passages that lack most of their names and figures: "
        "the judge may be too weak for its task. `factloop doctor --controls` tests it on known truths and errors.",
    )


def whole_warning(sentences: Sequence[Sentence]) -> tuple[str, ...]:
    """Says how many sentences were judged as a whole, because the model did not split them faithfully."""
    read = [one for one in sentences if one.no_claim is None]
    n_whole = sum(one.is_whole for one in read)
    said = (
        f"{share_of(n_whole, len(read), 'sentence', 'is', 'are')} judged as a whole, because the model omitted or "
        "added a figure, a name, a negation or a hedge when it split them into facts."
    )
    return (said,) if n_whole else ()


def jury_warning(claims: Sequence[Claim]) -> tuple[str, ...]:
    judged = [claim for claim in claims if claim.judgement.votes]
    n_split = sum(map(is_split, judged))
    return (f"The jury's models disagree on {share_of(n_split, len(judged), 'claim')}.",) if n_split else ()


def is_split(claim: Claim) -> bool:
    return len({(vote.verdict, vote.unscored_reason) for vote in claim.judgement.votes}) > 1


def steering_warnings(steering: Mapping[str, str]) -> tuple[str, ...]:
    """A warning for each text that tries to tell the judge what to say, sorted by origin."""
    found = sorted((where, " ".join(text.split())) for text, where in steering.items())
    said = [
        f"A {where} tells the judge what to say: “{text[:MOST_QUOTED]}” The judge is told to ignore it."
        for where, text in found[:MOST_NAMED]
    ]
    more = len(found) - len(said)
    return (*said, f"{more} more passages and sentences tell the judge what to say.") if more else tuple(said)


def of_steering(warnings: Iterable[str]) -> tuple[str, ...]:
    """The warnings in a report that come from `steering_warnings`."""
    return tuple(warning for warning in warnings if _STEERS.match(warning))


def abstention_warnings(sentences: Sequence[Sentence], response: str) -> tuple[str, ...]:
    """A warning for each sentence that says there is no answer although the sources have one."""
    wrong = [
        (one, one.abstention) for one in sentences if one.abstention is not None and one.abstention.is_right is False
    ]
    return tuple(
        f"“{response[slice(*sentence.span)]}” The sources have an answer: {said.why or said.evidence[0].passage[:200]} "
        f"({said.evidence[0].source})"
        for sentence, said in wrong
    )
