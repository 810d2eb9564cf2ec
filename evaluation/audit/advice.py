"""Advises on the uses of an evaluator, in plain sentences, each with the number that it rests on.

Godbole & Jia (sections 6.1 to 6.3) ask for such a reading of every evaluator and give no limits; those here are this
project's, each named with its reason. A use is allowed only if the less favourable end of the interval passes, and
advised against only if the more favourable end fails, too. Where the interval of a rate or an order holds both poor and
fair values, there are too few claims or systems to tell. A size of error, which noise alone puts above 0, then asks for
care. Orders of systems, chunks and wording may have no interval: then the figure itself decides. Where the
labels tell no systems apart, nothing is said of telling them apart: an evaluator that passes every claim would have
none of these pairs wrong.

Every use takes verdicts that are better than chance, which have a balanced accuracy of 0.5: without that, a rate, an
error rate or an order that looks right is the threshold's doing or luck, since one that rejects everything stops every
false claim. So a use is advised against where the interval of the balanced accuracy is not above 0.5, whatever its own
figure is, and not known where there are too few claims of either kind to tell. The uses that take claims one by one
look at both kinds where they are to be used, too.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from enum import StrEnum

from factloop.core.records import Record
from factloop.evaluation.audit.findings import NOT_MEASURED, Finding, Findings
from factloop.reports.figures import plural

GOOD_RATE = 0.8
"""TPR and TNR from which single claims may be sorted: at most one in five is sorted wrongly, of either kind."""
POOR_RATE = 0.6
"""Below it an evaluator does little better than a coin, which has 0.5."""
CHANCE = 0.5
"""Balanced accuracy of verdicts that have nothing to do with the claims, however many of them say "supported"."""
SMALL_BIAS = 0.02
"""Two points: the systems of one data set often lie no further apart (six within 1.8 points on TofuEval-MediaSum)."""
LARGE_BIAS = 0.05
"""Five points: more than the whole error rate of a good system."""
RARELY_WRONG = 0.1
"""One pair of systems in ten. The paper's evaluators order 20 to 26 % of the pairs wrongly."""
OFTEN_WRONG = 0.25
FEWEST_APART = 5
"""Pairs of systems that differ by the labels: with fewer, whether differences are found is hardly tried."""
MOST_FOUND = 0.8
"""Share of these differences that must be found: the power that tests are commonly planned for (Cohen 1988, 2.4)."""
FEW_FOUND = 0.5
STRONG_TAU = 0.8
"""Kendall's coefficient: at most one pair in ten is turned round."""
WEAK_TAU = 0.5
"""A quarter of the pairs is turned round."""
SMALL_LOSS = 0.05
"""Of the claims that pass: no more than change the other way round in the paper, by noise alone (section 4.2). Its
shares are of all claims, so that this limit is rather strict."""
LARGE_LOSS = 0.1
"""More than this the paper finds on 8 of 11 data sets, and calls it marked."""
SMALL_DROP = 0.1
"""Fall of a rate between all claims and those with the least, or the most, of the document's wording."""
LARGE_DROP = 0.2
"""Twice as many of these claims are sorted wrongly as an evaluator with `GOOD_RATE` may do on all."""
FEWEST_CLAIMS = 30
"""With fewer a rate has a standard error of up to 0.09 and decides nothing."""
FEWEST_CLUSTERS = 10
"""Prompts or responses, the claims of which resemble each other: percentile intervals over fewer are far too narrow."""
FEWEST_SYSTEMS = 3
"""Systems that bias must be measured on: two may agree by chance."""
FEWEST_PAIRS = 10
"""Pairs of systems: with fewer one pair more or less changes the advice."""
FEWEST_RANKED = 5
"""Systems, which make ten pairs."""


class Use(StrEnum):
    FILTER_CLAIMS = "filter_claims"
    ERROR_RATE = "error_rate"
    HEADROOM = "headroom"
    COMPARE_SYSTEMS = "compare_systems"
    RANK_SYSTEMS = "rank_systems"
    LONG_DOCUMENTS = "long_documents"
    PARAPHRASED_CLAIMS = "paraphrased_claims"
    COPIED_CLAIMS = "copied_claims"


class Leave(StrEnum):
    """Whether the evaluator may be used so, here."""

    YES = "yes"
    WITH_CARE = "with_care"
    NO = "no"
    UNKNOWN = "unknown"
    """Not measured, or by too few claims or systems to tell."""


class Advice(Record):
    use: Use
    leave: Leave
    sentence: str
    """Ends with the figures and what they rest on."""


def advise(found: Findings) -> tuple[Advice, ...]:
    """One piece of advice for each use, in the order of `Use`."""
    return tuple(_WRITERS[use](found) for use in Use)


