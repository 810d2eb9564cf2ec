"""The kinds of report that the service shows; those of the evaluation package if it is installed."""

from __future__ import annotations

from collections.abc import Iterator
from importlib.util import find_spec

from factloop.agents.trustscore.records import LongFormTrustReport, TrustReport, TrustRun
from factloop.checking.views.html import render_html
from factloop.core.records import FactualityReport
from factloop.reports.figures import plural, precision, precision_basis
from factloop.service.result_kind import ResultKind
from factloop.service.shapes import HeadlineFigure
from factloop.trust.views.html import render_trust_html
from factloop.trust.views.long_form_html import render_long_form_html

HAS_EVALUATION = find_spec("factloop.evaluation") is not None


def _check_words(report: FactualityReport) -> str:
    share = "undefined" if report.precision is None else f"{report.precision:.3f}"
    return f"precision {share} over {plural(report.counts.scored, 'scored claim')}"


def _figures_of_check(report: FactualityReport) -> Iterator[HeadlineFigure]:
    yield HeadlineFigure(name="Precision", value=precision(report), basis=precision_basis(report))


def _figures_of_score(report: TrustReport) -> Iterator[HeadlineFigure]:
    score = report.trust_ov
    value = "–" if score.value is None else f"{score.value:.2f}"
    yield HeadlineFigure(name="TrustOV", value=value, basis=f"no value: {score.missing}" if score.missing else "")


def _figures_of_run(run: TrustRun) -> Iterator[HeadlineFigure]:
    summary = run.summary
    for name, score in (("TrustOV", summary.trust_ov), ("TrustBC", summary.trust_bc), ("TrustFC", summary.trust_fc)):
        value = "–" if score.mean is None else f"{score.mean:.2f}"
        basis = f"mean of {plural(score.n_scored, 'answer')}, {score.n_unscored:,} unscored"
        yield HeadlineFigure(name=name, value=value, basis=basis)


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
        render_trust_html,
        lambda run: plural(len(run.reports), "answer"),
        lambda run: f"TrustScore of {plural(len(run.reports), 'answer')}",
        _figures_of_run,
    ),
    ResultKind(
        "trust",
        TrustReport,
        render_trust_html,
        lambda one: one.question,
        lambda _: "TrustScore of one answer",
        _figures_of_score,
        is_job=True,
    ),
    ResultKind(
        "long_form",
        LongFormTrustReport,
        render_long_form_html,
        lambda report: report.factuality.prompt or report.factuality.response,
        lambda report: f"TrustScore of {plural(len(report.claims), 'claim')} of a long answer",
        lambda report: _figures_of_check(report.factuality),
        is_job=True,
    ),
    ResultKind(
        "check",
        FactualityReport,
        render_html,
        lambda report: report.prompt or report.response,
        _check_words,
        _figures_of_check,
        is_job=True,
    ),
)
"""All kinds, in the order in which they are tried."""
