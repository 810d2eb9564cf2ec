"""SAFE and LongFact (Wei et al. 2024, arXiv 2403.18802): what its slides print, and what labels say."""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal
from functools import partial
from statistics import fmean

from factloop.core.factuality import f1_at_k
from factloop.core.records import Counts
from factloop.evaluation.datasets.factscore import FactScoreResponse, count_facts, load_factscore
from factloop.evaluation.datasets.longfact import load_longfact
from factloop.evaluation.reproduction.comparing import OurFigure, compared
from factloop.evaluation.reproduction.inputs import Inputs, read_result
from factloop.evaluation.reproduction.records import ComparedFigure, Entry, Origin, Reproduction, Status
from factloop.evaluation.runs.records import RunSummary

FACTS = "factscore:bio"
LONGFACT = ("longfact:objects", "longfact:concepts")
N_FACTS, N_RESPONSES, AGREEMENT = Decimal(16011), Decimal(496), Decimal("72.0")
_BY_LABELS = {
    "InstructGPT": ("2100", "1971", "655", "0.397", "0.256"),
    "ChatGPT": ("3194", "1692", "540", "0.610", "0.415"),
    "PerplexityAI": ("4812", "756", "320", "0.801", "0.586"),
}
"""Check values of the labelled data: supported, not supported, irrelevant facts, F1@32 and F1@64."""
REPEATS = (
    "There are 16,040 labelled facts (safe:labels), and 16,011 that differ within their response (safe:agreement): 29 "
    "repeat another. A count of facts rests on these facts, a mean F1@K on responses"
)


def reproduce_agreement(title: str, inputs: Inputs) -> Reproduction:
    """Section 4: the facts that were compared, and the share of them on which SAFE agrees with people."""
    figures, notes = [*_facts(inputs)], [*inputs.missing((FACTS,)), REPEATS]
    summary = None if inputs.results is None else read_result(inputs.results, RunSummary)
    ours = None
    if summary is not None and summary.agreement is not None:
        found = summary.agreement.overall
        if found.agreement.value is not None:
            ours = OurFigure(100 * found.agreement.value, Origin.RESULTS, found.agreement.n)
        notes.append(f"The verdicts are those of {summary.fingerprint.model or 'the offline engine'}.")
        notes.append(f"{found.n_unscored:,} facts have no verdict and enter nothing.")
    else:
        notes.append("Nothing was judged: give what factloop eval factscore --json wrote with --results.")
    figures.append(compared(("SAFE and people",), "agreement, %", AGREEMENT, ours))
    return Reproduction(entry="safe:agreement", title=title, unit="", figures=tuple(figures), notes=tuple(notes))


def _facts(inputs: Inputs) -> Iterator[ComparedFigure]:
    responses = _labelled(inputs)
    n_facts = sum(len(one.distinct_facts) for one in responses)
    n_responses = sum(bool(one.facts) for one in responses)
    for column, printed, n in (("distinct facts", N_FACTS, n_facts), ("responses", N_RESPONSES, n_responses)):
        ours = OurFigure(float(n), Origin.LABELS, n) if responses else None
        yield compared(("FActScore's biographies",), column, printed, ours)


def _labelled(inputs: Inputs) -> list[FactScoreResponse]:
    return list(load_factscore(inputs.places[FACTS])) if FACTS in inputs.places else []


def score_by_labels(title: str, inputs: Inputs) -> Reproduction:
    """F1@K by people's labels in the place of SAFE's verdicts: no model is needed."""
    responses = _labelled(inputs)
    figures: list[ComparedFigure] = []
    for system, (supported, not_supported, irrelevant, at_32, at_64) in _BY_LABELS.items():
        counts = [count_facts(one.facts) for one in responses if one.system == system and one.facts]
        for column, printed, field in (
            ("supported", supported, "supported"),
            ("not supported", not_supported, "not_supported"),
            ("irrelevant", irrelevant, "irrelevant"),
        ):
            n = float(sum(getattr(one, field) for one in counts))
            ours = OurFigure(n, Origin.LABELS, int(n)) if counts else None
            figures.append(compared((system,), column, Decimal(printed), ours))
        for k, printed in ((32, at_32), (64, at_64)):
            figures.append(compared((system,), f"F1@{k}, mean", Decimal(printed), _mean_f1(counts, k)))
    note = "The check values come with the labels, counted by another program; no table of the paper has them."
    return Reproduction(
        entry="safe:labels",
        title=title,
        unit="",
        against="check values",
        figures=tuple(figures),
        notes=(*inputs.missing((FACTS,)), note, REPEATS),
    )


