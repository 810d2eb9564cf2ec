"""Reproduces tables of TrustScore and its ablation (Zheng et al. 2024, arXiv 2402.12545)."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Mapping, Sequence
from decimal import Decimal

from factloop.agents.trustscore.graph import OVERALL
from factloop.agents.trustscore.records import Relation
from factloop.evaluation.datasets.mixedqa import MixedQaItem, load_any_mixedqa
from factloop.evaluation.mixedqa.reference import build_metrics
from factloop.evaluation.mixedqa.scores import (
    PUBLISHED,
    SYSTEMS,
    MetricCorrelation,
    MixedQaResult,
    ReferenceCorrelation,
)
from factloop.evaluation.reproduction.inputs import Inputs, read_result
from factloop.evaluation.reproduction.records import UNDEFINED, ComparedFigure, Origin, OurFigure, compared
from factloop.evaluation.reproduction.verify_with_caution import Findings
from factloop.evaluation.statistics.correlation import Method, correlate
from factloop.trust.distractor_sources import make_distractors
from factloop.trust.settings import TrustSettings

MIXEDQA = "mixedqa:answers"
NO_SECOND_LABEL = "MixedQA was published with one label per response, but agreement needs two."
_KAPPA = {"FLAN-T5": "0.88", "LLaMA": "0.82", "GPT": "0.92", "Overall": "0.89"}
_OVERALL = {
    ("Consistent", "Support"): "1.0",
    ("Inconsistent", "Support"): "0.8",
    ("Consistent", "Neutral"): "0.6",
    ("Inconsistent", "Neutral"): "0.4",
    ("Consistent", "Contradict"): "0.2",
    ("Inconsistent", "Contradict"): "0.0",
}
_QUESTIONS = (
    ("When did all night long come out lionel richie?", "All night long came out in 1983.", "1983"),
    (
        "Who built the first temple for god in jerusalem?",
        "King Solomon built the first temple for god in jerusalem.",
        "King Solomon",
    ),
    (
        "which state was returned to spain after the revolutionary war?",
        "Florida was returned to spain after the revolutionary war.",
        "Florida",
    ),
)
_NOTHING_ASKED = "No model was asked: pass the output of `factloop eval mixedqa --json` with `--results`."
_Correlations = dict[tuple[str, str], OurFigure]


def correlations(inputs: Inputs) -> Findings:
    """Compares each metric's Pearson correlation with human labels, for each system (Table 1)."""
    ours: _Correlations = {}
    if MIXEDQA in inputs.places:
        ours |= _lexical(list(load_any_mixedqa(inputs.places[MIXEDQA])))
    notes = [*inputs.missing((MIXEDQA,))]
    if inputs.results is not None:
        result = read_result(inputs.results, MixedQaResult)
        ours |= _of_result(result)
        notes += _on_systems(result)
    else:
        notes.append(_NOTHING_ASKED)
    notes.append("METEOR of gpt-3.5-turbo is printed as .106; ours, by nltk, is .39 with or without WordNet.")
    notes.append(f"NAN in the paper and {UNDEFINED} here mean that a metric has the same value for all responses.")
    theirs = {(row.metric, system): _printed(row.correlations[system]) for row in PUBLISHED for system in SYSTEMS}
    return _beside({place: UNDEFINED if one is None else one for place, one in theirs.items()}, ours), notes


def _printed(value: float | None) -> Decimal | None:
    return None if value is None else Decimal(f"{value:.3f}")


def _beside(theirs: Mapping[tuple[str, str], Decimal | str | None], ours: _Correlations) -> list[ComparedFigure]:
    """Compares the paper's figures with ours. Our figures for other systems come last, with three decimals."""
    alone = [place for place in ours if place not in theirs]
    figures = [compared((row,), system, printed, ours.get((row, system))) for (row, system), printed in theirs.items()]
    return figures + [compared((row,), system, None, ours[row, system], decimals=3) for row, system in alone]


def _lexical(items: Sequence[MixedQaItem]) -> _Correlations:
    found: _Correlations = {}
    for metric in build_metrics(("lexical",)):
        for system in SYSTEMS:
            answers = [(item, one) for item in items for one in item.responses if one.system == system]
            scores = metric.score([one.text for _, one in answers], [item.reference_answers for item, _ in answers])
            one = correlate(Method.PEARSON, scores, [answer.human_correct for _, answer in answers])
            found[metric.name.partition(" (")[0], system] = _defined(one.value, Origin.LABELS, one.n)
    return found


