"""Says in sentences what a comparison shows and what it does not."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from factloop.evaluation.comparing.records import (
    ClaimAgreement,
    ClaimFigure,
    ComparisonKind,
    LabelComparison,
    PairedDifference,
    Setting,
)
from factloop.evaluation.runs.measures import BY_QUANTITY
from factloop.evaluation.statistics.significance import fewest_prompts, least_p_of
from factloop.reports.figures import percent, plural

MINUS = "\u2212"
_NOT_JUDGING = ("factloop_version", "versions.", "data", "seed", "base_url")
"""Settings that do not say how claims are judged."""


def conclude(
    differences: Sequence[PairedDifference],
    claims: ClaimAgreement | None,
    labels: LabelComparison | None,
    *,
    alpha: float,
    level: float,
    has_intervals: bool = True,
) -> tuple[str, ...]:
    """A sentence for each difference, then on claims and on labels."""
    n_tests = len(differences)
    said = [
        difference_in_words(one, alpha=alpha, level=level, n_tests=n_tests, has_intervals=has_intervals)
        for one in differences
    ]
    if claims is not None:
        said += _claim_sentences(claims, level)
    if labels is not None:
        said += _label_sentences(labels, alpha=alpha, level=level)
    return tuple(said)


def cautions(kind: ComparisonKind, settings: Sequence[Setting], *, one_run: bool, n_unpaired: int) -> tuple[str, ...]:
    """Reasons not to take the figures at face value."""
    judging = [one.name for one in settings if not one.name.startswith(_NOT_JUDGING)]
    said = []
    if kind is ComparisonKind.SYSTEMS and judging:
        said.append(
            f"The two runs were judged differently ({', '.join(judging)}): a difference may be the judge's, "
            "not the systems'."
        )
    if kind is ComparisonKind.EVALUATORS and not judging and not one_run:
        said.append(
            "Both runs were judged by the same settings: what differs is chance, in models or in searches, "
            "and no difference of evaluators."
        )
    if n_unpaired:
        said.append(
            f"{plural(n_unpaired, 'response')} without a counterpart in the other run; nothing here rests on that."
        )
    return tuple(said)


def name_of(one: PairedDifference) -> str:
    """`Precision`, `F1@64`."""
    return BY_QUANTITY[one.quantity].heading(one.k)


def points(value: float) -> str:
    """Hundredths with one digit, and their sign: `+3.1`, `−0.4`, `0.0`."""
    shown = f"{abs(100 * value):.1f}"
    return shown if float(shown) == 0 else f"{'+' if value > 0 else MINUS}{shown}"


def point_interval(low: float, high: float) -> str:
    """`−2.1 to +1.3`."""
    return f"{points(low)} to {points(high)}"


def p_value(p: float | None) -> str:
    """Three digits: `0.031`, `<0.001`."""
    if p is None:
        return "–"
    return "<0.001" if p < 0.001 else f"{p:.3f}"


def equals(p: float | None) -> str:
    """After *p*: `= 0.031`, `< 0.001`."""
    shown = p_value(p)
    return f"< {shown[1:]}" if shown.startswith("<") else f"= {shown}"


def level_words(level: float) -> str:
    """`95%`, `98.33%`: to hundredths, and to as many digits as tell it from 100%."""
    for digits in range(2, 12):
        if (shown := round(100.0 * level, digits)) < 100.0:
            return f"{shown:g}%"
    return ">99.99999999%"


def difference_in_words(
    one: PairedDifference, *, alpha: float, level: float, n_tests: int, has_intervals: bool = True
) -> str:
    """One difference as a sentence: whether it is shown, how large, on how many prompts, how sure."""
    name = name_of(one)
    if one.difference is None or one.p is None or one.p_corrected is None:
        return f"{name}: nothing can be said, as no pair has a value on both sides."
    size = f"{points(one.difference)} points (B minus A)"
    interval = f"no interval ({why_no_interval(one, level, has_intervals=has_intervals)})"
    if one.low is not None and one.high is not None:
        interval = f"{level_words(one.level or level)} interval {point_interval(one.low, one.high)}"
    grounds = f"{size}, {interval}, p {equals(one.p)}"
    if n_tests > 1:
        grounds += f" ({p_value(one.p_corrected)} adjusted for {n_tests} tests)"
    at = f"at n = {_prompts(one)}"
    if one.p_corrected <= alpha:
        better = "B" if one.difference > 0 else "A"
        return f"{name}: {better} is higher {at}: {grounds}."
    if one.p <= alpha:
        return f"{name}: no difference shown {at} once p is adjusted for {n_tests} tests: {grounds}."
    if least_p_of(one.n_prompts) > alpha:
        needed = f"p is {least_p_of(one.n_prompts):.4g} at least, and {fewest_prompts(alpha):,} prompts could show one"
        return f"{name}: no difference can be shown {at}: {needed}; {grounds}."
    return f"{name}: no difference shown {at}: {grounds}."


def why_no_interval(one: PairedDifference, level: float, *, has_intervals: bool) -> str:
    """Why a difference has no interval: `5 prompts, 6 needed`, or that nothing varies."""
    if not has_intervals:
        return "not asked for"
    needed = fewest_prompts(1.0 - (one.level or level))
    if one.n_prompts < needed:
        return f"{plural(one.n_prompts, 'prompt')}, {needed:,} needed"
    return "nothing varies"


def _prompts(one: PairedDifference) -> str:
    prompts = plural(one.n_prompts, "prompt")
    return prompts if one.n_pairs == one.n_prompts else f"{prompts} ({plural(one.n_pairs, 'response')})"


def _claim_sentences(claims: ClaimAgreement, level: float) -> Iterator[str]:
    n_alone = claims.n_only_first + claims.n_only_second
    if n_alone:
        yield (
            f"{plural(claims.n_matched, 'claim')} matched on both sides; {claims.n_only_first:,} made by A alone and "
            f"{claims.n_only_second:,} by B alone are not compared one by one."
        )
    agreement = claims.agreement
    if agreement.value is None:
        yield f"Agreement claim by claim is undefined: {agreement.why}."
        return
    kappa = claims.kappa
    chance = f"Cohen’s kappa {kappa.value:.2f}" if kappa.value is not None else f"kappa undefined: {kappa.why}"
    yield (
        f"A and B give the same verdict on {percent(round(agreement.value, 3))} of {agreement.n:,} claims that both "
        f"judged{_beside(agreement, level)}; {chance}."
    )


def _label_sentences(labels: LabelComparison, *, alpha: float, level: float) -> Iterator[str]:
    first, second, apart = labels.agreement
    if first.value is None or second.value is None or apart.value is None or labels.p_by_prompt is None:
        yield f"Nothing can be said on people’s labels: {apart.why}."
        return
    shares = f"A agrees on {percent(round(first.value, 3))}, B on {percent(round(second.value, 3))}"
    size = f"{points(apart.value)} points{_beside(apart, level, signed=True)}"
    tests = f"p {equals(labels.p_by_prompt)} by prompt, p {equals(labels.p_mcnemar)} by McNemar’s exact test"
    shown = labels.p_by_prompt <= alpha
    nearer = ("B" if apart.value > 0 else "A") + " is nearer to people’s labels"
    yield (
        f"{nearer if shown else 'Neither is shown to be nearer to people’s labels'}: of {apart.n:,} labelled claims "
        f"that both judged {shares}, {size}, {tests}."
    )
    _, _, balanced = labels.balanced_accuracy
    if balanced.value is None:
        yield f"Balanced accuracy is undefined: {balanced.why}."
    else:
        yield (
            f"Balanced accuracy differs by {points(balanced.value)} points on {balanced.n:,} claims"
            f"{_beside(balanced, level, signed=True)}."
        )


def _beside(figure: ClaimFigure, level: float, *, signed: bool = False) -> str:
    if figure.low is None or figure.high is None:
        return ""
    shown = (
        point_interval(figure.low, figure.high) if signed else f"{100 * figure.low:.1f}% to {100 * figure.high:.1f}%"
    )
    return f" ({percent(level)} interval {shown})"
