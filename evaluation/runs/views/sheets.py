"""Presents a run in sentences and sheets: scores, ranks, and agreement with human labels."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import groupby
from statistics import fmean

from factloop.core.records import Repeats
from factloop.evaluation.runs.label_agreement import LabelAgreement, SystemAgreement
from factloop.evaluation.runs.longform import (
    FEWEST_PROMPTS,
    PRECISION,
    AbstentionPolicy,
    ChosenK,
    CurvePoint,
    KRule,
    LongFormScores,
    Mean,
    Measure,
    PromptFigure,
    SystemScore,
    figures_of,
)
from factloop.evaluation.runs.records import RunSummary
from factloop.reports.figures import AS_IF_CORRECT, how_often_right, percent, plural
from factloop.reports.sheet.table import (
    NOTHING,
    Cell,
    Column,
    ColumnOf,
    Sheet,
    count_cell,
    figure_cell,
    name,
    page_only,
    sheet_of,
    value_cell,
)

POLICY_WORDS = {
    AbstentionPolicy.ZERO: "a response without claims has F1@K 0, as in the paper's code (zero)",
    AbstentionPolicy.EXCLUDE: "a response without claims is left out of all means (exclude)",
}
REPEATS_WORDS: Mapping[Repeats, str] = {
    "each": "a claim that repeats another claim of its response counts again in precision, recall and F1@K, as "
    "in the paper's code (each)",
    "once": "of several claims that say the same, only the first counts in the figures (once)",
    "core": "only a largest set of claims that do not entail each other counts in the figures (core)",
}

REACH = "Precision if unscored claims are wrong or right"
ABOUT_K = "K is the number of facts that a complete answer states: to compare runs, set --k to the same number."
_RULES = {KRule.GIVEN: "", KRule.MEDIAN: " (the median of supported claims)", KRule.MAXIMUM: " (their maximum)"}
AGREEMENTS = {
    "agreement": "Agreement",
    "kappa": "Cohen’s kappa",
    "balanced_accuracy": "Balanced accuracy",
    "tpr": "TPR",
    "tnr": "TNR",
}
"""In display order."""


def k_words(choice: ChosenK) -> str:
    """Describes a K, as in `K 64` or `K 31 (the median of supported claims)`."""
    return f"K {choice.k:,}{_RULES[choice.rule]}"


def share(value: float | None) -> str:
    """Formats a value with three decimals, or as a dash if it is None."""
    return NOTHING if value is None else f"{value:.3f}"


def interval(low: float | None, high: float | None) -> str:
    """Formats an interval, as in `[0.612, 0.701]`, or as a dash if an end is None."""
    return NOTHING if low is None or high is None else f"[{low:.3f}, {high:.3f}]"


def few_prompts(figures: Iterable[PromptFigure]) -> str:
    """Returns a warning if an interval rests on too few prompts, otherwise an empty string."""
    fewest = min((one.n_prompts for one in figures if one.interval is not None), default=FEWEST_PROMPTS)
    if fewest >= FEWEST_PROMPTS:
        return ""
    return f"Fewer than {FEWEST_PROMPTS} prompts (at least {fewest:,}), so intervals are too narrow."


def few_prompts_of(scores: LongFormScores) -> str:
    return few_prompts(mean for one in scores.systems for measure, _, mean in figures_of(one) if not measure.is_share)


def few_prompts_of_labels(found: LabelAgreement) -> str:
    return few_prompts(getattr(one, name) for one in (found.overall, *found.systems) for name in AGREEMENTS)


def mean_basis(mean: Mean) -> str:
    """Formats the size of the sample, as in `120 responses` or `240 responses to 120 prompts`."""
    responses = plural(mean.n, "response")
    return responses if mean.n == mean.n_prompts else f"{responses} to {plural(mean.n_prompts, 'prompt')}"


def how_far(summary: RunSummary) -> str:
    """Says how often verdicts are right, if known. Returns an empty string if no claim is scored."""
    said = f"{how_often_right(summary.fingerprint, warns=False)} {AS_IF_CORRECT}"
    said = said if summary.calibration is None else "Only corrected figures allow for wrong verdicts."
    return said if any(line.counts.scored for line in summary.responses) else ""


def reachable(summary: RunSummary) -> Mapping[str, str]:
    """Maps systems to a range such as `0.500 to 0.833`, if their precision depends on unscored claims."""
    found: dict[str, str] = {}
    for system, lines in groupby(summary.responses, lambda line: line.system):
        shares = [
            (one.supported / n, (one.supported + one.unscored * (line.eligible is not False)) / n)
            for line in lines
            for one in [line.as_counted]
            if (n := one.scored + one.unscored)
        ]
        low, high = map(fmean, zip(*shares or [(0.0, 0.0)], strict=True))
        found |= {system: f"{low:.3f} to {high:.3f}"} if low < high else {}
    return found


_SYSTEM: ColumnOf[SystemScore] = (name("System"), lambda one: one.system)
_COUNTS: tuple[ColumnOf[SystemScore], ...] = (
    (Column("Responses"), lambda one: one.n_responses),
    (Column("Abstained"), lambda one: one.n_abstained),
    (Column("Without verdict"), lambda one: one.n_unscored_responses),
    (Column("Claims"), lambda one: one.counts.total),
    (Column("Supported"), lambda one: one.counts.supported),
    (Column("Not supported"), lambda one: one.counts.not_supported),
    (Column("Irrelevant"), lambda one: one.counts.irrelevant),
    (Column("Unscored"), lambda one: one.counts.unscored),
)


def claims(scores: LongFormScores) -> Sheet:
    return sheet_of("Claims", (_SYSTEM, *_COUNTS), scores.systems)


def scores_of(scores: LongFormScores, reach: Mapping[str, str] | None = None) -> Sheet:
    """Returns each system's measures. Files also get the counts, which are shown elsewhere in `claims`."""
    counts = [(replace(column, on_terminal=False, on_page=False), say) for column, say in _COUNTS]
    return sheet_of("Scores of each system", (_SYSTEM, *_measured(scores, reach), *counts), scores.systems)