def _defined(value: float | None, origin: Origin, n: int) -> OurFigure:
    return OurFigure(UNDEFINED if value is None else value, origin, n)


def _of_result(result: MixedQaResult) -> _Correlations:
    published = {row.metric for row in PUBLISHED}
    found = {}
    scores: tuple[MetricCorrelation | ReferenceCorrelation, ...] = (*result.correlations, *result.reference)
    for one in scores:
        metric = next((name for name in published if one.name == name or one.name.startswith(f"{name} ")), one.name)
        if one.system is not None and one.correlation.n:
            found[metric, one.system] = _defined(one.correlation.value, Origin.RESULTS, one.correlation.n)
    return found


def _on_systems(result: MixedQaResult) -> Iterator[str]:
    subject = result.fingerprint.subject_model
    if result.subjects:
        asked = ", ".join(f"{one.model} for {one.system}" for one in result.subjects)
        yield f"Each system was asked about its own responses, as in the paper: {asked}."
    elif subject is None:
        yield "The results were computed without a subject model, so there is no TrustBC or TrustOV."
    else:
        yield f"{subject} was asked about the responses of every system; in the paper, each is asked about its own."
    others = [one.system for one in result.systems if one.system not in SYSTEMS]
    if others:
        yield (
            f"The paper has no figures for {', '.join(others)}. Only systems named {', '.join(SYSTEMS)} in the data "
            "are compared."
        )


def gains(inputs: Inputs) -> Findings:
    """Compares the gain of TrustOV over each component (section 4). The paper's gains are differences in Table 1."""
    halves = {"trust_bc": "TrustBC", "trust_fc": "TrustFC"}
    ours: _Correlations = {}
    notes = ["The paper has no ablation table, so its figures here are the differences between rows of Table 1."]
    if inputs.results is None:
        notes.append(_NOTHING_ASKED)
    else:
        result = read_result(inputs.results, MixedQaResult)
        notes += _on_systems(result)
        for one in result.gains:
            if one.system is not None and one.gain.value is not None:
                gain = OurFigure(one.gain.value, Origin.RESULTS, one.gain.n)
                ours[f"TrustOV less {halves[one.over]}", one.system] = gain
    rows = {row.metric: row.correlations for row in PUBLISHED}
    theirs: dict[tuple[str, str], Decimal | None] = {}
    for half in halves.values():
        for system in SYSTEMS:
            whole, part = _printed(rows["TrustOV"][system]), _printed(rows[half][system])
            theirs[f"TrustOV less {half}", system] = None if whole is None or part is None else whole - part
    return _beside(theirs, ours), notes


def kappa(inputs: Inputs) -> Findings:
    """Lists the paper's figures for agreement between its two annotators (Table 2)."""
    del inputs
    figures = [compared((system,), "kappa", Decimal(printed), None) for system, printed in _KAPPA.items()]
    return figures, (NO_SECOND_LABEL,)


def overall_scores(inputs: Inputs) -> Findings:
    """Compares TrustOV for each combination of consistency and relation (Table 3)."""
    del inputs
    figures = []
    for names, printed in _OVERALL.items():
        ours = OVERALL[1 if names[0] == "Consistent" else 0, Relation(names[1].casefold())]
        figures.append(compared(names, "TrustOV", Decimal(printed), OurFigure(ours, Origin.RULE)))
    return figures, ()


def distractors(inputs: Inputs) -> Findings:
    """Compares the words replaced in three responses (Table 7), and lists our built-in replacements."""
    del inputs
    figures: list[ComparedFigure] = []
    for question, response, replaced in _QUESTIONS:
        made = asyncio.run(make_distractors(TrustSettings(), question, response, n=3))
        words = ", ".join(dict.fromkeys(one.replaced for one in made.distractors))
        by = ", ".join(one.by for one in made.distractors)
        figures.append(compared((question,), "replaced", replaced, OurFigure(words, Origin.RULE, 3)))
        figures.append(compared((question,), "by", None, OurFigure(by, Origin.RULE, 3)))
    return figures, (
        "Our substitutes come from the built-in names and rules, and the paper's from DBpedia; see --dbpedia and --kb.",
    )