def _filter_claims(found: Findings) -> Advice:
    if lacks := _missing_basis((found.tpr, found.tnr), FEWEST_CLAIMS, "claims of each kind"):
        return _advice(found, Use.FILTER_CLAIMS, Leave.UNKNOWN, lacks)
    leave = _by_rates(found)
    passed = f"it passes {_share(found.tpr, found, 'claims')} of those that hold"
    stopped = f"stops {_share(found.tnr, found, 'claims')} of those that do not"
    reason = f"{passed} and {stopped}"
    if leave is Leave.UNKNOWN:
        reason += f"; by the interval it may be below {100 * POOR_RATE:g} %, little better than a coin, or above"
    return _advice(found, Use.FILTER_CLAIMS, leave, reason)


def _by_rates(found: Findings) -> Leave:
    return _worse(_high_enough(found.tpr, GOOD_RATE, POOR_RATE), _high_enough(found.tnr, GOOD_RATE, POOR_RATE))


def _error_rate(found: Findings) -> Advice:
    if lacks := _missing_basis((found.mean_bias,), FEWEST_SYSTEMS, "systems"):
        return _advice(found, Use.ERROR_RATE, Leave.UNKNOWN, lacks)
    reason = f"its estimate is off by {_points(found.mean_bias, found, 'systems')} on average"
    if found.worst_bias is not None:
        reason += f" and by {100 * abs(found.worst_bias):.1f} at worst"
    if found.best_adjustment is not None and found.adjusted_bias is not None:
        reason += f"; adjusted on one labelled system by {100 * found.adjusted_bias:.1f}"
        if found.unadjusted_bias is not None:
            reason += f" instead of {100 * found.unadjusted_bias:.1f} there"
        reason += (
            f" ({found.best_adjustment}, the best method here; {plural(found.n_adjusted, 'choice')} of that system)"
        )
    return _advice(found, Use.ERROR_RATE, _low_enough(found.mean_bias, SMALL_BIAS, LARGE_BIAS), reason)


def _headroom(found: Findings) -> Advice:
    if lacks := _missing_basis((found.headroom_bias,), FEWEST_SYSTEMS, "systems"):
        return _advice(found, Use.HEADROOM, Leave.UNKNOWN, lacks)
    is_higher = found.headroom_bias.number > 0.0
    off, side = (found.headroom_bias, "higher") if is_higher else (found.headroom_bias.opposite, "lower")
    reason = f"the lowest error rate comes out {_points(off, found, 'systems')} {side} than it is"
    if not round(found.headroom_bias.number, 3):
        reason = f"the lowest error rate comes out as it is ({_count(found.headroom_bias, 'systems')})"
    size = found.headroom_bias.magnitude
    if found.headroom_size.value is not None:
        size = found.headroom_size
        if round(size.number - found.headroom_bias.magnitude.number, 3):
            reason += f" on average, and {_points(size, found, 'systems')} off in one direction or the other"
    return _advice(found, Use.HEADROOM, _low_enough(size, SMALL_BIAS, LARGE_BIAS), reason)


def _compare_systems(found: Findings) -> Advice:
    if lacks := _missing_basis((found.wrong_pairs,), FEWEST_PAIRS, "pairs of systems"):
        return _advice(found, Use.COMPARE_SYSTEMS, Leave.UNKNOWN, lacks)
    leave = _low_enough(found.wrong_pairs, RARELY_WRONG, OFTEN_WRONG)
    reason = f"against the labels it orders {_share(found.wrong_pairs, found, 'pairs')} of the pairs wrongly"
    if found.reversed_pairs is not None:
        reason += f" and turns {100 * found.reversed_pairs:.1f} % of them round"
        leave = _worse(leave, Leave.WITH_CARE if found.reversed_pairs > 0.0 else Leave.YES)
    apart = found.found_pairs
    if apart.value is not None:
        reason += f", and of the {apart.n:,} that differ by the labels it finds {100 * apart.value:.1f} %"
    elif leave is not Leave.NO:  # an evaluator that calls all claims alike would look as good
        return _advice(found, Use.COMPARE_SYSTEMS, Leave.UNKNOWN, f"{_nothing_apart(found)}; {reason}")
    return _advice(found, Use.COMPARE_SYSTEMS, _worse(leave, _differences_found(apart)), reason)


def _differences_found(apart: Finding) -> Leave:
    if apart.value is None or apart.n < FEWEST_APART:
        return Leave.WITH_CARE
    return Leave.YES if apart.value >= MOST_FOUND else Leave.NO if apart.value < FEW_FOUND else Leave.WITH_CARE


def _nothing_apart(found: Findings) -> str:
    return f"the labels tell no two systems apart in any of {_count(found.wrong_pairs, 'pairs')}"


