"""Corrects a run's precision and F1@K with human-labelled claims.

The labelled claims come from a run of `factloop eval factscore`, from the input of an audit, or from a file with
`label` and `verdict` columns. They must be of the same kind as the run's claims and judged by the same evaluator. A run
gets a warning when the two clearly differ, but not every difference can be detected.

`factloop.evaluation.debiasing` explains the methods. Precision is estimated per claim by prediction-powered inference
and by the adjusted count; F1@K is estimated per response by prediction-powered inference.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from factloop.core.records import Fingerprint
from factloop.evaluation.debiasing.f1 import debiased_f1
from factloop.evaluation.debiasing.precision import debiased_precision
from factloop.evaluation.debiasing.records import LEVEL, Caution, DebiasedF1, Method, Transfer
from factloop.evaluation.debiasing.samples import JudgedResponses, LabelledClaims
from factloop.evaluation.runs.labelled import CalibrationSample, read_labelled_rows, read_predictions, sample_of_run
from factloop.evaluation.runs.longform import AbstentionPolicy, CountedResponse
from factloop.evaluation.runs.records import Calibration, ResponseLine, RunDebiasing, RunSummary
from factloop.evaluation.runs.run_claims import RunClaims
from factloop.reports.figures import plural

ScoreSums = Mapping[tuple[str, str], float]

_JUDGED_BY = frozenset(Fingerprint.model_fields) - {"factloop_version", "versions", "seed", "base_url", "prompt_lines"}
"""Runs that differ in any of these settings count as judged by different evaluators."""


def load_calibration(place: str | Path, *, evaluator: str | None = None) -> CalibrationSample:
    """Reads labelled claims from a file, or from the folder of a finished run with labels.

    Each row of a file has a `label` (1 for supported, 0 for not supported), a `verdict` (1, 0 or null) and optionally a
    `group`, which names the claim's prompt or response. The file may also be the input of an audit
    (`factloop.evaluation.audit.rows`), in which case `evaluator` is required.

    Raises ConfigError if the claims are unsuitable, and DataError if they cannot be read.
    """
    if os.path.isdir(place):  # also False for a name that is not a valid path
        return sample_of_run(place, evaluator)
    return read_labelled_rows(place) if evaluator is None else read_predictions(place, evaluator)


def calibrated(
    summary: RunSummary, sample: CalibrationSample, *, transfer: Transfer | None, run: RunClaims | None = None
) -> RunSummary:
    """Adds corrected precision and F1@K to the summary, with warnings if they should not be trusted.

    With `run`, labelled claims are matched to the run's own claims and prompts. Without it, a labelled claim is matched
    only if its group is the id of one of the run's prompts.
    """
    if run is not None:
        sample = sample.held_against(run, can_own=sample.kind in (None, summary.kind))
    calibration = calibrate(
        sample,
        summary.responses,
        score_sums=run.score_sums if run is not None and run.has_scores else None,
        ks=[choice.k for choice in summary.scores.ks],
        transfer=transfer,
        abstention=summary.scores.abstention,
        level=summary.scores.level,
    )
    warnings = (*summary.warnings, *calibration_warnings(sample, summary))
    systems = tuple(_with_interval_of_scores(one, summary) for one in calibration.systems)
    calibration = calibration.model_copy(update={"systems": systems})
    return summary.model_copy(update={"calibration": calibration, "warnings": warnings})


def _with_interval_of_scores(found: RunDebiasing, summary: RunSummary) -> RunDebiasing:
    """Copies the intervals of the run's scores to raw F1@K, so that a page shows one interval per figure."""
    of_scores = {
        at.k: at.f1 for system in summary.scores.systems if system.system == found.system for at in system.at_k
    }
    f1 = []
    for one in found.f1:
        score = of_scores.get(one.k)
        if score is not None and score.value is not None and one.raw.value is not None:
            cautions = one.raw.cautions
            if score.low is None and one.raw.low is not None:
                cautions = tuple(sorted({*cautions, Caution.NO_SPREAD}))
            raw = one.raw.model_copy(update={"low": score.low, "high": score.high, "cautions": cautions})
            one = one.model_copy(update={"raw": raw})
        f1.append(one)
    return found.model_copy(update={"f1": tuple(f1)})


def calibrate(
    sample: CalibrationSample,
    responses: Iterable[CountedResponse],
    *,
    ks: Sequence[int],
    transfer: Transfer | None,
    abstention: AbstentionPolicy,
    level: float = LEVEL,
    score_sums: ScoreSums | None = None,
) -> Calibration:
    """Returns each system's precision and F1@K, both raw and corrected.

    A system that has labelled claims is corrected with those alone, because other systems have different error rates. A
    system without any is corrected with all labelled claims. Each estimate reports how many claims it used.

    `transfer` is what the labelled claims and the run are assumed to share. The default is VERDICTS if any labelled
    claim comes from the system or, if systems are unknown, from one of its prompts, and ERROR_RATES otherwise. With
    ERROR_RATES there are no prediction-powered figures, and therefore no corrected F1@K.

    Prompts are the sampling units, because claims from the same prompt resemble each other. If labelled claims come
    from a prompt of the run, the two samples are treated as dependent. `score_sums` maps (system, response id) to the
    sum of the response's scores, if the evaluator gives scores. Raises ValueError if a K is below 1.
    """
    given = sorted(responses, key=lambda one: (one.system, one.prompt_id))
    names = sorted({one.system for one in given})
    return Calibration(
        data=sample.data,
        n_claims=len(sample.labels),
        n_unscored=sample.verdicts.count(None),
        systems=tuple(
            _of_system(sample, name, [one for one in given if one.system == name], ks, transfer, abstention, level,
                       score_sums)
            for name in names
        ),
    )  # fmt: skip


