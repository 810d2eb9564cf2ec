"""Every item of an experiment against every variant: what a person reads to see where variants differ, and why."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from factloop.core.factuality import f1_at_k, is_unknown, precision
from factloop.core.records import Verdict
from factloop.evaluation.experiments.flips import majority
from factloop.evaluation.experiments.panel import VERDICTS, Panel
from factloop.evaluation.experiments.records import JudgedClaim, JudgedText, Results
from factloop.evaluation.experiments.report import ItemCell, ItemRow


def item_rows(panel: Panel, results: Results) -> Iterator[ItemRow]:
    """A row for each claim, or for each response, by group and item; its cells in the order of the panel's variants."""
    return _claim_rows(panel) if results.kind == "claims" else _response_rows(panel, results)


def _claim_rows(panel: Panel) -> Iterator[ItemRow]:
    most = [majority(verdicts) for verdicts in panel.claims.verdicts]
    n_repeats = panel.claims.verdicts.shape[1]
    for place, key in enumerate(panel.claim_keys):
        by_variant = [
            [one for repeat in range(1, n_repeats + 1) if (one := panel.found.get((variant, repeat, key))) is not None]
            for variant in panel.variants
        ]
        shown = next(one for found in by_variant for one in found)
        codes = [int(codes[place]) for codes in most]
        yield ItemRow(
            item_id=shown.claim_id,
            group=shown.group,
            claim=shown.claim,
            gold=shown.gold,
            cells=tuple(_claim_cell(found, code) for found, code in zip(by_variant, codes, strict=True)),
        )


def _claim_cell(found: Sequence[JudgedClaim], code: int) -> ItemCell:
    """`code` is the verdict of most repeats, below 0 where there is none."""
    scored = [one for one in found if one.judgement.verdict is not None]
    labelled = [one for one in scored if one.gold is not None]
    right = sum(one.judgement.verdict is _right(one) for one in labelled)
    return ItemCell(
        verdict=VERDICTS[code] if code >= 0 else None,
        unscored_reason=found[0].judgement.unscored_reason if found and not scored else None,
        value=right / len(labelled) if labelled else None,
        n_scored=len(scored),
        n_repeats=len(found),
    )


def _right(one: JudgedClaim) -> Verdict:
    return Verdict.SUPPORTED if one.gold else Verdict.NOT_SUPPORTED


def _response_rows(panel: Panel, results: Results) -> Iterator[ItemRow]:
    found: dict[tuple[str, str], list[JudgedText]] = {}
    for one in sorted(results.responses, key=lambda one: one.repeat):
        found.setdefault((one.response_id, one.variant), []).append(one)
    prompts: Mapping[str, str] = {one.response_id: one.prompt_id for one in results.responses}
    k = min(results.k) if results.k else None
    for name in sorted(prompts, key=lambda name: (prompts[name], name)):
        cells = tuple(_response_cell(found.get((name, variant), ()), k) for variant in panel.variants)
        yield ItemRow(item_id=name, group=prompts[name], cells=cells)


def _response_cell(found: Sequence[JudgedText], k: int | None) -> ItemCell:
    """An answer without claims has an F1@K of 0, and one whose every claim is unscored has none, as in the figures."""
    values = [precision(one.counts) if k is None else _f1(one, k) for one in found]
    known = [value for value in values if value is not None]
    return ItemCell(
        value=sum(known) / len(known) if known else None,
        n_scored=sum(one.counts.scored > 0 for one in found),
        n_repeats=len(found),
    )


def _f1(one: JudgedText, k: int) -> float | None:
    counts = one.counts
    return None if is_unknown(counts) else f1_at_k(counts, k)
