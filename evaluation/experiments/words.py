"""Says in a sentence what a difference between two variants shows and what it does not; never that two are equal."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from factloop.core.figure import Undefined
from factloop.evaluation.comparing.paired import POWER
from factloop.evaluation.comparing.words import MINUS, equals, level_words, p_value
from factloop.evaluation.experiments.report import FamilyAdjustment, GroupFigure, Outcome, PairedDifference, Quantity
from factloop.reports.figures import plural


@dataclass(frozen=True)
class _QuantityWords:
    """The words for a quantity, and for a variant that has more or less of it, and which way is better."""

    name: str
    more: str
    less: str
    better: int = 0


_WORDS: Mapping[Quantity, _QuantityWords] = {
    Quantity.BALANCED_ACCURACY: _QuantityWords(
        "balanced accuracy", "agrees better with the labels", "agrees worse with the labels", 1
    ),
    Quantity.ACCURACY: _QuantityWords(
        "accuracy", "agrees more often with the labels", "agrees less often with the labels", 1
    ),
    Quantity.TPR: _QuantityWords("TPR", "finds more of the supported claims", "finds fewer of the supported claims", 1),
    Quantity.TNR: _QuantityWords(
        "TNR", "finds more of the unsupported claims", "finds fewer of the unsupported claims", 1
    ),
    Quantity.BIAS: _QuantityWords("bias", "calls more claims supported", "calls fewer claims supported"),
    Quantity.F1: _QuantityWords("F1", "gives a higher F1", "gives a lower F1"),
    Quantity.PRECISION: _QuantityWords("precision", "gives a higher precision", "gives a lower precision"),
    Quantity.UNSCORED_SHARE: _QuantityWords(
        "unscored share", "leaves more claims without a verdict", "leaves fewer claims without a verdict", -1
    ),
    Quantity.IRRELEVANT_SHARE: _QuantityWords(
        "irrelevant share", "calls more claims irrelevant", "calls fewer claims irrelevant"
    ),
    Quantity.COST_USD: _QuantityWords("cost", "costs more", "costs less", -1),
    Quantity.TOKENS: _QuantityWords("tokens", "takes more tokens", "takes fewer tokens", -1),
}
_AFTER: Mapping[FamilyAdjustment, str] = {
    FamilyAdjustment.HOLM: "after Holm’s adjustment",
    FamilyAdjustment.BENJAMINI_HOCHBERG: "after Benjamini and Hochberg’s adjustment",
    FamilyAdjustment.NONE: "not adjusted",
}
_CLAIMS = frozenset({Quantity.BALANCED_ACCURACY, Quantity.ACCURACY, Quantity.TPR, Quantity.TNR, Quantity.BIAS})


def name_of(quantity: Quantity, k: int | None = None) -> str:
    """`balanced accuracy`, `F1@32`."""
    return _WORDS[quantity].name + (f"@{k}" if k is not None else "")


def item_of(quantity: Quantity, kind: str) -> str:
    """The noun for what the quantity is averaged over: `claim` or `response`; `kind` is the experiment's."""
    return "claim" if quantity in _CLAIMS else kind.removesuffix("s")


def is_share(quantity: Quantity) -> bool:
    return quantity not in (Quantity.COST_USD, Quantity.TOKENS)


def amount(value: float | None, quantity: Quantity, *, signed: bool = False) -> str:
    """`0.843`, `+0.043`, `$0.00120`, `1,204`; a dash for None. Bias always has its sign."""
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
    """Formats as `amount` does, without a sign."""
    return amount(value, quantity).removeprefix("+")


def interval(figure: GroupFigure, quantity: Quantity, *, signed: bool = False) -> str:
    """`0.012 to 0.074`, or a dash."""
    if figure.low is None or figure.high is None:
        return "–"
    return f"{amount(figure.low, quantity, signed=signed)} to {amount(figure.high, quantity, signed=signed)}"


def basis(figure: GroupFigure, noun: str) -> str:
    """`n = 120 claims in 40 groups`."""
    shown = f"n = {plural(figure.n, noun)}"
    return shown if figure.n == figure.n_groups else f"{shown} in {plural(figure.n_groups, 'group')}"


