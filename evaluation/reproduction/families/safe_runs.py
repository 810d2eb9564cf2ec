"""SAFE's tables over several runs (Wei et al. 2024): models on LongFact, lengths of responses, numbers of searches.

The paper has them in section 6 and its appendix; the slides that this list was made from print none of their figures,
so that ours stand alone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import combinations
from pathlib import Path
from statistics import fmean

from factloop.core.errors import DataError
from factloop.core.factuality import f1_at_k, precision, recall_at_k
from factloop.core.records import Counts, Verdict
from factloop.evaluation.datasets.factscore import FactLabel
from factloop.evaluation.reproduction.comparing import OurFigure, compared
from factloop.evaluation.reproduction.inputs import Inputs, read_result
from factloop.evaluation.reproduction.records import ComparedFigure, Entry, Origin, Reproduction, Status
from factloop.evaluation.runs.longform_records import CountedResponse
from factloop.evaluation.runs.measures import is_rated
from factloop.evaluation.runs.reading import FinishedRun, read_run
from factloop.evaluation.runs.records import RunSummary
from factloop.reports.figures import plural

KS = (64, 178)
"""The median and the maximum of facts a response in the paper."""
_NOT_PRINTED = "The paper's figures are not in the slides that this list was made from."

Column = tuple[str, Callable[[Counts], float | None]]
_COUNTS: tuple[Column, ...] = (
    ("supported", lambda counts: float(counts.supported)),
    ("not supported", lambda counts: float(counts.not_supported)),
    ("irrelevant", lambda counts: float(counts.irrelevant)),
)
"""Facts a response."""


def _percent(value: float | None) -> float | None:
    return None if value is None else 100.0 * value


def _recall(k: int, counts: Counts) -> float | None:
    return _percent(recall_at_k(counts, k))


def _f1(k: int, counts: Counts) -> float | None:
    return _percent(f1_at_k(counts, k))


_PRECISION: Column = ("precision, %", lambda counts: _percent(precision(counts)))
_RECALLS: tuple[Column, ...] = tuple((f"recall@{k}, %", partial(_recall, k)) for k in KS)
_F1S: tuple[Column, ...] = tuple((f"F1@{k}, %", partial(_f1, k)) for k in KS)
MODELS: tuple[Column, ...] = (*_COUNTS, _PRECISION, *_RECALLS, *_F1S)
LENGTHS: tuple[Column, ...] = (
    ("facts", lambda counts: float(counts.supported + counts.not_supported + counts.irrelevant)),
    _PRECISION,
    *_RECALLS,
    *_F1S,
)


def score_models(title: str, inputs: Inputs) -> Reproduction:
    """Means a response of each model, over runs of any number of models each."""
    return _table("safe:f1-at-k", title, inputs, MODELS, by_length=False)


def score_lengths(title: str, inputs: Inputs) -> Reproduction:
    """The same for one model by the postamble that it was asked with, from the shortest responses to the longest."""
    return _table("safe:length", title, inputs, LENGTHS, by_length=True)


def _table(entry: str, title: str, inputs: Inputs, columns: Sequence[Column], *, by_length: bool) -> Reproduction:
    notes = [_NOT_PRINTED]
    found: dict[str, list[CountedResponse]] = {}
    for path in inputs.all_results:
        summary = _summary(path)
        notes.append(f"{path.name}: judged by {summary.fingerprint.model or 'the offline engine'}, {summary.data}.")
        rated = [one for one in summary.responses if is_rated(one, summary.scores.abstention)]
        n_left_out = len(summary.responses) - len(rated)
        if n_left_out:
            notes.append(
                f"{path.name}: {plural(n_left_out, 'response')} without a verdict, or left out as abstentions."
            )
        for system in dict.fromkeys(one.system for one in summary.responses):
            if system in found:
                said = f"{system!r} is in another of the results, too: name systems apart (--system), or give one"
                raise DataError(said, path=str(path))
            found[system] = [one for one in rated if one.system == system]
    if not inputs.all_results:
        notes.append("Nothing was judged: give run directories of factloop eval, or what it wrote as JSON (--results).")
    order = sorted(found, key=lambda system: _mean(found[system], columns[0]) or 0.0) if by_length else list(found)
    figures = [
        compared((system,), column[0], None, OurFigure(_mean(found[system], column), Origin.RESULTS, n))
        for system in order
        for column in columns
        if (n := len(_values(found[system], column)))
    ]
    return Reproduction(entry=entry, title=title, unit="means a response", figures=tuple(figures), notes=tuple(notes))


def _values(responses: Sequence[CountedResponse], column: Column) -> list[float]:
    return [value for one in responses if (value := column[1](one.counts)) is not None]


def _mean(responses: Sequence[CountedResponse], column: Column) -> float | None:
    values = _values(responses, column)
    return fmean(values) if values else None


def _summary(path: Path) -> RunSummary:
    return read_run(path).summary if path.is_dir() else read_result(path, RunSummary)


@dataclass(frozen=True)
class _Variant:
    """A run over labelled facts with so many searches, and results a search."""

    name: str
    summary: RunSummary
    run: FinishedRun | None
    """None where only its summary was given: then its verdicts are not known one by one."""


_Judged = Mapping[tuple[str, str], Verdict]
"""Response and text of a fact to its verdict; a text of a response once, as in agreement with people."""


def compare_searches(title: str, inputs: Inputs) -> Reproduction:
    """Agreement over the three labels (supported, not supported, irrelevant) with people, and of run with run."""
    variants = [_variant(path) for path in inputs.all_results]
    _refuse_other_data(variants, inputs.all_results)
    figures = [figure for one in variants for figure in _with_people(one)]
    judged = {one.name: _verdicts(one.run) for one in variants if one.run is not None}
    for one, other in combinations(judged, 2):
        figures += _with_each_other((one, other), judged[one], judged[other])
    notes = [_NOT_PRINTED]
    if not variants:
        notes.append(
            "Nothing was judged: give run directories of factloop eval factscore with --results, one a variant."
        )
    elif len(judged) < len(variants):
        notes.append(
            "Of runs given by their summary alone only the agreement with people is known; name the directory."
        )
    models = {one.summary.fingerprint.model or "the offline engine" for one in variants}
    if len(models) > 1:
        notes.append(f"The runs differ in their model, too: {', '.join(sorted(models))}.")
    return Reproduction(entry="safe:search-ablation", title=title, unit="", figures=tuple(figures), notes=tuple(notes))


def _variant(path: Path) -> _Variant:
    run = read_run(path) if path.is_dir() else None
    summary = run.summary if run is not None else read_result(path, RunSummary)
    if summary.agreement is None:
        raise DataError("has no agreement with people: it takes a run of factloop eval factscore", path=str(path))
    by = summary.fingerprint
    searches = "1 search" if by.max_searches == 1 else f"{by.max_searches:,} searches"
    return _Variant(f"{searches}, {plural(by.results_per_search, 'result')} each", summary, run)


def _refuse_other_data(variants: Sequence[_Variant], paths: Sequence[Path]) -> None:
    names: dict[str, Path] = {}
    for one, path in zip(variants, paths, strict=True):
        if one.summary.data != variants[0].summary.data:
            raise DataError(f"is of {one.summary.data}, and {paths[0]} of {variants[0].summary.data}", path=str(path))
        if one.name in names:
            raise DataError(f"has as many searches and results as {names[one.name]}", path=str(path))
        names[one.name] = path


def _with_people(one: _Variant) -> Iterator[ComparedFigure]:
    assert one.summary.agreement is not None  # else refused
    found = one.summary.agreement.overall
    for column, figure, scale in (
        ("agreement, %", found.agreement, 100.0),
        ("kappa", found.kappa, 1.0),
        ("balanced accuracy, %", found.balanced_accuracy, 100.0),
    ):
        value = None if figure.value is None else scale * figure.value
        yield compared((one.name, "people"), column, None, OurFigure(value, Origin.RESULTS, figure.n))
    yield compared(
        (one.name, "people"),
        "facts without a verdict",
        None,
        OurFigure(float(found.n_unscored), Origin.RESULTS, found.n_unscored),
    )


def _verdicts(run: FinishedRun) -> _Judged:
    """Labelled facts with a verdict; of the run only these are held in memory."""
    found: dict[tuple[str, str], Verdict] = {}
    seen: set[tuple[str, str]] = set()
    for judged in run.responses():
        labels: Mapping[str, FactLabel] = judged.labels
        for claim in judged.report.claims:
            key = (judged.id, claim.text)
            if claim.id in labels and key not in seen:
                seen.add(key)
                if claim.judgement.verdict is not None:
                    found[key] = claim.judgement.verdict
    return found


def _with_each_other(names: tuple[str, str], one: _Judged, other: _Judged) -> Iterator[ComparedFigure]:
    pairs = [(verdict, other[key]) for key, verdict in one.items() if key in other]
    n = len(pairs)
    if not n:
        return
    alike = sum(first is second for first, second in pairs) / n
    by_chance = sum(
        sum(first is verdict for first, _ in pairs) * sum(second is verdict for _, second in pairs)
        for verdict in Verdict
    ) / (n * n)
    yield compared(names, "agreement, %", None, OurFigure(100.0 * alike, Origin.RESULTS, n))
    if by_chance < 1.0:
        yield compared(names, "kappa", None, OurFigure((alike - by_chance) / (1.0 - by_chance), Origin.RESULTS, n))


_TITLES = {
    "f1-at-k": "Models on 250 prompts of LongFact-Objects: facts, precision, recall and F1 at 64 and 178",
    "length": "Precision, recall and F1 of one model by the length of response that it is asked for",
    "search-ablation": "SAFE by its number of searches and of results: agreement with people, and of run with run",
}
_KEY = "one for each provider, and one for Serper"
ENTRIES = (
    Entry(
        id="safe:f1-at-k",
        title=_TITLES["f1-at-k"],
        status=Status.NEEDS_MODEL,
        why="Thirteen models and a search, a run or several; the figures to hold ours against are not at hand.",
        model="the models under test, and gpt-3.5-turbo as judge",
        key=_KEY,
        command="factloop eval RESPONSES --plan paper --run-dir RUN, after factloop generate longfact of each model",
        calls="a call a prompt of each model, then 8 calls and 5 searches a relevant fact",
        run=partial(score_models, _TITLES["f1-at-k"]),
    ),
    Entry(
        id="safe:length",
        title=_TITLES["length"],
        status=Status.NEEDS_MODEL,
        why="One model asked with several postambles in one file; the figures to hold ours against are not at hand.",
        model="the model under test, and gpt-3.5-turbo as judge",
        key=_KEY,
        command="factloop eval RESPONSES --run-dir RUN, after factloop generate longfact --postamble-text NAME=TEXT",
        calls="a call a prompt and postamble, then 8 calls and 5 searches a relevant fact",
        run=partial(score_lengths, _TITLES["length"]),
    ),
    Entry(
        id="safe:search-ablation",
        title=_TITLES["search-ablation"],
        status=Status.NEEDS_MODEL,
        why="A run for each number of searches and results; the figures to hold ours against are not at hand.",
        model="gpt-3.5-turbo as judge",
        key="one for the model, and one for Serper",
        command="factloop eval factscore --plan paper --max-searches N --results-per-search N --run-dir RUN, for each",
        calls="3 calls a fact, and a call and a search a round",
        run=partial(compare_searches, _TITLES["search-ablation"]),
    ),
)
