"""Explains in sentences what a paired difference shows. No sentence claims that two sides are equal."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from factloop.core.figure import Undefined
from factloop.evaluation.comparing.paired import POWER
from factloop.evaluation.comparing.records import (
    ClaimAgreement,
    ComparisonKind,
    GroupFigure,
    Outcome,
    PairedDifference,
    Quantity,
    Setting,
)
from factloop.evaluation.statistics.significance import fewest_prompts
from factloop.reports.figures import percent, plural

MINUS = "\u2212"
_NOT_JUDGING = ("factloop_version", "versions.", "data", "seed", "base_url")
"""Settings that do not affect how claims are judged."""


class _QuantityWords(NamedTuple):
    """`better` is 1 if higher is better, -1 if lower is."""

    name: str
    verb: str
    more: str
    less: str
    better: int = 0

    def said(self, *, is_more: bool) -> str:
        return self.verb.format(self.more if is_more else self.less)


_AGREES = "agrees {} with the labels"
_WORDS: Mapping[Quantity, _QuantityWords] = {
    Quantity.BALANCED_ACCURACY: _QuantityWords("balanced accuracy", _AGREES, "better", "less well", 1),
    Quantity.ACCURACY: _QuantityWords("accuracy", _AGREES, "more often", "less often", 1),
    Quantity.TPR: _QuantityWords("TPR", "finds {} of the supported claims", "more", "fewer", 1),
    Quantity.TNR: _QuantityWords("TNR", "finds {} of the unsupported claims", "more", "fewer", 1),
    Quantity.BIAS: _QuantityWords("bias", "judges {} claims supported", "more", "fewer"),
    Quantity.F1: _QuantityWords("F1", "has a {} F1", "higher", "lower"),
    Quantity.PRECISION: _QuantityWords("precision", "has a {} precision", "higher", "lower"),
    Quantity.FULL_SUPPORT: _QuantityWords("fully supported share", "has {} fully supported responses", "more", "fewer"),
    Quantity.ELIGIBLE_AND_SUPPORTED: _QuantityWords(
        "eligible and fully supported share", "has {} eligible and fully supported responses", "more", "fewer"
    ),
    Quantity.UNSCORED_SHARE: _QuantityWords(
        "unscored share", "leaves {} claims without a verdict", "more", "fewer", -1
    ),
    Quantity.IRRELEVANT_SHARE: _QuantityWords("irrelevant share", "judges {} claims irrelevant", "more", "fewer"),
    Quantity.COVERAGE: _QuantityWords("coverage", "covers {} of what responses say", "more", "less", 1),
    Quantity.ENTAILMENT: _QuantityWords(
        "entailment", "has claims that follow from sentences {}", "more often", "less often", 1
    ),
    Quantity.SELF_CONTAINED: _QuantityWords("self-contained share", "has {} self-contained claims", "more", "fewer", 1),
    Quantity.ATOMICITY: _QuantityWords("atomic share", "has {} claims that say only one thing", "more", "fewer", 1),
    Quantity.REDUNDANCY: _QuantityWords("redundancy", "has {} claims that say nothing new", "more", "fewer", -1),
    Quantity.COST_USD: _QuantityWords("cost", "costs {}", "more", "less", -1),
    Quantity.TOKENS: _QuantityWords("tokens", "uses {} tokens", "more", "fewer", -1),
}
_CLAIMS = frozenset({Quantity.BALANCED_ACCURACY, Quantity.ACCURACY, Quantity.TPR, Quantity.TNR, Quantity.BIAS})


def name_of(quantity: Quantity, k: int | None = None) -> str:
    """Returns the name of a quantity, such as `balanced accuracy` or `F1@32`."""
    return _WORDS[quantity].name + (f"@{k}" if k is not None else "")


def item_of(quantity: Quantity, kind: str) -> str:
    """Returns `claim` or `response`. `kind` is `claims` or `responses`."""
    return "claim" if quantity in _CLAIMS else kind.removesuffix("s")


def is_share(quantity: Quantity) -> bool:
    return quantity not in (Quantity.COST_USD, Quantity.TOKENS)


def direction_of(quantity: Quantity) -> int:
    """Returns 1 if higher values are better, -1 if lower values are, or 0 if neither."""
    return _WORDS[quantity].better


def outcome_of(quantity: Quantity, difference: float) -> Outcome:
    better = direction_of(quantity)
    if not better:
        return Outcome.HIGHER if difference > 0 else Outcome.LOWER
    return Outcome.BETTER if better * difference > 0 else Outcome.WORSE


def amount(value: float | None, quantity: Quantity, *, signed: bool = False) -> str:
    """Formats a value, as in `0.843`, `+0.043`, `$0.0012` or `1,204`. None becomes a dash. Bias is always signed."""
    if value is None:
        return "–"
    if quantity is Quantity.COST_USD:
        shown = f"${abs(value):,.2f}" if abs(value) >= 10 else f"${abs(value):.3g}"
    elif quantity is Quantity.TOKENS:
        shown = f"{abs(value):,.0f}" if abs(value) >= 100 else f"{abs(value):,.1f}"
    else:
        shown = f"{abs(value):.3f}"
    is_nothing = not any(digit in shown for digit in "123456789")
    sign = "" if is_nothing else MINUS if value < 0 else "+" if signed or quantity is Quantity.BIAS else ""
    return f"{sign}{shown}"


def size(value: float | None, quantity: Quantity) -> str:
    return amount(value, quantity).removeprefix("+")


def interval(figure: GroupFigure, quantity: Quantity, *, signed: bool = False) -> str:
    """Formats an interval, as in `0.012 to 0.074`, or as a dash if there is none."""
    if figure.low is None or figure.high is None:
        return "–"
    return f"{amount(figure.low, quantity, signed=signed)} to {amount(figure.high, quantity, signed=signed)}"


def basis(figure: GroupFigure, noun: str, group: str = "group") -> str:
    """Formats the size of the sample, as in `n = 120 claims from 40 groups`."""
    shown = f"n = {plural(figure.n, noun)}"
    return shown if figure.n == figure.n_groups else f"{shown} from {plural(figure.n_groups, group)}"


def p_value(p: float | None) -> str:
    """Formats a p-value with three decimals, as in `0.031` or `<0.001`."""
    if p is None:
        return "–"
    return "<0.001" if p < 0.001 else f"{p:.3f}"


def equals(p: float | None) -> str:
    """Formats a p-value for use after *p*, as in `= 0.031` or `< 0.001`."""
    shown = p_value(p)
    return f"< {shown[1:]}" if shown.startswith("<") else f"= {shown}"


def level_words(level: float) -> str:
    """Formats a level, as in `98.33%`, with two decimals, or more if needed to tell it from 100%."""
    for digits in range(2, 12):
        if (shown := round(100.0 * level, digits)) < 100.0:
            return f"{shown:.{digits}f}".rstrip("0").rstrip(".") + "%"
    return ">99.99999999%"


def why_no_interval(one: PairedDifference, *, has_intervals: bool, group: str = "group") -> str:
    """Explains why a difference has no interval, as in `5 prompts, 6 needed` or `nothing varies`."""
    if not has_intervals:
        return "not requested"
    needed = fewest_prompts(1.0 - one.level)
    return f"{plural(one.n_groups, group)}, {needed:,} needed" if one.n_groups < needed else "nothing varies"


@dataclass(frozen=True)
class DifferenceTest:
    alpha: float
    n_tests: int
    n_counted: int
    """Tests that could show a difference."""
    noun: str
    """The noun for items: `claim` or `response`."""
    group: str = "group"
    has_intervals: bool = True


def difference_in_words(one: PairedDifference, tested: DifferenceTest) -> str:
    """Returns a sentence that describes a difference and its basis. `one.words` is ignored."""
    name, noun = name_of(one.quantity, one.k), tested.noun
    if one.value is None or one.p is None or one.p_corrected is None:
        return f"Cannot compare {one.second} with {one.first} in {name}: {one.why or Undefined.NOTHING_SCORED.words}"
    rests_on = basis(one, noun, tested.group)
    by = amount(one.value, one.quantity, signed=True)
    per = "" if is_share(one.quantity) else f" a {noun}"
    apart = by if one.quantity is Quantity.COST_USD else f"{by} {name}"
    if one.outcome is Outcome.UNKNOWN:
        held = tested.alpha / tested.n_counted
        adjusted = f" adjusted for {tested.n_counted} tests" if tested.n_counted > 1 else ""
        return (
            f"Too few {tested.group}s to tell: {one.second} differs from {one.first} by {apart}{per} ({rests_on}), but "
            f"p cannot be as low as {tested.alpha:g}{adjusted} with fewer than {fewest_prompts(held)} {tested.group}s"
        )
    left_out = f"; excluded: {plural(one.n_left_out, noun)} without a value on one side" if one.n_left_out else ""
    if one.if_wrong is not None:
        as_wrong, as_right = (amount(way, one.quantity, signed=True) for way in (one.if_wrong, one.if_right))
        left_out += f"; {as_wrong} if missing verdicts count as wrong, {as_right} if they count as right"
    grounds = [_interval_words(one, tested), rests_on, _p_words(one, tested)]
    if one.outcome is Outcome.NOT_SHOWN:
        between = f"No difference in {name} is shown between {one.second} and {one.first}"
        return f"{between}: {by}{per} ({', '.join(grounds)}){_power_words(one, noun)}{left_out}"
    verb = _WORDS[one.quantity].said(is_more=one.value > 0)
    at_k = f"@{one.k}" if one.k is not None else ""
    return f"{one.second} {verb}{at_k} than {one.first}: {apart}{per} ({', '.join(grounds)}){left_out}"


def _interval_words(one: PairedDifference, tested: DifferenceTest) -> str:
    if one.low is None:
        return f"no interval: {why_no_interval(one, has_intervals=tested.has_intervals, group=tested.group)}"
    return f"{level_words(one.level)} interval {interval(one, one.quantity, signed=True)}"


def _p_words(one: PairedDifference, tested: DifferenceTest) -> str:
    held, raw = equals(one.p_corrected), equals(one.p)
    if tested.n_tests < 2 or (tested.n_counted < 2 and held == raw):
        return f"p {raw}"
    is_lost = one.p is not None and one.p <= tested.alpha < (one.p_corrected or 0.0)
    n = tested.n_counted if tested.n_counted > 1 else tested.n_tests
    return f"p {held} after Holm’s adjustment for {n:,} tests" + (f", {p_value(one.p)} before" if is_lost else "")


def _power_words(one: PairedDifference, noun: str) -> str:
    if one.detectable is None:
        return f"; no {noun} differs" if one.value == 0 and one.p == 1 else ""
    if is_share(one.quantity) and one.detectable >= 1:
        return f"; with so few {noun}s, no difference could be detected reliably"
    least = size(one.detectable, one.quantity)
    return f"; a difference of about {least} or more would be detected {round(5 * POWER)} times out of 5"


def losses(headline: PairedDifference, differences: Sequence[PairedDifference]) -> Iterator[str]:
    """Says which side leaves more claims out, because a side looks better without its hard claims."""
    for one in differences:
        is_loss = one.quantity in (Quantity.UNSCORED_SHARE, Quantity.IRRELEVANT_SHARE)
        is_shown = one.outcome.is_shown
        if is_loss and is_shown and (one.first, one.second) == (headline.first, headline.second):
            yield one.words


def agreement_sentences(claims: ClaimAgreement, level: float) -> Iterator[str]:
    if claims.n_only_first + claims.n_only_second:
        yield (
            f"{plural(claims.n_matched, 'claim')} matched on both sides; claims made only by A "
            f"({claims.n_only_first:,}) or only by B ({claims.n_only_second:,}) are not compared one by one."
        )
    agreement, kappa = claims.agreement, claims.kappa
    if agreement.value is None:
        yield f"Claim-by-claim agreement is undefined: {agreement.why}."
        return
    chance = f"Cohen’s kappa {kappa.value:.2f}" if kappa.value is not None else f"kappa undefined: {kappa.why}"
    low, high = agreement.interval or (None, None)
    between = "" if low is None else f" ({percent(level)} interval {100 * low:.1f}% to {100 * (high or 0.0):.1f}%)"
    yield (
        f"A and B give the same verdict on {percent(round(agreement.value, 3))} of {agreement.n:,} claims that both "
        f"judged{between}; {chance}."
    )


def comparison_cautions(
    kind: ComparisonKind, settings: Sequence[Setting], *, one_run: bool, n_unpaired: int, n_conflicting: int
) -> Iterator[str]:
    judging = [one.name for one in settings if not one.name.startswith(_NOT_JUDGING)]
    if kind is ComparisonKind.SYSTEMS and judging:
        yield (
            f"The two runs were judged differently ({', '.join(judging)}), so a difference may be due to the judges "
            "instead of the systems."
        )
    if kind is ComparisonKind.EVALUATORS and not judging and not one_run:
        yield (
            "Both runs were judged with the same settings, so differences are due to chance in models or searches, "
            "not to the evaluators."
        )
    if n_unpaired:
        yield f"No figure includes the {plural(n_unpaired, 'response')} without a counterpart in the other run."
    if n_conflicting:
        yield conflicting_words(n_conflicting)


def conflicting_words(n: int) -> str:
    return f"Treated {plural(n, 'claim')} with two different labels as unlabelled."