def _rank_systems(found: Findings) -> Advice:
    if lacks := _missing_basis((found.tau,), FEWEST_RANKED, "systems"):
        return _advice(found, Use.RANK_SYSTEMS, Leave.UNKNOWN, lacks)
    if found.found_pairs.value is None:
        reason = f"{_nothing_apart(found)}, so that their own order may be chance"
        return _advice(found, Use.RANK_SYSTEMS, Leave.UNKNOWN, reason)
    low, high = found.tau.low, found.tau.high
    interval = "" if low is None or high is None else f"{100 * found.level:g} % interval {low:.2f} to {high:.2f}, "
    reason = f"its order has Kendall's tau {found.tau.number:.2f} with that of the labels"
    reason += f" ({interval}{_count(found.tau, 'systems')})"
    leave = _high_enough(found.tau, STRONG_TAU, WEAK_TAU)
    if leave is Leave.UNKNOWN:
        reason += f"; by the interval it may be below {WEAK_TAU:g}, a quarter of the pairs turned round, or above"
    if found.found_pairs.n < FEWEST_APART:
        reason += f"; but by the labels no more than {_count(found.found_pairs, 'pairs')} of them differ"
        leave = _worse(leave, Leave.WITH_CARE)
    return _advice(found, Use.RANK_SYSTEMS, leave, reason)


def _long_documents(found: Findings) -> Advice:
    if lacks := _missing_basis(
        (found.lost_across_chunks,), FEWEST_CLAIMS, "claims that pass and that no single chunk carries"
    ):
        return _advice(found, Use.LONG_DOCUMENTS, Leave.UNKNOWN, lacks)
    lost = _share(found.lost_across_chunks, found, "claims")
    reason = f"of the claims that it passes and no single chunk carries {lost} pass no longer once the document is cut"
    leave = _low_enough(found.lost_across_chunks, SMALL_LOSS, LARGE_LOSS)
    is_measured = found.tpr.value is not None and found.tnr.value is not None
    if leave is not Leave.NO and is_measured and _by_rates(found) is Leave.NO:  # it loses little of what it gets wrong
        leave = Leave.NO
        reason += ", but it does not sort single claims well enough in the first place"
    return _advice(found, Use.LONG_DOCUMENTS, leave, reason)


def _paraphrased_claims(found: Findings) -> Advice:
    said = "passes {} of those that hold and share the least wording with the document, against {} of all"
    rates = found.tpr_least_similar, found.tpr_by_wording
    others = found.tnr_least_similar, found.tnr_by_wording
    return _by_wording(found, Use.PARAPHRASED_CLAIMS, rates, others, f"it {said}, and stops {{}} of {{}} that do not")


def _copied_claims(found: Findings) -> Advice:
    said = "stops {} of those that do not hold and share the most wording with the document, against {} of all"
    rates = found.tnr_most_similar, found.tnr_by_wording
    others = found.tpr_most_similar, found.tpr_by_wording
    return _by_wording(found, Use.COPIED_CLAIMS, rates, others, f"it {said}, and passes {{}} of {{}} that hold")


def _by_wording(
    found: Findings, use: Use, rates: tuple[Finding, Finding], others: tuple[Finding, Finding], said: str
) -> Advice:
    """`rates`: the one that wording moves, there and over all claims; `others` that of the other kind of claims.

    Of the other kind there are few there, as what is copied mostly holds: then its rate over all claims counts.
    """
    (there, overall), has_enough = rates, others[0].n >= FEWEST_CLAIMS
    other = others[0] if has_enough else others[1]
    if lacks := _missing_basis((there, overall, other), FEWEST_CLAIMS, "such claims"):
        return _advice(found, use, Leave.UNKNOWN, lacks)
    drop = Finding(round(overall.number - there.number, 9), 0)  # .8 less .7 is a little more than .1
    is_poor = min(there.number, other.number) < POOR_RATE
    leave = _worse(_low_enough(drop, SMALL_DROP, LARGE_DROP), Leave.NO if is_poor else Leave.YES)
    shares = _share(there, found, "claims"), f"{100 * overall.number:.1f} %", _share(other, found, "claims")
    return _advice(found, use, leave, said.format(*shares, "those there" if has_enough else "all"))


