"""Records the experiments in a run directory, so that reports can say how often the same data was tried."""

from __future__ import annotations

from pathlib import Path

from factloop.core.files.lines import read_lines
from factloop.core.files.private import open_private
from factloop.evaluation.experiments.plan import HELD_OUT
from factloop.evaluation.experiments.records import ExperimentReport, PastExperiment
from factloop.evaluation.runs.reading import parse_record
from factloop.reports.figures import plural

HISTORY = "history.jsonl"


def with_history(report: ExperimentReport, folder: Path, n_seen: int = 0) -> ExperimentReport:
    """Adds earlier experiments on the same data to the report, and records this one. `n_seen` is the number of held-out
    items that were judged in the folder before this run. Raises DataError if a line of the history cannot be read."""
    now, path = _past(report), folder / HISTORY
    lines = read_lines(path) if path.exists() else ()
    earlier = [parse_record(line, PastExperiment, str(path), number, "remove the line") for number, line in lines]
    others = tuple(one for one in earlier if one.data == now.data and one.asked != now.asked)
    noted = next((one for one in earlier if one.asked == now.asked), None)
    n_seen = noted.n_seen if noted is not None else 0 if others else n_seen
    if noted is None:
        now = now.model_copy(update={"n_seen": n_seen})
        with open(path, "a", encoding="utf-8", opener=open_private) as file:
            file.write(now.model_dump_json() + "\n")
    looks: tuple[str, ...] = ()
    if report.data.endswith(HELD_OUT):
        looks = (f"{looks_words(len(others), n_seen)}.",) if others or n_seen else ()
    elif others:
        n = plural(len(others), "earlier experiment")
        looks = (f"{n} in this run directory used these claims; the p-values are not adjusted for them.",)
    return report.model_copy(update={"history": others, "n_seen": n_seen, "warnings": (*looks, *report.warnings)})


def looks_words(n_before: int, n_seen: int) -> str:
    if n_seen and not n_before:
        return (
            f"{n_seen:,} of the held-out items had verdicts in this run directory before this look, because they were "
            "not yet held out or because a look was stopped; later choices were not tested on unseen claims"
        )
    if not n_before:
        return "This is the first look at the held-out part in this run directory"
    return (
        f"This is look {n_before + 1:,} at the held-out part in this run directory, so choices made after the first "
        "look were not tested on unseen claims"
    )


def _past(report: ExperimentReport) -> PastExperiment:
    said = {name: getattr(report, name) for name in ("created_at", "name", "data", "n_items", "repeats", "level")}
    bare = ((one, one.variant.model_copy(update={"prompt_texts": {}})) for one in report.variants)
    return PastExperiment(**said, variants=tuple(one.model_copy(update={"variant": variant}) for one, variant in bare))