def _mean_f1(counts: list[Counts], k: int) -> OurFigure | None:
    if not counts:
        return None
    return OurFigure(fmean(f1_at_k(one, k) for one in counts), Origin.LABELS, len(counts))


def count_prompts(title: str, inputs: Inputs) -> Reproduction:
    """LongFact: topics and prompts."""
    prompts = {
        named.partition(":")[2]: list(load_longfact(inputs.places[named]))
        for named in LONGFACT
        if named in inputs.places
    }
    topics = {prompt.topic for found in prompts.values() for prompt in found}
    n_all = sum(map(len, prompts.values()))
    ours = OurFigure(float(len(topics)), Origin.LABELS, n_all) if topics else None
    figures = [compared(("LongFact",), "topics", Decimal(38), ours)]
    for part in ("objects", "concepts"):
        n = OurFigure(float(len(prompts[part])), Origin.LABELS, len(prompts[part])) if part in prompts else None
        figures.append(compared((f"LongFact-{part.capitalize()}",), "prompts", Decimal(1140), n))
    return Reproduction(
        entry="safe:longfact", title=title, unit="", figures=tuple(figures), notes=(*inputs.missing(LONGFACT),)
    )


def state_wins(title: str, inputs: Inputs) -> Reproduction:
    """What the slides print of the facts in which SAFE and people differ."""
    del inputs
    figures = (
        compared(("SAFE right, of 100 facts in which it differs from people",), "%", Decimal(76), None),
        compared(("SAFE's cost, of that of people",), "times cheaper", Decimal(20), None),
    )
    return Reproduction(entry="safe:disagreements", title=title, unit="", figures=figures, notes=(_PEOPLE,))


_PEOPLE = (
    "The hundred facts and what was found of each were not published; `factloop labels disagree` draws such a sample "
    "of a run of one's own, for people to judge."
)
_TITLES = {
    "agreement": "Agreement of SAFE's verdicts with people's labels on FActScore's biographies",
    "labels": "Facts by label and F1@K of FActScore's systems, by people's labels",
    "longfact": "LongFact: topics and prompts",
    "disagreements": "Who is right where SAFE and people differ, and at what cost",
}
ENTRIES = (
    Entry(
        id="safe:agreement",
        title=_TITLES["agreement"],
        status=Status.IN_PART,
        why="The 16,011 facts of 496 responses come out of the labels; the 72.0 % needs SAFE's verdicts.",
        data=(FACTS,),
        model="gpt-3.5-turbo as judge",
        key="one for the model, and one for Serper",
        command="factloop eval factscore --plan paper --model NAME --search serper --json FILE",
        calls="8 calls and 5 searches a relevant fact, 2 calls an irrelevant one",
        calls_per_claim=8.0,
        run=partial(reproduce_agreement, _TITLES["agreement"]),
    ),
    Entry(
        id="safe:labels",
        title=_TITLES["labels"],
        status=Status.CHECKED,
        why="All counts and means of the labels agree with values that another program counted; the paper has none.",
        data=(FACTS,),
        run=partial(score_by_labels, _TITLES["labels"]),
    ),
    Entry(
        id="safe:longfact",
        title=_TITLES["longfact"],
        status=Status.REPRODUCED,
        why="38 topics, 1,140 prompts on objects and 1,140 on concepts.",
        data=LONGFACT,
        run=partial(count_prompts, _TITLES["longfact"]),
    ),
    Entry(
        id="safe:disagreements",
        title=_TITLES["disagreements"],
        status=Status.CANNOT,
        why=_PEOPLE,
        run=partial(state_wins, _TITLES["disagreements"]),
    ),
)
