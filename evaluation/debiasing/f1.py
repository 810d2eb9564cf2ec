"""Calculates the F1@K of a run, both raw and corrected with human labels.

F1@K describes a whole response, so responses are the sampling unit. The correction applies prediction-powered inference
(`prediction_powered`) to each response's F1@K by labels and by verdicts. It is valid for any evaluator and any K if the
labelled responses are like those of the run and all their claims are labelled. Labels for only some claims do not
determine a response's F1@K, because F1@K is concave once K claims are supported. Assuming that unlabelled claims are
supported as often as labelled ones with the same verdict made F1@K .02 to .04 too high (FActScore's labels, K at the
median and below).

A response without claims has an F1@K of 0, both by labels and by verdicts. All labelled responses have claims, so they
represent only the run's responses with claims. The interval includes the uncertainty in the fraction of responses
without claims.

Departure: the paper (Wei et al. 2024, section 5) treats the evaluator's verdicts as the truth.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from factloop.core.figure import Undefined
from factloop.evaluation.debiasing import prediction_powered
from factloop.evaluation.debiasing.estimates import mean_influence, raw_share, undefined
from factloop.evaluation.debiasing.records import LEVEL, Abstentions, Caution, DebiasedF1, Estimate, Method, Transfer
from factloop.evaluation.debiasing.samples import Bools, Floats, JudgedResponses, LabelledClaims, Samples, as_samples

LEAST_OWN, LEAST_OTHER = 0.75, 0.5
"""Below these ratios of labels to scored claims, responses count as only partly labelled. The first is for labels of
the run itself. It is below 1 because claims that annotators find irrelevant have no label. The second compares labels
per labelled response with scored claims per response of the run."""


def debiased_f1(
    labelled: LabelledClaims,
    run: JudgedResponses,
    ks: Sequence[int],
    *,
    abstentions: Abstentions = "zero",
    transfer: Transfer = Transfer.VERDICTS,
    is_sampled: bool = True,
    level: float = LEVEL,
) -> tuple[DebiasedF1, ...]:
    """Returns the mean F1@K over all responses, for each K.

    The corrected value is undefined if responses are only partly labelled, or if they are neither a sample of the run's
    responses nor declared to be like them. Raises ValueError if any K is below 1.
    """
    if any(k < 1 for k in ks):
        raise ValueError("every K must be at least 1")
    samples = as_samples(labelled, run)
    missing = _missing(samples, transfer, level, is_sampled=is_sampled)
    return tuple(_at(k, samples, missing, abstentions, transfer, level) for k in ks)


def _at(
    k: int, samples: Samples, missing: Estimate | None, abstentions: Abstentions, transfer: Transfer, level: float
) -> DebiasedF1:
    counted = samples.scored > 0 if abstentions == "exclude" else ~samples.failed
    has_claims = samples.scored.sum() > 0
    raw = raw_share(*_of_run(k, samples, counted), samples, level) if has_claims else None
    return DebiasedF1(
        k=k,
        raw=raw or undefined(Method.RAW, Undefined.NOTHING_SCORED, samples, level),
        corrected=missing or _corrected(k, samples, counted, level),
        transfer=transfer,
        abstentions=abstentions,
        n_responses=int(counted.sum()),
        n_abstentions=int(((samples.scored == 0) & ~samples.failed).sum()),
        n_failed=int(samples.failed.sum()),
    )


def _corrected(k: int, samples: Samples, counted: Bools, level: float) -> Estimate:
    of_run, (by_labels, by_verdicts) = _of_run(k, samples, counted), _of_labelled(k, samples, counted)
    gain = of_run[0] - by_verdicts[0], of_run[1] - by_verdicts[1]
    return prediction_powered.powered(by_labels, gain, samples, level)


def _of_run(k: int, samples: Samples, counted: Bools) -> prediction_powered.Moved:
    return _mean(_f1(samples.supported, samples.scored, k), samples, counted)


def _f1(supported: Floats, n: Floats, k: int) -> Floats:
    return np.asarray(2.0 * supported / (n + np.maximum(supported, k)))


def _mean(values: Floats, samples: Samples, counted: Bools) -> prediction_powered.Moved:
    moves = mean_influence(values, samples.run_group, samples.n_groups, counted.astype(np.float64))
    return float(values[counted].mean()), moves


def _of_labelled(k: int, samples: Samples, counted: Bools) -> tuple[prediction_powered.Moved, prediction_powered.Moved]:
    """Returns the mean F1@K by labels and by verdicts. Labelled responses represent the run's responses with claims."""
    n = np.bincount(samples.label_response).astype(np.float64)
    group = np.empty(len(n), np.int64)
    group[samples.label_response] = samples.label_group
    share, share_moves = _mean((samples.scored > 0).astype(np.float64), samples, counted)
    found = []
    for said in (samples.label, samples.verdict):
        f1 = _f1(np.bincount(samples.label_response, said).astype(np.float64), n, k)
        mean = float(f1.mean())
        moves = share * mean_influence(f1, group, samples.n_groups) + mean * share_moves
        found.append((share * mean, moves))
    return found[0], found[1]


def _missing(samples: Samples, transfer: Transfer, level: float, *, is_sampled: bool) -> Estimate | None:
    why, cautions = None, set()
    if not samples.scored.sum():
        why = Undefined.NOTHING_SCORED
    elif not len(samples.label):
        why = Undefined.NO_LABELS
    elif _is_in_part(samples):
        why, cautions = Undefined.NO_LABELS, {Caution.LABELLED_IN_PART}
    elif not is_sampled and transfer is not Transfer.VERDICTS:
        why = Undefined.NOT_SAMPLED
    return None if why is None else undefined(prediction_powered.METHOD, why, samples, level, cautions)


def _is_in_part(samples: Samples) -> bool:
    if samples.label_chance is not None and (samples.label_chance < 1.0).any():
        return True
    n_own = int(samples.is_own.sum())
    if n_own:
        of_prompts = samples.scored[np.isin(samples.run_group, samples.label_group[samples.is_own])].sum()
        return bool(n_own < LEAST_OWN * of_prompts)
    of_label = len(samples.label) / len(np.unique(samples.label_response))
    return bool(of_label < LEAST_OTHER * samples.scored.sum() / (samples.scored > 0).sum())
