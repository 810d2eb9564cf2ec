from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import cache

from factloop.checking.views.shown import render_html
from factloop.core.records import FactualityReport, Verdict
from factloop.correction.views.html import render_correction_html
from factloop.evaluation.audit.views.shown import render_audit_html
from factloop.evaluation.cascades.views import render_cascade_html
from factloop.evaluation.comparing.views.shown import render_comparison_html
from factloop.evaluation.datasets.factscore import FactLabel
from factloop.evaluation.experiments.views.shown import render_experiment_html
from factloop.evaluation.labels.disagreements import draw_disagreements
from factloop.evaluation.labels.sheets import candidates_of, draw_claims
from factloop.evaluation.labels.views import render_disagreements_html, render_labels_html
from factloop.evaluation.mixedqa.scores import MixedQaResult
from factloop.evaluation.mixedqa.views import render_mixedqa_html
from factloop.evaluation.runs.records import JudgedResponse
from factloop.evaluation.runs.views.shown import render_run_html
from factloop.trust.views.html import render_long_form_html, render_trust_html
from tests.correction.views import correction_samples
from tests.evaluation.audit.views.audit_sample import bare_audit, hostile_audit, small_audit
from tests.evaluation.cascades import cascade_samples
from tests.evaluation.experiments.views import experiment_samples
from tests.evaluation.mixedqa.mixedqa_sample import fingerprint, respond, result_of, sample_result
from tests.evaluation.runs.views.run_samples import (
    empty_run,
    hostile_comparison,
    hostile_run,
    labelled_run,
    nothing_to_compare,
    plain_run,
    two_evaluators,
    two_systems,
)
from tests.reports.sample import HOSTILE, hostile_report, make_report, markdown_report, sample_report
from tests.trust.views.trust_sample import (
    firm,
    hostile_long_form,
    hostile_trust,
    long_form,
    long_form_of,
    mixed_run,
    trust_run,
    unscored_reports,
    wavering,
)


def hostile_mixedqa() -> MixedQaResult:
    """Every name from a file or a setting tries to break out of an attribute or an element."""
    name = f'"><script>alert(1)</script><b onmouseover="x">{HOSTILE}\x1b[2J\u202e'
    return result_of(
        [respond(n, name, n % 2, trust_bc=n % 2) for n in range(4)],
        data=name,
        warnings=(name,),
        fingerprint=fingerprint(subject_model=name, judge=name, corpus=name, factloop_version=name),
    )


def claims_to_label_of(report: FactualityReport) -> str:
    judged = JudgedResponse(id="ada", system="one", prompt_id="ada", report=report)
    drawn = draw_claims(candidates_of([judged]), 5, data=f"answers.jsonl {HOSTILE}", seed=0).drawn
    return render_labels_html(drawn, data=f"answers.jsonl {HOSTILE}")


def claims_to_settle_of(report: FactualityReport) -> str:
    """A page of claims on whose verdict people disagree."""
    claims = tuple(one.model_copy(update={"duplicate_of": None}) for one in report.claims)
    labels = {
        one.id: FactLabel.SUPPORTED if one.judgement.verdict is Verdict.NOT_SUPPORTED else FactLabel.NOT_SUPPORTED
        for one in claims
    }
    whole = report.model_copy(update={"claims": claims})
    judged = JudgedResponse(id="ada", system="one", prompt_id="ada", report=whole, labels=labels)
    found = draw_disagreements([judged], 5, seed=0, data=f"facts.jsonl {HOSTILE}", cost_usd=None)
    return render_disagreements_html(found.drawn, data=found.key.data)


MADE_BY: dict[str, Callable[[], str]] = {
    "fact-check": lambda: render_html(sample_report()),
    "fact-check without claims": lambda: render_html(make_report("I don't know.", ())),
    "fact-check without a prompt": lambda: render_html(make_report("", (), prompt=None)),
    "fact-check of Markdown": lambda: render_html(markdown_report()),
    "hostile fact-check": lambda: render_html(hostile_report()),
    "correction": lambda: render_correction_html(correction_samples.accepted()),
    "correction that was not taken": lambda: render_correction_html(correction_samples.not_taken()),
    "correction of nothing": lambda: render_correction_html(correction_samples.nothing_done()),
    "hostile correction": lambda: render_correction_html(correction_samples.hostile()),
    "consistent answer": lambda: render_trust_html(firm()),
    "answer": lambda: render_trust_html(wavering()),
    "hostile answer": lambda: render_trust_html(hostile_trust()),
    "run": lambda: render_trust_html(mixed_run()),
    "run without answers": lambda: render_trust_html(trust_run(())),
    "run without scores": lambda: render_trust_html(trust_run(unscored_reports())),
    "hostile run": lambda: render_trust_html(trust_run((hostile_trust(),))),
    "long form": lambda: render_long_form_html(long_form()),
    "long form without claims": lambda: render_long_form_html(long_form_of((), "")),
    "hostile long form": lambda: render_long_form_html(hostile_long_form()),
    "MixedQA": lambda: render_mixedqa_html(sample_result()),
    "MixedQA without responses": lambda: render_mixedqa_html(result_of([])),
    "hostile MixedQA": lambda: render_mixedqa_html(hostile_mixedqa()),
    "audit": lambda: render_audit_html(small_audit()),
    "audit of one claim": lambda: render_audit_html(bare_audit()),
    "hostile audit": lambda: render_audit_html(hostile_audit(), most_drawn=0),
    "run over a data set": lambda: render_run_html(labelled_run()),
    "plain run over a data set": lambda: render_run_html(plain_run()),
    "empty run over a data set": lambda: render_run_html(empty_run()),
    "hostile run over a data set": lambda: render_run_html(hostile_run()),
    "comparison of evaluators": lambda: render_comparison_html(two_evaluators()),
    "comparison of systems": lambda: render_comparison_html(two_systems()),
    "comparison of nothing": lambda: render_comparison_html(nothing_to_compare()),
    "hostile comparison": lambda: render_comparison_html(hostile_comparison()),
    "experiment": lambda: render_experiment_html(experiment_samples.ordinary()),
    "experiment on responses": lambda: render_experiment_html(experiment_samples.of_responses()),
    "experiment with one variant": lambda: render_experiment_html(experiment_samples.of_one_variant()),
    "experiment without results": lambda: render_experiment_html(experiment_samples.of_nothing()),
    "hostile experiment": lambda: render_experiment_html(experiment_samples.hostile()),
    "claims to label": lambda: claims_to_label_of(sample_report()),
    "hostile claims to label": lambda: claims_to_label_of(hostile_report()),
    "disagreements to settle": lambda: claims_to_settle_of(sample_report()),
    "hostile disagreements to settle": lambda: claims_to_settle_of(hostile_report()),
    "cascade": lambda: render_cascade_html(cascade_samples.tuned_cascade()),
    "cascade set by hand": lambda: render_cascade_html(cascade_samples.set_by_hand()),
    "hostile cascade": lambda: render_cascade_html(cascade_samples.hostile_cascade()),
}


@cache
def _made(name: str) -> str:
    return MADE_BY[name]()


class _Pages(Mapping[str, str]):
    """Each page by its name, rendered when first used, since some have many pictures."""

    def __getitem__(self, name: str) -> str:
        return _made(name)

    def __iter__(self) -> Iterator[str]:
        return iter(MADE_BY)

    def __len__(self) -> int:
        return len(MADE_BY)


PAGES = _Pages()
