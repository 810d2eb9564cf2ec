from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

import numpy as np

from factloop.checking.cascade.records import CascadeFile, CascadeTuning, ErrorKind
from factloop.checking.cascade.stage import CheapVerifier, cheap_verifier
from factloop.core.errors import ConfigError, DataError
from factloop.core.files.lines import place_name
from factloop.evaluation.cascades.labelled import ScoredLabels, groups_of
from factloop.evaluation.cascades.thresholds import Tuning
from factloop.evaluation.datasets.mapping import ColumnMapping, placed_items
from factloop.evaluation.verification.records import PairRow
from factloop.reports.figures import plural
from factloop.tools.calls.meter import UsageMeter
from factloop.tools.judges.pairs import BETWEEN, VerifierPair, score_pairs

BATCH = 64
COMPARED = 8
"""Number of claims that are scored again to check that the scores in the file come from this verifier."""
FEW_GROUPS = 30
"""With fewer groups, the chance of missing a kind of document that makes up 10% of them exceeds 4% (0.9^30)."""
TOLERANCE = 1e-3
"""Two runs of the same encoder may differ by this much, because their batches are padded differently."""


class LabelledRow(PairRow):
    """A row as read by `factloop research verify`. It may contain `passages` instead of a `document`."""

    passages: tuple[str, ...] | None = None

    @property
    def text(self) -> str:
        """The text against which the claim is judged. Passages are joined in the same way as in a check."""
        return BETWEEN.join(self.passages) if self.passages is not None else self.document or ""


@dataclass(frozen=True)
class Tune:
    verifier: str
    max_error: float
    error: ErrorKind = ErrorKind.BALANCED
    confidence: float = 0.95
    allow_download: bool = False

    def __post_init__(self) -> None:
        """Raises ConfigError if a rate is out of range."""
        for flag, share in (("--max-error", self.max_error), ("--level", self.confidence)):
            if not 0.0 < share < 1.0:
                raise ConfigError(f"{flag} must be between 0 and 1, such as 0.05, not {share:g}")


def load_labelled(place: str) -> list[LabelledRow]:
    """Reads a JSON Lines, CSV, Parquet or JSON file. Raises DataError if a row is invalid or has no label."""
    rows = []
    for row, item in placed_items(place, ColumnMapping(), LabelledRow):
        if item.label is None:
            raise row.error("must be set, because tuning requires labelled claims", "label")
        if item.document is not None and item.passages is not None:
            raise row.error("use either `document` or `passages`, not both", "passages")
        rows.append(item)
    if not rows:
        raise DataError("the file has no rows", path=place_name(place))
    return rows


async def atune(
    rows: Sequence[LabelledRow], wanted: Tune, *, data: str, scored: Callable[[int, int], object] = lambda *_: None
) -> CascadeFile:
    """Tunes a cascade on these claims. Costs no money, but takes as long as the verifier needs to score the claims.

    If rows already contain the verifier's scores, a few are recomputed as a check and the rest are used as they are.
    `scored` is called with the number of scored claims and the total. Raises ConfigError or DataError.
    """
    verifier = cheap_verifier(wanted.verifier, allow_download=wanted.allow_download)
    scores = await _scores(rows, verifier, data, scored)
    labelled = ScoredLabels(np.array(scores), np.array([row.label for row in rows], np.int8), _groups(rows))
    tuning = Tuning.of(labelled)
    tuned = tuning.tuned(wanted.max_error, wanted.error, wanted.confidence)
    tuned = tuned.model_copy(update={"curve": tuning.curve(wanted.error, wanted.confidence)})
    return CascadeFile(
        verifier=wanted.verifier.strip(),
        identity=verifier.reader.identity,
        upper=tuned.accepted.threshold,
        lower=tuned.rejected.threshold,
        data=data,
        tuned=tuned,
        created_at=datetime.now(UTC),
        warnings=tuple(_warnings(tuned)),
    )


def _groups(rows: Sequence[LabelledRow]) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    """Groups claims that are dependent because they share a document, a response or their wording."""
    responses = [None if row.response_id is None else (row.dataset, row.system, row.response_id) for row in rows]
    return groups_of([row.text.strip() or None for row in rows], responses, [row.claim.strip() for row in rows])


async def _scores(
    rows: Sequence[LabelledRow], verifier: CheapVerifier, data: str, scored: Callable[[int, int], object]
) -> list[float]:
    name = verifier.reader.name
    given = {place: row.evaluators[name] for place, row in enumerate(rows) if row.evaluators.get(name) is not None}
    again = [place for place in given if rows[place].text.strip()]
    again = [again[round(step * (len(again) - 1) / (COMPARED - 1))] for step in range(COMPARED)] if again else []
    asked = [place for place in range(len(rows)) if place not in given]
    found = {place: score for place, score in given.items() if score is not None}
    for place, score in (await _read(rows, sorted({*again}), verifier)).items():
        if score is None or abs(score - found[place]) > TOLERANCE:
            here = "none" if score is None else f"{score:.4g}"
            message = f"claim {rows[place].id!r} has a score of {found[place]:.4g}, but {name} now gives {here}"
            raise DataError(f"{message}; verify the claims again", path=data, field="evaluators")
    for start in range(0, len(asked), BATCH):
        scored(len(found), len(rows))
        found |= {
            place: score
            for place, score in (await _read(rows, asked[start : start + BATCH], verifier)).items()
            if score is not None
        }
    return [found.get(place, float("nan")) for place in range(len(rows))]


async def _read(rows: Sequence[LabelledRow], places: Sequence[int], verifier: CheapVerifier) -> dict[int, float | None]:
    pairs = [VerifierPair(rows[place].claim, rows[place].text) for place in places]
    (scored,) = await score_pairs(verifier.reader, pairs, meter=UsageMeter())
    return {place: one.score for place, one in zip(places, scored, strict=True)}


def _warnings(tuned: CascadeTuning) -> list[str]:
    warnings = []
    if tuned.n_settled == 0:
        warnings.append("Every claim goes to the model, so this cascade saves nothing.")
    if tuned.likeness is None:
        warnings.append("All claims share one document or response, so the error applies only to similar claims.")
    elif tuned.n_groups < tuned.n:
        warnings.append(_group_warning(tuned))
    if tuned.n_unscored:
        warnings.append(f"Claims without a score, which go to the model: {tuned.n_unscored:,}.")
    return warnings


def _group_warning(tuned: CascadeTuning) -> str:
    sides = (("accepted", tuned.accepted), ("rejected", tuned.rejected))
    effects = [f"{side.design_effect:.1f} {done} ones" for done, side in sides if side.n]
    counted = f" ({' or '.join(effects)} count as one independent claim)" if effects else ""
    few = " So few groups may lack a kind of document on which the verifier errs."
    return (
        f"The {plural(tuned.n, 'claim')} form {plural(tuned.n_groups, 'group')}, which share a document, a response or "
        f"their wording. The bounds account for this approximately{counted}."
    ) + (few if tuned.n_groups < FEW_GROUPS else "")
