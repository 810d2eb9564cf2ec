"""The verdicts of a run on labelled claims, as the input of an audit: what SAFE itself may be audited by."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import orjson

from factloop.core.records import Claim, Verdict
from factloop.evaluation.datasets.factscore import FactLabel
from factloop.evaluation.runs.records import JudgedResponse

_LABELS = {FactLabel.SUPPORTED: 1, FactLabel.NOT_SUPPORTED: 0}
_VERDICTS = {Verdict.SUPPORTED: 1, Verdict.NOT_SUPPORTED: 0}


def predictions_of(responses: Iterable[JudgedResponse], *, dataset: str) -> str:
    """JSON Lines as `factloop.evaluation.audit.rows` has them, a line for each claim labelled supported or not.

    The order of the responses changes nothing. Claims labelled irrelevant are in no row. Evaluators: the judge with 1
    or 0 for its verdict, null where it gave none or found the claim irrelevant; and beside it, where the judge gives
    degrees of support in [0, 1], `NAME: score`.
    """
    ordered = sorted((judged.system, judged.prompt_id, b"".join(_lines(judged, dataset))) for judged in responses)
    return b"".join(lines for _, _, lines in ordered).decode()


def _lines(judged: JudgedResponse, dataset: str) -> Iterator[bytes]:
    name = judged.report.fingerprint.evaluator
    for claim in judged.report.claims:
        label = _LABELS.get(judged.labels[claim.id]) if claim.id in judged.labels else None
        if label is not None:
            row = {
                "dataset": dataset,
                "system": judged.system,
                "response_id": judged.id,
                "prompt_id": judged.prompt_id,
                "claim_id": claim.id,
                "claim": claim.self_contained,
                "label": label,
                "evaluators": _evaluators(name, claim),
            }
            yield orjson.dumps(row, option=orjson.OPT_APPEND_NEWLINE)


def _evaluators(name: str, claim: Claim) -> dict[str, Any]:
    judgement = claim.judgement
    verdict = _VERDICTS.get(judgement.verdict) if judgement.verdict is not None else None
    scored = verdict is not None and judgement.score is not None
    return {name: verdict} | ({f"{name}: score": judgement.score} if scored else {})
