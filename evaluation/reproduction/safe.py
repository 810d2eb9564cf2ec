"""Reproduces tables and statements from SAFE and LongFact (Wei et al. 2024, arXiv 2403.18802).

The figures in section 6 and the appendix are not compared: this list is based on slides, which omit them.
"""

from __future__ import annotations

from decimal import Decimal
from statistics import fmean

from factloop.core.factuality import f1_at_k
from factloop.evaluation.datasets.factscore import FactScoreResponse, count_facts, load_factscore
from factloop.evaluation.datasets.longfact import load_prompts
from factloop.evaluation.reproduction.inputs import Inputs, read_result
from factloop.evaluation.reproduction.records import ComparedFigure, Origin, OurFigure, compared, percent
from factloop.evaluation.reproduction.verify_with_caution import Findings
from factloop.evaluation.runs.records import RunSummary

FACTS = "factscore:bio"
LONGFACT = ("longfact:objects", "longfact:concepts")
PEOPLE = (
    "The hundred facts and the judgement of each were not published; `factloop research labels disagree` draws such a "
    "sample from your own run for people to judge."
)
_REPEATS = (
    "There are 16,040 labelled facts (safe:labels), of which 29 repeat another fact of their response; the other "
    "16,011 are distinct (safe:agreement). Counts are numbers of facts, and means of F1@K are over responses"
)
_CHECK_VALUES = {
    "InstructGPT": ("2100", "1971", "655", "0.397", "0.256"),
    "ChatGPT": ("3194", "1692", "540", "0.610", "0.415"),
    "PerplexityAI": ("4812", "756", "320", "0.801", "0.586"),
}
"""Figures for the labelled data: the numbers of supported, not supported and irrelevant facts, F1@32 and F1@64."""


def agreement_with_people(inputs: Inputs) -> Findings:
    """Compares the number of facts, and the fraction of facts on which SAFE agrees with annotators (section 4)."""
    responses = _labelled(inputs)
    figures = []
    for column, printed, n in (
        ("distinct facts", "16011", sum(len(one.distinct_facts) for one in responses)),
        ("responses", "496", sum(bool(one.facts) for one in responses)),
    ):
        ours = OurFigure(float(n), Origin.LABELS, n) if responses else None
        figures.append(compared(("FActScore's biographies",), column, Decimal(printed), ours))
    notes = [*inputs.missing((FACTS,)), _REPEATS]
    summary = None if inputs.results is None else read_result(inputs.results, RunSummary)
    share = None
    if summary is not None and summary.agreement is not None:
        found = summary.agreement.overall
        if found.agreement.value is not None:
            share = percent(found.agreement.value, found.agreement.n)
        notes.append(f"The verdicts are those of {summary.fingerprint.model or 'the offline engine'}.")
        notes.append(f"Facts without a verdict, which are excluded from all figures: {found.n_unscored:,}.")
    else:
        notes.append("Nothing was judged: pass the output of `factloop eval factscore --json` with `--results`.")
    return [*figures, compared(("SAFE and people",), "agreement, %", Decimal("72.0"), share)], notes


def _labelled(inputs: Inputs) -> list[FactScoreResponse]:
    return list(load_factscore(inputs.places[FACTS])) if FACTS in inputs.places else []


def scores_by_labels(inputs: Inputs) -> Findings:
    """Compares counts and F1@K, computed from human labels instead of SAFE's verdicts. Requires no model."""
    responses = _labelled(inputs)
    figures: list[ComparedFigure] = []
    for system, printed in _CHECK_VALUES.items():
        counts = [count_facts(one.facts) for one in responses if one.system == system and one.facts]
        by_verdict = [(one.supported, one.not_supported, one.irrelevant) for one in counts]
        totals = [float(sum(values)) for values in zip(*by_verdict, strict=True)]
        means = [fmean(f1_at_k(one, k) or 0.0 for one in counts) for k in (32, 64)] if counts else []
        columns = ("supported", "not supported", "irrelevant", "F1@32, mean", "F1@64, mean")
        for place, (column, value) in enumerate(zip(columns, printed, strict=True)):
            ours = None
            if counts:
                n = int(totals[place]) if place < len(totals) else len(counts)
                ours = OurFigure([*totals, *means][place], Origin.LABELS, n)
            figures.append(compared((system,), column, Decimal(value), ours))
    note = "The check values were published with the labels and counted by another program; they are not in the paper."
    return figures, (*inputs.missing((FACTS,)), note, _REPEATS)


def prompts_of_longfact(inputs: Inputs) -> Findings:
    prompts = {named: list(load_prompts(inputs.places[named])) for named in LONGFACT if named in inputs.places}
    topics = {prompt.topic for loaded in prompts.values() for prompt in loaded}
    ours = OurFigure(float(len(topics)), Origin.LABELS, sum(map(len, prompts.values()))) if topics else None
    figures = [compared(("LongFact",), "topics", Decimal(38), ours)]
    for named in LONGFACT:
        n = len(prompts.get(named, ()))
        found = OurFigure(float(n), Origin.LABELS, n) if named in prompts else None
        figures.append(compared((f"LongFact-{named.partition(':')[2].capitalize()}",), "prompts", Decimal(1140), found))
    return figures, inputs.missing(LONGFACT)


def disagreements_with_people(inputs: Inputs) -> Findings:
    """Lists the slides' figures for facts on which SAFE and human annotators disagree."""
    del inputs
    return (
        compared(("SAFE right, among 100 facts on which it and people differ",), "%", Decimal(76), None),
        compared(("SAFE's cost, compared with that of people",), "times cheaper", Decimal(20), None),
    ), (PEOPLE,)