def _of_system(
    sample: CalibrationSample,
    name: str,
    responses: Sequence[CountedResponse],
    ks: Sequence[int],
    transfer: Transfer | None,
    abstention: AbstentionPolicy,
    level: float,
    score_sums: ScoreSums | None,
) -> RunDebiasing:
    labelled, prompts = sample.for_system(name), {one.prompt_id for one in responses}
    is_sampled = sample.is_from(name, prompts)
    chosen = transfer or (Transfer.VERDICTS if is_sampled else Transfer.ERROR_RATES)
    is_census = _is_census(labelled, responses)
    if is_census:  # each label counts once, however it was drawn, because there is nothing to estimate
        labelled = replace(labelled, probabilities=None)
    judged = _judged(responses, score_sums)
    precision = debiased_precision(labelled, judged, level=level, transfer=chosen, is_sampled=is_sampled)
    return RunDebiasing(
        system=name,
        precision=precision.model_copy(update={"preferred": Method.DIFFERENCE}) if is_census else precision,
        f1=_debiased_f1(labelled, responses, ks, chosen, abstention, level, is_sampled=is_sampled),
        transfer=chosen,
        is_sampled=is_sampled,
        n_of_prompts=sum(group in prompts for group in labelled.groups or ()),
        n_own=sum(labelled.is_own or ()),
    )


def _is_census(labelled: LabelledClaims, responses: Sequence[CountedResponse]) -> bool:
    pairs = zip(labelled.is_own or (), labelled.verdicts, strict=False)
    n_own = sum(own and verdict is not None for own, verdict in pairs)
    return 0 < n_own == sum(one.counts.scored for one in responses)


def calibration_warnings(sample: CalibrationSample, summary: RunSummary) -> Iterator[str]:
    """Yields every detectable reason not to correct this run with these claims."""
    start = f"Corrected with {plural(len(sample.labels), 'labelled claim')} from {sample.data}"
    judge = summary.fingerprint.evaluator
    if sample.fingerprint is None and sample.judges:
        if sample.judges != {judge}:
            named = ", ".join(sorted(sample.judges))
            yield f"{start}, which were judged by {named}, not by {judge}; different evaluators make different errors"
    elif sample.fingerprint is None:
        yield f"{start}, which does not name the evaluator; the model and settings must be those of this run"
    else:
        ours, theirs = summary.fingerprint.model_dump(mode="json"), sample.fingerprint.model_dump(mode="json")
        known = _JUDGED_BY - (set() if ours["snapshots"] and theirs["snapshots"] else {"snapshots"})
        differing = sorted(name for name in known if ours[name] != theirs[name])
        if differing:
            which = ", ".join(differing)
            another = f"another evaluator ({which} differ)"
            yield f"{start}, which were judged by {another}; different evaluators make different errors"
    if sample.n_judged_otherwise:
        yield (
            f"{start}, {sample.n_judged_otherwise:,} of which are claims of this run with a different verdict "
            "(from another judge or other documents, to which the labels may refer). “Claims supported, this run "
            "alone” is therefore not reported; to report it, label claims with `factloop research labels next RUN`"
        )
    if sample.n_irrelevant:
        yield (
            f"{plural(sample.n_irrelevant, 'more claim')} labelled or judged irrelevant: the correction does not "
            "cover claims that the evaluator wrongly leaves out or keeps"
        )
    if sample.systems:
        strangers = sorted({line.system for line in summary.responses} - sample.systems)
        if strangers:
            yield (
                f"No labelled claim comes from {', '.join(strangers)}, but an evaluator's errors often differ between "
                "systems"
            )
    if sample.kind is not None and sample.kind != summary.kind:
        yield (
            f"{start}, which people split into facts. The evaluator split this run into claims itself, so “Claims "
            "supported, this run alone” is not reported; to report it, use `factloop research labels next RUN`"
        )


def _judged(responses: Sequence[CountedResponse], score_sums: ScoreSums | None = None) -> JudgedResponses:
    sums = (
        [score_sums.get((one.system, one.id)) for one in responses if isinstance(one, ResponseLine)]
        if score_sums
        else []
    )
    known = [one for one in sums if one is not None]
    return JudgedResponses(
        [one.counts for one in responses],
        [one.prompt_id for one in responses],
        known if len(known) == len(responses) and known else None,
    )


def _debiased_f1(
    labelled: LabelledClaims,
    responses: Sequence[CountedResponse],
    ks: Sequence[int],
    transfer: Transfer,
    abstention: AbstentionPolicy,
    level: float,
    *,
    is_sampled: bool,
) -> tuple[DebiasedF1, ...]:
    rated = [one for one in responses if not (one.abstained and abstention is AbstentionPolicy.EXCLUDE)]
    found = debiased_f1(
        labelled, _judged(rated), ks, transfer=transfer, is_sampled=is_sampled, level=level, abstentions="zero"
    )
    n_left_out = len(responses) - len(rated)
    return tuple(
        one.model_copy(update={"abstentions": abstention.value, "n_abstentions": one.n_abstentions + n_left_out})
        for one in found
    )
