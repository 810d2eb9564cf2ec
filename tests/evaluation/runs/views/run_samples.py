from __future__ import annotations

import random
from collections.abc import Sequence

import numpy as np

from factloop.evaluation.comparing.compare import compare
from factloop.evaluation.comparing.records import Comparison
from factloop.evaluation.debiasing.records import Transfer
from factloop.evaluation.runs.calibration import calibrated
from factloop.evaluation.runs.label_agreement import TabledResponse, agree_with_labels, table_of
from factloop.evaluation.runs.labelled import CalibrationSample
from factloop.evaluation.runs.longform import AbstentionPolicy, CountedResponse, score_long_form
from factloop.evaluation.runs.records import JudgedResponse, RunSummary
from tests.evaluation.runs.finished_runs import WHEN, compared, fingerprint, judged, summary_of
from tests.reports.sample import HOSTILE

SYSTEMS = (("gpt-4o-mini", 0.8), ("llama-3-8b", 0.6), ("mistral-7b", 0.7))
OTHER = fingerprint(model="openai:gpt-4o", search_tools=("serper",))
BAD = f'"><script>alert(1)</script><b onmouseover="x">$x$ {HOSTILE}\x1b[2J\u202e=1+1'


def responses(n_prompts: int = 12, *, seed: int = 0, turned: float = 0.0) -> list[JudgedResponse]:
    """The same responses and labels for one seed, of whose verdicts a share is turned; the last prompt is abstained."""
    rng, other = random.Random(seed), random.Random(seed + 1)
    found = []
    for number in range(n_prompts):
        for system, share in SYSTEMS:
            n_claims = 0 if number == n_prompts - 1 else rng.randint(1, 40)
            verdicts = rng.choices("sni?", [share, 1 - share, 0.1, 0.05], k=n_claims)
            labels = "".join(one.upper() if one in "sni" and rng.random() < 0.8 else "N" for one in verdicts)
            said = "".join(other.choice("sn") if other.random() < turned else one for one in verdicts)
            made_by = OTHER if turned else None
            found.append(judged(f"longfact-{number:03}", said, system=system, labels=labels, made_by=made_by))
    return found


def labelled_run(given: Sequence[JudgedResponse] | None = None) -> RunSummary:
    """A run with labels, F1@K by labels, and debiased by 27 labelled claims, of which six are judged wrongly."""
    given = responses() if given is None else given
    tables = [TabledResponse(one.system, one.prompt_id, table_of(one.report.claims, one.labels)) for one in given]
    by_labels = [CountedResponse(system=t.system, prompt_id=t.prompt_id, counts=t.table.labels) for t in tables]
    rng = np.random.default_rng(0)
    summary = summary_of(
        given,
        ks=(8, 64),
        kind="factscore",
        agreement=agree_with_labels(tables, rng=rng, resamples=50),
        labelled=score_long_form(by_labels, (8, 64), abstention=AbstentionPolicy.ZERO, rng=rng, resamples=50),
        warnings=("3 claims have no verdict.",),
    )
    verdicts = (1,) * 14 + (0,) * 4 + (1,) * 2 + (0,) * 6 + (None,)
    sample = CalibrationSample(data="people.jsonl", labels=(1,) * 18 + (0,) * 9, verdicts=verdicts)
    return calibrated(summary, sample, transfer=Transfer.VERDICTS)


def plain_run() -> RunSummary:
    return summary_of([one for one in responses() if one.system == "mistral-7b"], ks=(64,))


def empty_run() -> RunSummary:
    return summary_of([])


def hostile_run() -> RunSummary:
    made_by = fingerprint(model=BAD, base_url=BAD, prompts={BAD: BAD}, search_tools=(BAD,), factloop_version=BAD)
    given = [judged(f"{BAD}{n}", "sn", system=f"{BAD}{n % 2}", labels="SN") for n in range(4)]
    summary = labelled_run(given)
    changed = {"data": BAD, "warnings": (BAD,), "fingerprint": made_by}
    return summary.model_copy(update=changed)


def dated(comparison: Comparison) -> Comparison:
    return comparison.model_copy(update={"created_at": WHEN})


def two_evaluators() -> Comparison:
    a, b = responses(), responses(turned=0.2)[:-3]
    return dated(compare(compared(a, ks=(8, 64)), compared(b, "runs/b", ks=(8, 64), made_by=OTHER), resamples=200))


def two_systems() -> Comparison:
    given = responses()
    return dated(
        compare(compared(given, system="llama-3-8b"), compared(given, "runs/b", system="mistral-7b"), resamples=200)
    )


def nothing_to_compare() -> Comparison:
    return dated(compare(compared([judged("p", "??")]), compared([judged("p", "", system="two")], "runs/b")))


def hostile_comparison() -> Comparison:
    made_by = fingerprint(model=BAD, prompts={BAD: BAD})
    texts = [BAD, "x"]
    a = [judged(f"{BAD}{n}", "ss", system=BAD, texts=texts, labels="SN") for n in range(3)]
    b = [judged(f"{BAD}{n}", "nn", system=BAD, texts=texts, made_by=made_by) for n in range(3)]
    c = judged(f"{BAD}9", "s", system=BAD)
    return dated(compare(compared([*a, c], BAD, data=BAD), compared(b, BAD, data=BAD, made_by=made_by), resamples=50))
