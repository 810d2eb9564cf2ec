"""Debiases the figures of a run by claims that people labelled and the same evaluator judged.

The labelled claims come from a run of `factloop eval factscore`, from the predictions of an audit, or from rows of
`label` and `verdict`. How figures are debiased, and why, is in `factloop.evaluation.debiasing`: precision by
prediction-powered inference over claims and by the adjusted count, F1@K by the former over whole responses.

Debiasing is as good as the labelled claims resemble the run's: the same evaluator, the same kind of claims. Where
that can be seen to fail, the run gets a warning; it cannot always be seen.
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
"""System and id of a response to the sum of the scores of its scored claims."""

_JUDGED_BY = frozenset(Fingerprint.model_fields) - {"factloop_version", "versions", "seed", "base_url"}
"""The settings that make an evaluator: two runs that differ in one of these were judged by two."""


def load_calibration(place: str | Path, *, evaluator: str | None = None) -> CalibrationSample:
    """The labelled claims of a finished run with labels (a folder), or of a file.

    A file has rows of `label` (1 supported, 0 not), `verdict` (1, 0, or null for none) and perhaps `group` (the prompt
    or response of each claim); or it is the input of an audit (`factloop.evaluation.audit.rows`), whose `evaluator` is
    named. Reads all of it, and keeps a few bytes of each claim. Raises ConfigError for what is no calibration, and
    DataError for a file that cannot be read.
    """
    if os.path.isdir(place):  # False, too, for a name that no path can have
        return sample_of_run(place, evaluator)
    return read_labelled_rows(place) if evaluator is None else read_predictions(place, evaluator)


def calibrated(
    summary: RunSummary,
    sample: CalibrationSample,
    *,
    transfer: Transfer | None,
    run: RunClaims | None = None,
) -> RunSummary:
    """The summary with its precision and its F1@K debiased, and with reasons to distrust that.

    `run` recognises labelled claims that are the run's own or come from its prompts; without it only groups that are
    named as the run names its prompts are known to be.
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
    """Raw F1@K with the interval that the run's scores have, or none: one figure has one interval on a page."""
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
    """Each system's precision and F1@K, raw and debiased by its own labelled claims, or by all if it has none.

    A system with labelled claims is debiased by these alone: with more errors than its own, the claims of others would
    pull the figure to theirs. Each estimate says how many labelled claims it rests on.

    Without `transfer` verdicts are taken to mean the same where a labelled claim comes from the system or from a prompt
    of the run, and TPR and FPR to be the same where none does; prediction-powered figures are then withheld, F1@K
    among them.

    Claims of one prompt resemble each other: prompts are the units, and where a prompt of the run has labelled claims
    (a run debiased by its own labels) its influences on both samples are added. `score_sums`: those of the run's
    responses by system and id, where the evaluator gives scores. Raises ValueError for a K below 1.
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
    if is_census:  # however the labels were drawn, each counts once: nothing is left to estimate
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
    """Whether every scored claim of the system has a label."""
    pairs = zip(labelled.is_own or (), labelled.verdicts, strict=False)
    n_own = sum(own and verdict is not None for own, verdict in pairs)
    return 0 < n_own == sum(one.counts.scored for one in responses)


def calibration_warnings(sample: CalibrationSample, summary: RunSummary) -> tuple[str, ...]:
    """Reasons not to debias this run by these claims, as far as they show."""
    return tuple(_warnings(sample, summary))


def _warnings(sample: CalibrationSample, summary: RunSummary) -> Iterator[str]:
    start = f"Corrected by {plural(len(sample.labels), 'labelled claim')} of {sample.data}"
    judge = summary.fingerprint.evaluator
    if sample.fingerprint is None and sample.judges:
        if sample.judges != {judge}:
            named = ", ".join(sorted(sample.judges))
            yield f"{start}, which {named} judged, not {judge}: the two make different errors"
    elif sample.fingerprint is None:
        yield f"{start}, which does not say who judged them: it must be the evaluator of this run, set up alike"
    else:
        ours, theirs = summary.fingerprint.model_dump(mode="json"), sample.fingerprint.model_dump(mode="json")
        differing = sorted(name for name in _JUDGED_BY if ours[name] != theirs[name])
        if differing:
            which = ", ".join(differing)
            yield f"{start}, which another evaluator judged ({which} differ): the two make different errors"
    if sample.n_judged_otherwise:
        yield (
            f"{start}, {sample.n_judged_otherwise:,} of which are claims of this run with another verdict there: "
            "they were judged by other documents or another judge, which their labels may refer to. So there is no "
            "precision of this run alone; to get it, label claims of this run (factloop research labels next RUN)"
        )
    if sample.n_irrelevant:
        yield (
            f"{plural(sample.n_irrelevant, 'more claim')} labelled or judged irrelevant: claims that the evaluator "
            "wrongly leaves out or keeps are not corrected for"
        )
    if sample.systems:
        strangers = sorted({line.system for line in summary.responses} - sample.systems)
        if strangers:
            yield (
                f"None of the labelled claims is from {', '.join(strangers)}: an evaluator's errors often differ "
                "from one system to the next"
            )
    if sample.kind is not None and sample.kind != summary.kind:
        yield (
            f"{start}, which people split into facts; the claims of this run are the evaluator's own, so there is no "
            "precision of this run alone: to get it, label claims of this run (factloop research labels next RUN)"
        )


def _judged(responses: Sequence[CountedResponse], score_sums: ScoreSums | None = None) -> JudgedResponses:
    """With scores only where those of every response are known."""
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
    """F1@K, raw and debiased, over the responses of the run's scores: `exclude` leaves out those without any claim,
    and a response of irrelevant claims alone stays, as 0.
    """
    rated = [one for one in responses if not (one.abstained and abstention is AbstentionPolicy.EXCLUDE)]
    found = debiased_f1(
        labelled, _judged(rated), ks, transfer=transfer, is_sampled=is_sampled, level=level, abstentions="zero"
    )
    n_left_out = len(responses) - len(rated)
    return tuple(
        one.model_copy(update={"abstentions": abstention.value, "n_abstentions": one.n_abstentions + n_left_out})
        for one in found
    )
