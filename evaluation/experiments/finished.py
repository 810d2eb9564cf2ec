"""Reads finished experiments, compares them side by side, and adds human labels."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from factloop.core.errors import ConfigError, DataError
from factloop.core.files.lines import read_given
from factloop.core.files.tables import read_rows
from factloop.core.records import Claim, Verdict
from factloop.evaluation.comparing.matching import plain
from factloop.evaluation.comparing.pairs import flipped
from factloop.evaluation.comparing.records import Flip
from factloop.evaluation.comparing.table import majority
from factloop.evaluation.experiments.answers import SharedAnswers
from factloop.evaluation.experiments.panel import panel_of
from factloop.evaluation.experiments.records import ExperimentReport, JudgedClaim, Results
from factloop.evaluation.experiments.run import RESULTS
from factloop.evaluation.experiments.variants import shared_evidence
from factloop.evaluation.labels.sheets import Candidate, PilotRow
from factloop.evaluation.runs.reading import parse_record
from factloop.reports.figures import plural
from factloop.tools.calls.meter import total_usage


def is_experiment(folder: str | Path) -> bool:
    return (Path(folder) / RESULTS).is_file()


def read_results(folder: str | Path) -> Results:
    """Returns the results of the last experiment in a folder. Raises DataError if they cannot be read."""
    path = Path(folder) / RESULTS
    return parse_record(read_given(path), Results, str(path), None, "run the experiment again, which costs nothing")


def side_by_side(folders: Sequence[str], variants: Sequence[str] = ()) -> Results:
    """Returns the results of one experiment, or of two that use the same data.

    `variants` selects variants, and the first is the baseline. With two experiments, it can name one variant from each,
    or one variant that both contain. Variants are then renamed to `A.NAME` and `B.NAME`. Raises ConfigError if a
    variant is unknown, or if the experiments differ in data or in the numbers of items or repeats. Raises DataError if
    results cannot be read.
    """
    found = [read_results(folder) for folder in folders]
    if len(found) == 2:
        found = [_renamed(one, side) for one, side in zip(found, "AB", strict=True)]
        of_both = variants if len(variants) > 1 else [*variants, *variants]
        variants = [f"{side}.{name}" for side, name in zip("AB", of_both, strict=True)] if variants else ()
    first, last = found[0], found[-1]
    if (first.data, first.kind) != (last.data, last.kind):
        raise ConfigError(
            f"{folders[0]} uses {first.data}, but {folders[-1]} uses {last.data}; pass two that use the same data"
        )
    for noun, one, other in (("repeat", first.repeats, last.repeats), (first.kind[:-1], first.n_items, last.n_items)):
        if one != other:
            said = f"{folders[0]} has {plural(one, noun)}, but {folders[-1]} has {other:,}"
            raise ConfigError(f"{said}; pass two experiments with the same number")
    named = {one.name: one for results in found for one in results.variants}
    wanted = tuple(variants) or tuple(named)
    if strangers := [name for name in wanted if name not in named]:
        raise ConfigError(f"unknown variant {strangers[0]!r}; choose from {', '.join(named)}")
    baseline = wanted[0] if variants else first.baseline
    claims = tuple(one for results in found for one in results.claims if one.variant in wanted)
    shared = shared_evidence(wanted, claims, baseline, by_text=first.kind == "responses")
    return first.model_copy(
        update={
            "baseline": baseline,
            "variants": tuple(named[name].model_copy(update=shared[name]) for name in wanted),
            "claims": claims,
            "paid": first.paid if len(found) < 2 else total_usage(one.paid for one in found),
            "responses": tuple(one for results in found for one in results.responses if one.variant in wanted),
        }
    )


def _renamed(results: Results, side: str) -> Results:
    def named(field: str, at: str) -> tuple[Any, ...]:
        return tuple(one.model_copy(update={at: f"{side}.{getattr(one, at)}"[:64]}) for one in getattr(results, field))

    of = {"variants": "name", "claims": "variant", "responses": "variant"}
    new = {field: named(field, at) for field, at in of.items()}
    return results.model_copy(update={"baseline": f"{side}.{results.baseline}"[:64], **new})


def with_labels(results: Results, place: str | Path) -> Results:
    """Adds labels and probabilities from a file written by `labels export`. Existing labels are kept. Raises DataError
    if no row matches an unlabelled claim."""

    def key(group: str | None, claim_id: str | None, claim: str | None) -> tuple[str | None, ...]:
        return group, claim_id if results.kind == "claims" else None, plain(claim or "")

    rows = [row.read_as(PilotRow) for row in read_rows(place)]
    given = {key(one.response_id, one.claim_id, one.claim): one for one in rows}

    def labelled(one: JudgedClaim) -> JudgedClaim:
        row = given.get(key(one.group, one.claim_id, one.claim))
        if row is None or one.gold is not None:
            return one
        return one.model_copy(update={"gold": bool(row.label), "probability": row.probability})

    claims = tuple(map(labelled, results.claims))
    if claims == results.claims:
        raise DataError("no row matches an unlabelled claim in this experiment", path=str(place))
    return results.model_copy(update={"claims": claims})


MOST_EXCHANGES = 100


def with_exchanges(report: ExperimentReport, run_dir: Path) -> ExperimentReport:
    """If the prompts differ, adds both sides' exact requests and replies to the first flips in the report."""
    store = SharedAnswers(run_dir / "repeat-1.sqlite")
    kept = list(store.exchanges())
    store.close()

    def found(flip: Flip, name: str) -> tuple[tuple[str, str], ...]:
        (variant,) = (one.variant for one in report.variants if one.variant.name == name)
        of_prompts = tuple(
            text[len("# system\n") :].partition("\n# user\n")[0] for text in variant.prompt_texts.values()
        )
        block = re.compile(rf">\s*{re.escape(flip.claim)}\s*</")
        return tuple(one for one in kept if one[0].startswith(of_prompts) and block.search(one[0]))

    def told(flip: Flip) -> Flip:
        sides = ((name, getattr(flip, name), getattr(flip, f"{name}_side")) for name in ("first", "second"))
        new = {f"{at}_side": side.model_copy(update={"exchanges": found(flip, of)}) for at, of, side in sides}
        return flip.model_copy(update=new)

    flips = (*map(told, report.flips[:MOST_EXCHANGES]), *report.flips[MOST_EXCHANGES:])
    return report.model_copy(update={"flips": flips})