def interval_head(level: float) -> str:
    return f"{percent(level)} interval"


def _measured(scores: LongFormScores, reach: Mapping[str, str] | None = None) -> Iterator[ColumnOf[SystemScore]]:
    """Yields a column per measure, such as `F1@64`, `F1@41 (median)` or `Precision`, in the order of `figures_of`."""
    rules = {choice.k: f" ({choice.rule})" for choice in scores.ks if choice.rule is not KRule.GIVEN}
    for measure, k in dict.fromkeys((measure, k) for one in scores.systems for measure, k, _ in figures_of(one)):
        head = f"{measure.heading(k)}{rules.get(k or 0, '')}"
        yield Column(head, is_strong=True, on_terminal=measure.leads), _mean_of(measure, k)
        if reach and measure is PRECISION:
            yield Column(REACH, is_strong=True), lambda one: reach.get(one.system, NOTHING)


def _mean_of(measure: Measure, k: int | None) -> Callable[[SystemScore], Cell]:
    found = (measure, k)
    return lambda one: next((mean_cell(mean) for *of, mean in figures_of(one) if (*of,) == found), Cell(NOTHING))


def mean_cell(mean: Mean) -> Cell:
    return figure_cell(mean, share, basis=mean_basis(mean))


def by_labels(scores: LongFormScores, labelled: LongFormScores) -> Sheet:
    """Returns the leading measures twice, side by side: from verdicts and from human labels."""
    people = {one.system: one for one in labelled.systems}

    def by_people(say: Callable[[SystemScore], Cell | str | int]) -> Callable[[SystemScore], Cell | str | int]:
        return lambda one: say(people[one.system]) if one.system in people else NOTHING

    columns = [_SYSTEM]
    for column, say in _measured(scores, None):
        if column.on_terminal:
            columns += [
                (replace(column, head=f"{column.head}, verdicts"), say),
                (replace(column, head=f"{column.head}, labels"), by_people(say)),
            ]
    return sheet_of("F1@K from verdicts and from labels", columns, scores.systems)


def curve(points: Sequence[CurvePoint], systems: Sequence[str]) -> Sheet:
    def f1_of(system: str) -> Callable[[CurvePoint], Cell]:
        return lambda point: value_cell(point.f1.get(system), share)

    columns = [
        (Column("K", is_name=True, key="k"), lambda point: count_cell(point.k)),
        *((Column(system), f1_of(system)) for system in systems),
    ]
    return sheet_of("F1@K against K", columns, points)


def ranks(summary: RunSummary) -> Sheet:
    def rank(place: int) -> Callable[[SystemScore], Cell]:
        ranked = summary.scores.rankings[place].ranks
        return lambda one: value_cell(ranked.get(one.system), "{:g}".format, "no value")

    rankings = enumerate(summary.scores.rankings)
    columns = (_SYSTEM, *((Column(f"K {one.k}"), rank(place)) for place, one in rankings))
    return sheet_of("Rank of each system at each K", columns, summary.scores.systems)


ALL = "All systems"
_VERDICTS = ("supported", "not_supported", "irrelevant", "unscored")
"""Fields of `Counts`. All but the last are also labels, and fields of `LabelTable`."""


def _shown(found: LabelAgreement) -> Iterator[SystemAgreement]:
    yield from found.systems
    if len(found.systems) != 1:
        yield found.overall


def agreement(found: LabelAgreement) -> Sheet:
    def figure(field: str) -> Callable[[SystemAgreement], Cell]:
        return lambda one: figure_cell(getattr(one, field), share)

    columns: tuple[ColumnOf[SystemAgreement], ...] = (
        (name("System"), lambda one: one.system or ALL),
        *((Column(words, is_strong=True), figure(field)) for field, words in AGREEMENTS.items()),
        (page_only("Responses"), lambda one: one.n_responses),
        (page_only("Facts"), lambda one: one.table.n_facts),
        (page_only("Unscored"), lambda one: one.n_unscored),
    )
    return sheet_of("Agreement with human labels", columns, _shown(found), is_total=lambda one: one.system is None)


def verdicts(found: LabelAgreement) -> Sheet:
    def counted(verdict: str) -> Callable[[tuple[SystemAgreement, str]], Cell]:
        return lambda row: replace(
            count_cell(getattr(getattr(row[0].table, row[1]), verdict)), is_marked=row[1] == verdict
        )

    columns: tuple[ColumnOf[tuple[SystemAgreement, str]], ...] = (
        (name("System"), lambda row: row[0].system or ALL),
        (name("Label"), lambda row: row[1].replace("_", " ")),
        *((Column(one.replace("_", " ").capitalize()), counted(one)) for one in _VERDICTS),
    )
    rows = [(one, label) for one in _shown(found) for label in _VERDICTS[:-1]]
    return sheet_of(f"Labels and verdicts: {basis(found.overall)}", columns, rows)


def basis(overall: SystemAgreement) -> str:
    table = overall.table
    said = f"{plural(table.n_facts, 'fact')} of {plural(overall.n_responses, 'response')}"
    n_repeats = table.repeated.total
    repeated = f", {plural(n_repeats, 'repeated fact')} left out of agreement, as in the paper" if n_repeats else ""
    unscored = f", {overall.n_unscored:,} of them unscored" if overall.n_unscored else ""
    return f"{said}{repeated}{unscored}"
