"""The kinds of report that the service shows; those of the evaluation package if it is installed."""

from __future__ import annotations

from importlib.util import find_spec

from factloop.agents.trustscore.records import LongFormTrustReport, TrustReport, TrustRun
from factloop.core.records import FactualityReport
from factloop.reports.figures import plural
from factloop.service.result_kind import ResultKind

HAS_EVALUATION = find_spec("factloop.evaluation") is not None


def _render_trust(run: TrustReport | TrustRun) -> str:
    from factloop.trust.views.html import render_trust_html

    return render_trust_html(run)


def _render_long_form(report: LongFormTrustReport) -> str:
    from factloop.trust.views.long_form_html import render_long_form_html

    return render_long_form_html(report)


def _render_check(report: FactualityReport) -> str:
    from factloop.checking.views.html import render_html

    return render_html(report)


def _check_words(report: FactualityReport) -> str:
    share = "undefined" if report.precision is None else f"{report.precision:.3f}"
    return f"precision {share} over {plural(report.counts.scored, 'scored claim')}"


def _evaluation_kinds() -> tuple[ResultKind, ...]:
    if not HAS_EVALUATION:
        return ()
    from factloop.service.evaluation_kinds import EVALUATION_KINDS

    return EVALUATION_KINDS


KINDS = (
    *_evaluation_kinds(),
    ResultKind(
        "trust",
        TrustRun,
        _render_trust,
        lambda run: plural(len(run.reports), "answer"),
        lambda run: f"TrustScore of {plural(len(run.reports), 'answer')}",
    ),
    ResultKind(
        "trust", TrustReport, _render_trust, lambda one: one.question, lambda _: "TrustScore of one answer", is_job=True
    ),
    ResultKind(
        "long_form",
        LongFormTrustReport,
        _render_long_form,
        lambda report: report.factuality.prompt or report.factuality.response,
        lambda report: f"TrustScore of {plural(len(report.claims), 'claim')} of a long answer",
        is_job=True,
    ),
    ResultKind(
        "check",
        FactualityReport,
        _render_check,
        lambda report: report.prompt or report.response,
        _check_words,
        is_job=True,
    ),
)
"""All kinds, in the order in which they are tried."""