_WRITERS: Mapping[Use, Callable[[Findings], Advice]] = {
    Use.FILTER_CLAIMS: _filter_claims,
    Use.ERROR_RATE: _error_rate,
    Use.HEADROOM: _headroom,
    Use.COMPARE_SYSTEMS: _compare_systems,
    Use.RANK_SYSTEMS: _rank_systems,
    Use.LONG_DOCUMENTS: _long_documents,
    Use.PARAPHRASED_CLAIMS: _paraphrased_claims,
    Use.COPIED_CLAIMS: _copied_claims,
}
_PURPOSES = {
    Use.FILTER_CLAIMS: "to sort single claims",
    Use.ERROR_RATE: "to estimate a system's error rate",
    Use.HEADROOM: "to tell how much is left to improve",
    Use.COMPARE_SYSTEMS: "to tell which of two systems is better",
    Use.RANK_SYSTEMS: "to rank systems",
    Use.LONG_DOCUMENTS: "to check claims against long documents in chunks",
    Use.PARAPHRASED_CLAIMS: "to check paraphrased claims",
    Use.COPIED_CLAIMS: "to check claims that copy the document",
}
_CAUTION = (Leave.YES, Leave.WITH_CARE, Leave.UNKNOWN, Leave.NO)


def _advice(found: Findings, use: Use, leave: Leave, reason: str) -> Advice:
    leave, reason = _beyond_chance(found, leave, reason)
    what = f"{_PURPOSES[use]} on {found.where}"
    opening = {
        Leave.YES: f"{found.evaluator} may be used {what}",
        Leave.WITH_CARE: f"{found.evaluator} may be used {what}, with care",
        Leave.NO: f"{found.evaluator} should not be used {what}",
        Leave.UNKNOWN: f"Whether {found.evaluator} may be used {what} is not known",
    }
    return Advice(use=use, leave=leave, sentence=f"{opening[leave]}: {reason}.")


def _beyond_chance(found: Findings, leave: Leave, reason: str) -> tuple[Leave, str]:
    """The advice, where the verdicts are better than chance; otherwise at most that it is not known."""
    accuracy = found.balanced_accuracy
    if lacks := _missing_basis((accuracy, found.tpr, found.tnr), FEWEST_CLAIMS, "claims of each kind"):
        is_open = leave in (Leave.YES, Leave.WITH_CARE)
        why = f"whether its verdicts are better than chance cannot be told ({lacks}); {reason}"
        return (Leave.UNKNOWN, why) if is_open else (leave, reason)
    least = accuracy.number if accuracy.low is None else accuracy.low
    if least > CHANCE:
        return leave, reason
    why = f"its balanced accuracy of {_share(accuracy, found, 'claims')} is not shown to be above that of a coin"
    own = {Leave.NO: f"{reason}; and ", Leave.UNKNOWN: ""}  # of what is not known there is nothing to say
    return Leave.NO, own.get(leave, f"{reason}; but ") + why


def _missing_basis(figures: Sequence[Finding], fewest: int, what: str) -> str:
    """Why nothing can be said of the figures; empty where something can."""
    if any(figure is NOT_MEASURED for figure in figures):  # not one that equals it, measured on nothing
        return "it was not measured"
    least = min(figure.n for figure in figures)
    if least < fewest:
        return f"too few {what} ({least:,}, and it takes {fewest})"
    n_clusters = min(
        (figure.n_clusters for figure in figures if figure.n_clusters is not None), default=FEWEST_CLUSTERS
    )
    if n_clusters < FEWEST_CLUSTERS:
        return f"it rests on too few prompts or responses ({n_clusters:,}, and it takes {FEWEST_CLUSTERS})"
    return "it is undefined here" if any(figure.value is None for figure in figures) else ""


def _worse(one: Leave, other: Leave) -> Leave:
    return max(one, other, key=_CAUTION.index)


def _high_enough(figure: Finding, good: float, poor: float) -> Leave:
    least = figure.number if figure.low is None else figure.low
    most = figure.number if figure.high is None else figure.high
    if least >= poor:
        return Leave.YES if least >= good else Leave.WITH_CARE
    return Leave.NO if most < poor else Leave.UNKNOWN


def _low_enough(figure: Finding, small: float, large: float) -> Leave:
    most = figure.number if figure.high is None else figure.high
    least = figure.number if figure.low is None else figure.low
    return Leave.YES if most <= small else Leave.NO if least > large else Leave.WITH_CARE


def _share(figure: Finding, found: Findings, what: str) -> str:
    return f"{100 * figure.number:.1f} % ({_interval(figure, found, ' %')}{_count(figure, what)})"


def _points(figure: Finding, found: Findings, what: str) -> str:
    """The figure in percentage points, with its interval."""
    return f"{100 * figure.number:.1f} points ({_interval(figure, found, '')}{_count(figure, what)})"


def _interval(figure: Finding, found: Findings, unit: str) -> str:
    if figure.low is None or figure.high is None:
        return ""
    return f"{100 * found.level:g} % interval {100 * figure.low:.1f} to {100 * figure.high:.1f}{unit}, "


def _count(figure: Finding, what: str) -> str:
    return f"{figure.n:,} {what}"