_TO_SHOW = (Verdict.SUPPORTED, Verdict.NOT_SUPPORTED)


def to_label(results: Results) -> Iterator[Candidate]:
    """Yields unlabelled claims, flips first, each with the verdict of the first variant that has one. Raises
    ConfigError if all claims are labelled."""
    if results.claims and all(one.gold is not None for one in results.claims):
        raise ConfigError(f"{results.data}: all claims in this experiment are already labelled")
    panel = panel_of(results)
    most = [majority(verdicts) for verdicts in panel.claims.verdicts]
    flips = {place for other in most[1:] for place in flipped(most[0], other)}
    judges = {one.name: one.fingerprint.evaluator for one in results.variants}
    for place in range(len(panel.claim_keys)):
        found = [one for side in range(len(panel.variants)) for one in panel.results_of(side, place)]
        shown = next((one for one in found if one.judgement.verdict in _TO_SHOW), None)
        if shown is not None and all(one.gold is None for one in found):
            yield Candidate(
                system=results.name,
                response_id=shown.group,
                group=shown.group,
                judge=judges[shown.variant],
                claim=_claim(shown),
                prompt=shown.group,
                is_first=place in flips,
            )


def _claim(one: JudgedClaim) -> Claim:
    return Claim(
        id=one.claim_id,
        sentence=one.claim,
        span=(0, len(one.claim)),
        text=one.claim,
        self_contained=one.claim,
        evidence=one.evidence,
        judgement=one.judgement,
    )
