"""Shows a run's raw and corrected figures in sentences, in sheets and on the terminal."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace

from rich.console import Console, Group
from rich.text import Text

from factloop.evaluation.debiasing.estimates import FEWEST_GROUPS
from factloop.evaluation.debiasing.records import LEVEL, Caution, Estimate, Method, Target, Transfer
from factloop.evaluation.runs.records import Calibration, RunDebiasing
from factloop.evaluation.runs.views.sheets import interval, interval_head, share
from factloop.reports.figures import plural
from factloop.reports.sheet.table import Cell, Column, ColumnOf, Sheet, figure_cell, name, sheet_of
from factloop.reports.sheet.terminal import keep_sheet, print_sheet, sheet_body
from factloop.reports.terminal_parts import Row, one_line, print_section, rows_table
from factloop.reports.visible import visible

METHOD_WORDS = {
    Method.RAW: "raw",
    Method.PREDICTION_POWERED: "prediction-powered",
    Method.ADJUSTED_COUNT: "adjusted count",
    Method.DIFFERENCE: "its labelled claims",
}

NO_INTERVAL_WORDS = {
    Caution.NO_SPREAD: "nothing varies",
    Caution.OUT_OF_RANGE: "beyond 0 or 1",
    Caution.ONE_GROUP: "a single prompt",
}
"""Short reasons, shown in place of a missing interval."""

CAUTION_WORDS = {
    Caution.FEW_LABELS: "too few labelled claims for a reliable interval",
    Caution.FEW_OF_A_CLASS: "few responses contain a labelled claim of one class",
    Caution.CLIPPED: "fell outside [0, 1] and was clipped",
    Caution.OUT_OF_RANGE: "the whole interval is outside [0, 1] and left out, because the labels do not fit the run",
    Caution.NO_SPREAD: "prompts do not differ, so there is no interval; this does not prove certainty",
    Caution.WIDENED: "the interval was widened, because a class is rare or the few labels show no error",
    Caution.ONE_GROUP: "the labels or the run's claims come from a single prompt, so there is no interval",
    Caution.LABELLED_IN_PART: "correcting F1@K requires fully labelled responses, but there are none",
}

TRANSFER_WORDS = {
    Transfer.VERDICTS: "each verdict is right as often as on the labelled claims, which is plausible if the claims are "
    "of the same kind",
    Transfer.ERROR_RATES: "the evaluator's TPR and FPR are the same as on the labelled claims, even if the run has "
    "more or fewer errors",
}

TARGET_WORDS = {
    Target.PROMPTS: "the system's answers to similar prompts; intervals treat the run's prompts as a sample of these",
    Target.RUN: "this run's claims with a verdict, as if people had labelled all; intervals reflect unlabelled claims",
}

SUPPORTED = "Claims supported"
SUPPORTED_WORDS = (
    "“Claims supported” is the share of supported claims among all of a system's claims with a verdict, so long "
    "responses have more weight; "
    "“Precision” in the scores is the mean over responses"
)


WEIGHT_WORDS = "λ is the weight of the run's verdicts; the rest is that of the labelled claims alone"


def in_short(found: Calibration) -> Iterator[str]:
    """Yields each system's preferred precision, and the number of labelled prompts needed for an interval of ±10
    points.

    That number assumes that the width of the interval shrinks with the square root of the number of prompts, in both
    samples. If there is no interval, yields the reason instead.
    """
    for one in found.systems:
        best, n_unscored, n_idle = preferred(one), one.precision.n_run_unscored, one.precision.evaluator.n_unscored
        of = f", {one_line(one.system)}" if len(found.systems) > 1 else ""
        if best is None or best.value is None or best.interval is None:
            needs = f" You need labels on at least {FEWEST_GROUPS} prompts."
            is_small = best is None or best.n_label_groups < FEWEST_GROUPS
            idle = f" Not used: {plural(n_idle, 'label')} on claims without a verdict." if n_idle else ""
            yield f"No conclusion yet{of}: {_why_none(one, best)}.{idle}{needs if is_small else ''}"
            continue
        low, high = best.interval
        if low == high:
            said = f"{round(best.value * best.n_run):,} of {best.n_run:,} are supported ({best.value:.0%})"
            left = f"; not covered: {n_unscored:,} without a verdict" if n_unscored else ""
            yield f"Every claim with a verdict is labelled{of}: {said}{left}."
            continue
        covered = f"{best.n_run:,} claims with a verdict" if n_unscored else "claims"
        said = (
            f"With your {plural(best.n_labels, 'label')}{of}: about {best.value:.0%} of its {covered} are "
            f"supported, anywhere from {100 * low:.0f} to {high:.0%}"
            f"{f'; the other {n_unscored:,} are not covered' if n_unscored else ''}"
        )
        needed = math.ceil(best.n_label_groups * ((high - low) / (2 * GOOD_WIDTH)) ** 2)
        more = f". Labels on about {needed:,} prompts, not {best.n_label_groups:,}, would give ±10 points"
        yield f"{said}{more if needed > best.n_label_groups else ''}."


def _why_none(one: RunDebiasing, best: Estimate | None) -> str:
    if best is not None:
        return next(
            (CAUTION_WORDS[caution] for caution in best.cautions if caution in NO_INTERVAL_WORDS), "no interval"
        )
    by_verdicts = one.transfer is Transfer.VERDICTS
    return (one.precision.prediction_powered if by_verdicts else one.precision.adjusted_count).why


def preferred(one: RunDebiasing) -> Estimate | None:
    found = (one.precision.prediction_powered, one.precision.adjusted_count, one.precision.own_claims)
    return next((each for each in found if each is not None and each.method is one.precision.preferred), None)


def tiles(one: RunDebiasing) -> dict[str, tuple[str, str]]:
    """Maps the name of each corrected figure to its value and to a line that gives its basis and the raw value."""
    n_run = f"{plural(one.precision.raw.n_run, 'claim')} with a verdict"
    found = [(f"F1@{f1.k}", f1.raw, f1.corrected, plural(f1.n_responses, "response")) for f1 in one.f1]
    return {
        name: (share(best.value), f"{_interval_words(best)}, {run}; {share(raw.value)} before correction")
        for name, raw, best, run in [*found, (SUPPORTED, one.precision.raw, preferred(one), n_run)]
        if best is not None and best.value is not None
    }


GOOD_WIDTH = 0.1
"""Half the width of an interval that is narrow enough to be useful."""


def targets(found: Calibration) -> list[str]:
    if any(one.precision.own_claims is not None for one in found.systems):
        rest = f"All other figures refer to {TARGET_WORDS[Target.PROMPTS]}"
        return [f"Figures for “this run alone” refer to {TARGET_WORDS[Target.RUN]}", rest]
    return [f"Figures refer to {TARGET_WORDS[Target.PROMPTS]}"]


def assumptions(found: Calibration) -> list[str]:
    """Returns the assumptions behind the systems' preferred precision. A system whose claims are all labelled needs no
    assumption."""
    assuming = (one for one in found.systems if one.precision.preferred is not Method.DIFFERENCE)
    transfers = dict.fromkeys(one.transfer for one in assuming)
    return [f"for the preferred figures: {TRANSFER_WORDS[one]}" for one in transfers]


def overlap_words(one: RunDebiasing) -> str:
    """Says how many labelled claims were drawn together with the run."""
    n_labels = one.precision.prediction_powered.n_labels + one.precision.evaluator.n_unscored
    if not one.n_of_prompts:
        return f"none of the {plural(n_labels, 'labelled claim')} comes from its prompts, so there are two samples"
    own = f", {one.n_own:,} of them its own claims" if one.n_own else ""
    labels = plural(n_labels, "labelled claim")
    were = "comes from its prompts and was" if one.n_of_prompts == 1 else "come from its prompts and were"
    return f"{one.n_of_prompts:,} of {labels} {were} drawn with them{own}"


def weight_words(estimate: Estimate) -> str:
    """Formats lambda, as in `weight of verdicts: λ = 0.18`. Empty without a lambda, or if all claims are labelled."""
    if estimate.weight is None or (estimate.low is not None and estimate.low == estimate.high):
        return ""
    by = "scores" if estimate.uses_scores else "verdicts"
    return f"weight of {by}: λ = {round(estimate.weight, 2) + 0.0:.2f}"  # never -0.00


def estimates(one: RunDebiasing) -> Iterator[tuple[str, Estimate, str]]:
    """Yields each figure of a system with its name and basis, raw figures first."""
    for estimate in (one.precision.raw, one.precision.prediction_powered, one.precision.adjusted_count):
        yield SUPPORTED, estimate, _basis(estimate, plural(estimate.n_run, "claim"))
    if one.precision.own_claims is not None:
        own = one.precision.own_claims
        yield f"{SUPPORTED}, this run alone", own, _basis(own, plural(own.n_run, "claim"))
    for f1 in one.f1:
        for estimate in (f1.raw, f1.corrected):
            yield f"F1@{f1.k}", estimate, _basis(estimate, plural(f1.n_responses, "response"))


def _basis(estimate: Estimate, run: str) -> str:
    return run if estimate.method is Method.RAW else f"{run}, {plural(estimate.n_labels, 'label')}"


_Figure = tuple[str, str, Estimate, bool, str]


def corrected(found: Calibration) -> Sheet:
    columns: tuple[ColumnOf[_Figure], ...] = (
        (Column("System", is_name=True, is_heading=True, is_as_given=True), lambda row: row[0]),
        (name("Measure"), lambda row: row[1]),
        (name("By"), _method),
        (Column("Value", is_strong=True), lambda row: replace(figure_cell(row[2], share), note="")),
        (Column(interval_head(_level(found))), _interval),
        (Column("Cautions", is_name=True, on_terminal=False), _cautions),
    )
    rows = [
        (one.system, measure, estimate, not is_f1 and estimate.method is one.precision.preferred, basis)
        for one in found.systems
        for measure, estimate, basis in estimates(one)
        for is_f1 in [measure.startswith("F1@")]
    ]
    return sheet_of("Raw and corrected", columns, rows)


def _method(row: _Figure) -> Cell:
    words = METHOD_WORDS[row[2].method]
    return Cell(f"{words}, preferred" if row[3] else words, weight_words(row[2]), basis=row[4])


def _interval(row: _Figure) -> Cell:
    why = next((NO_INTERVAL_WORDS[one] for one in row[2].cautions if one in NO_INTERVAL_WORDS), "")
    is_missing = row[2].value is not None and row[2].interval is None
    return Cell(_interval_words(row[2]), why if is_missing else "")


def _interval_words(one: Estimate) -> str:
    return "all labelled" if one.low is not None and one.low == one.high else interval(one.low, one.high)


def _cautions(row: _Figure) -> Cell:
    return Cell("; ".join(CAUTION_WORDS[one] for one in row[2].cautions))


def _level(found: Calibration) -> float:
    return found.systems[0].precision.raw.level if found.systems else LEVEL


def evaluator(found: Calibration) -> Sheet:
    columns: tuple[ColumnOf[_Rate], ...] = (
        (Column("System", is_name=True, is_heading=True, is_as_given=True), lambda row: row[0]),
        (name("Measure"), lambda row: row[1]),
        (Column("Value", is_strong=True), lambda row: share(row[2])),
        (Column(interval_head(_level(found))), lambda row: interval(*row[3])),
        (name("Of labelled claims"), lambda row: row[4]),
    )
    rows = [(one.system, *each) for one in found.systems for each in _rates(one)]
    return sheet_of("The evaluator on the labelled claims", columns, rows)


_Rate = tuple[str, str, float | None, tuple[float | None, float | None], str]


def _rates(one: RunDebiasing) -> Iterator[tuple[str, float | None, tuple[float | None, float | None], str]]:
    found = one.precision.evaluator
    unscored = f", {found.n_unscored:,} without a verdict" if found.n_unscored else ""
    yield "TPR", found.tpr, (found.tpr_low, found.tpr_high), f"{found.n_supported:,} supported{unscored}"
    yield "FPR", found.fpr, (found.fpr_low, found.fpr_high), f"{found.n_not_supported:,} not supported"


def print_calibration(found: Calibration, console: Console) -> None:
    """Prints the figures and their basis. Names are printed literally, without markup or escape sequences."""
    keep_sheet(console, corrected(found))
    sheet, short = _with_reasons_below(corrected(found)), [Text(said) for said in in_short(found)]
    body = [*short, *([Text()] if short else []), sheet_body(sheet, console.width), Text(), rows_table(_rows(found))]
    print_section(console, sheet.title, Group(*body))
    print_sheet(console, evaluator(found))


def _with_reasons_below(sheet: Sheet) -> Sheet:
    """Moves the reasons for undefined figures out of the cells, where they do not fit. They are printed below."""
    lines = tuple(
        replace(line, cells=tuple(replace(cell, text="undefined", why="") if cell.why else cell for cell in line.cells))
        for line in sheet.lines
    )
    return replace(sheet, lines=lines)


def _rows(found: Calibration) -> Iterator[Row]:
    unscored = f", {found.n_unscored:,} of them without a verdict" if found.n_unscored else ""
    yield "Labels", Text(f"{plural(found.n_claims, 'claim')} of {visible(found.data)}{unscored}")
    for one in found.systems:
        if words := overlap_words(one):
            yield "Samples", Text(f"{one_line(one.system)}: {words}")
    yield SUPPORTED, Text(SUPPORTED_WORDS)
    if any(weight_words(estimate) for one in found.systems for _, estimate, _ in estimates(one)):
        yield "Weight", Text(WEIGHT_WORDS)
    for words in targets(found):
        yield "Meaning", Text(words)
    for words in assumptions(found):
        yield "Assumed", Text(words)
    where: dict[tuple[str, str], list[str]] = {}
    for one in found.systems:
        for measure, estimate, _ in estimates(one):
            of = f"{one_line(one.system)}: " if len(found.systems) > 1 else ""
            place = f"{of}{measure} ({METHOD_WORDS[estimate.method]})"
            if estimate.undefined is not None:
                where.setdefault(("Undefined", estimate.why), []).append(place)
            for caution in estimate.cautions:
                where.setdefault(("Caution", CAUTION_WORDS[caution]), []).append(place)
    for (kind, words), places in where.items():
        more = f", and {len(places) - 1} more listed by --html and --json" if len(places) > 1 else ""
        yield kind, Text(f"{words}. This is about {places[0]}{more}.", style="yellow")