def outcome_of(quantity: Quantity, difference: float) -> Outcome:
    """The outcome of a difference that is shown."""
    better = _WORDS[quantity].better
    if not better:
        return Outcome.HIGHER if difference > 0 else Outcome.LOWER
    return Outcome.BETTER if better * difference > 0 else Outcome.WORSE


def direction_of(quantity: Quantity) -> int:
    """1 where more of it is better, -1 where less is, 0 where neither is."""
    return _WORDS[quantity].better


@dataclass(frozen=True)
class DifferenceTest:
    """The settings of the test of a difference."""

    alpha: float
    n_tests: int
    n_counted: int
    """Those of them that could show a difference."""
    p_adjustment: FamilyAdjustment


def difference_in_words(one: PairedDifference, tested: DifferenceTest, noun: str) -> str:
    """The verdict on one difference, with all that it rests on. `one.words` is not read."""
    name = name_of(one.quantity, one.k)
    between = f"between {one.second} and {one.first} in {name}"
    if one.value is None or one.p is None or one.p_corrected is None:
        why = one.why or Undefined.NOTHING_SCORED.words
        return f"cannot be said: {why}, so {one.second} and {one.first} are not compared in {name}"
    where = f"at {basis(one, noun)}"
    by = amount(one.value, one.quantity, signed=True)
    per = "" if is_share(one.quantity) else f" a {noun}"
    apart = by if one.quantity is Quantity.COST_USD else f"{by} {name}"
    grounds = f"{_interval_words(one)}, {basis(one, noun)}, {_p_words(one, tested)}"
    if one.outcome is Outcome.UNKNOWN:
        tests = f" adjusted for {tested.n_counted} tests" if tested.n_counted > 1 else ""
        return (
            f"cannot be said {where}: {one.second} and {one.first} are {apart}{per} apart, and so few groups "
            f"cannot reach p = {tested.alpha:g}{tests} even if all point one way"
        )
    left_out = _left_out_words(one, noun)
    if one.outcome is Outcome.NOT_SHOWN:
        grounds = f"{_interval_words(one)}, {_p_words(one, tested)}"
        return f"no difference shown {between} {where}: {by}{per} ({grounds}){_power_words(one, noun)}{left_out}"
    said = _WORDS[one.quantity]
    verb = said.more if one.value > 0 else said.less
    at_k = f"@{one.k}" if one.k is not None else ""
    return f"{one.second} {verb}{at_k} than {one.first}: {apart}{per} ({grounds}){left_out}"


def _interval_words(one: PairedDifference) -> str:
    if one.low is None or one.level is None:
        return "no interval"
    return f"{level_words(one.level)} interval {interval(one, one.quantity, signed=True)}"


def _p_words(one: PairedDifference, tested: DifferenceTest) -> str:
    held, raw = equals(one.p_corrected), equals(one.p)
    if tested.n_tests < 2:
        return f"p {raw}"
    if tested.p_adjustment is FamilyAdjustment.NONE:
        return f"p {raw}, not adjusted for {tested.n_tests} tests"
    before = (
        f", {p_value(one.p)} before" if one.p is not None and one.p <= tested.alpha < (one.p_corrected or 0.0) else ""
    )
    n = plural(tested.n_tests, "test")
    counted = n if tested.n_counted >= tested.n_tests else f"{tested.n_counted} of {n}"
    return f"p {held} {_AFTER[tested.p_adjustment]} for {counted}{before}"


def _power_words(one: PairedDifference, noun: str) -> str:
    if one.detectable is None:
        return f"; not one {noun} differs" if one.value == 0 and one.p == 1 else ""
    if is_share(one.quantity) and one.detectable >= 1:
        return "; so few would not show any difference reliably"
    of_five = f"{round(5 * POWER)} times out of 5"
    least = size(one.detectable, one.quantity)
    return f"; a difference of about {least} or more would have been seen {of_five}"


def _left_out_words(one: PairedDifference, noun: str) -> str:
    return f"; {plural(one.n_left_out, noun)} without a value in one of them left out" if one.n_left_out else ""
