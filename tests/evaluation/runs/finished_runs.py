from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np

from factloop.core.factuality import score_claims
from factloop.core.files.json import to_json
from factloop.core.records import Claim, FactualityReport, Fingerprint, Judgement, UnscoredReason, Usage, Verdict
from factloop.evaluation.comparing.compare import ComparedRun
from factloop.evaluation.datasets.factscore import FactLabel
from factloop.evaluation.runs.longform import AbstentionPolicy, f1_curve, score_long_form
from factloop.evaluation.runs.records import JudgedResponse, ResponseLine, RunSummary

WHEN = datetime(2026, 11, 21, 9, 30, tzinfo=UTC)
_VERDICTS = {"s": Verdict.SUPPORTED, "n": Verdict.NOT_SUPPORTED, "i": Verdict.IRRELEVANT}
_LABELS = {"S": FactLabel.SUPPORTED, "N": FactLabel.NOT_SUPPORTED, "I": FactLabel.IRRELEVANT}


def fingerprint(**changes: Any) -> Fingerprint:
    fields = {"factloop_version": "1.0", "engine": "model", "model": "sim:judge", "plan": "fused"}
    return Fingerprint.model_validate({**fields, "max_searches": 5, "results_per_search": 3, **changes})


def claim(number: int, letter: str, text: str | None = None, rationale: str = "") -> Claim:
    """`s`, `n` or `i` for a verdict, `?` for none."""
    verdict = _VERDICTS.get(letter)
    judgement = Judgement(
        verdict=verdict,
        unscored_reason=None if verdict else UnscoredReason.TIMEOUT,
        contradicted=True if verdict is Verdict.NOT_SUPPORTED else None,
        rationale=rationale or f"said {letter}",
    )
    shown = text or f"Fact {number}."
    return Claim(id=f"c{number}", sentence="", span=(0, 0), text=shown, self_contained=shown, judgement=judgement)


def judged(
    prompt_id: str,
    verdicts: str,
    *,
    system: str = "one",
    response: str | None = None,
    labels: str = "",
    texts: Sequence[str] | None = None,
    made_by: Fingerprint | None = None,
) -> JudgedResponse:
    """One letter a claim."""
    claims = tuple(
        claim(number, letter, None if texts is None else texts[number]) for number, letter in enumerate(verdicts)
    )
    made_by = made_by or fingerprint()
    scores = score_claims(claims, (), made_by.repeats)
    report = FactualityReport(
        response=f"{system} on {prompt_id}" if response is None else response,
        claims=claims,
        counts=scores.counts,
        precision=scores.precision,
        at_k=(),
        usage=Usage(),
        fingerprint=made_by,
        created_at=WHEN,
    )
    people = {f"c{number}": _LABELS[letter] for number, letter in enumerate(labels) if letter in _LABELS}
    return JudgedResponse(id=f"{system}/{prompt_id}", system=system, prompt_id=prompt_id, report=report, labels=people)


def summary_of(
    responses: Sequence[JudgedResponse],
    *,
    ks: Sequence[int] = (2,),
    abstention: AbstentionPolicy = AbstentionPolicy.ZERO,
    made_by: Fingerprint | None = None,
    resamples: int = 100,
    **changes: Any,
) -> RunSummary:
    counted = [one.counted for one in responses]
    lines = sorted(
        (
            ResponseLine(id=one.id, system=one.system, prompt_id=one.prompt_id, counts=one.report.counts)
            for one in responses
        ),
        key=lambda line: (line.system, line.prompt_id),
    )
    fields: dict[str, Any] = {
        "kind": "responses",
        "data": "answers.jsonl (sha256 0123456789ab)",
        "scores": score_long_form(
            counted, ks, abstention=abstention, rng=np.random.default_rng(0), resamples=resamples
        ),
        "curve": f1_curve(counted, abstention=abstention),
        "responses": tuple(lines),
        "usage": Usage(),
        "fingerprint": made_by or fingerprint(),
        "created_at": WHEN,
    }
    return RunSummary(**{**fields, **changes})


def compared(
    responses: Sequence[JudgedResponse], name: str = "runs/a", *, system: str | None = None, **summary: Any
) -> ComparedRun:
    return ComparedRun(name, summary_of(responses, **summary), responses, system)


def write_run(folder: Path, responses: Sequence[JudgedResponse], **summary: Any) -> Path:
    folder.mkdir(parents=True)
    (folder / "run.json").write_text("{}", encoding="utf-8")
    (folder / "summary.json").write_text(to_json(summary_of(responses, **summary)), encoding="utf-8")
    lines = "".join(f"{one.model_dump_json()}\n" for one in responses)
    (folder / "reports.jsonl").write_text(lines, encoding="utf-8")
    return folder
