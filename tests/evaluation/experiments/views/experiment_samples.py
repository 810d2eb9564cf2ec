from __future__ import annotations

from functools import cache

from factloop.core.records import Verdict
from factloop.evaluation.experiments.assess import assess
from factloop.evaluation.experiments.records import ExperimentReport
from tests.evaluation.experiments.sample import (
    WHEN,
    Judge,
    claim,
    evidence,
    fingerprint,
    judgement,
    make_response_results,
    make_results,
    results_of,
    usage,
    variant,
)
from tests.reports.sample import HOSTILE

HOSTILE_TEXT = (
    f'=1+1"><script>alert(1)</script><b onmouseover="x">{{{{ 7 * 7 }}}}[bold]{HOSTILE}\x1b[2J\u202e\r\n</ins>'
)


@cache
def ordinary() -> ExperimentReport:
    return assess(make_results(120), resamples=300, created_at=WHEN)


@cache
def of_responses() -> ExperimentReport:
    return assess(make_response_results(24), resamples=100)


@cache
def of_one_variant() -> ExperimentReport:
    return assess(make_results(9, judges={"packaged": Judge(irrelevant=0.3, cost_usd=None)}), resamples=100)


@cache
def of_nothing() -> ExperimentReport:
    return assess(results_of([]))


@cache
def hostile() -> ExperimentReport:
    """Every text from a file, a model or a setting tries to break out of its place."""
    claims = []
    for name, verdict in (("packaged", Verdict.SUPPORTED), ("strict", Verdict.NOT_SUPPORTED)):
        for number in range(8):
            one = claim(name, f"{number}{HOSTILE_TEXT}", verdict, gold=number % 2 == 0, group=HOSTILE_TEXT)
            update = {
                "claim": f"{HOSTILE_TEXT}{number}",
                "judgement": judgement(verdict, rationale=HOSTILE_TEXT, cited=("e1",)),
                "evidence": (evidence(HOSTILE_TEXT, source=f"javascript:{HOSTILE_TEXT}"),),
            }
            claims.append(one.model_copy(update=update))
    variants = tuple(
        variant(name, texts={HOSTILE_TEXT: f"{name}\n{HOSTILE_TEXT}"}).model_copy(
            update={
                "changes": {HOSTILE_TEXT: HOSTILE_TEXT},
                "fingerprint": fingerprint(name).model_copy(
                    update={"model": HOSTILE_TEXT + name, "search_tools": (HOSTILE_TEXT,)}
                ),
            }
        )
        for name in ("packaged", "strict")
    )
    stages = usage().model_copy(update={"stages": {HOSTILE_TEXT: usage()}})
    update = {"name": HOSTILE_TEXT, "data": HOSTILE_TEXT, "variants": variants, "paid": stages}
    return assess(results_of(claims).model_copy(update=update), resamples=100)
