"""A MixedQA run as one self-contained HTML page: TrustScores against human labels, drawn beside the paper."""

from __future__ import annotations

from itertools import groupby

from factloop.evaluation.mixedqa.published import SOURCE, SYSTEMS
from factloop.evaluation.mixedqa.scores import MetricCorrelation, MixedQaResult, ReferenceCorrelation
from factloop.evaluation.mixedqa.views import correlation_figures
from factloop.evaluation.mixedqa.views.correlation_figures import Axis
from factloop.evaluation.mixedqa.views.sheets import correlations, gains, shown_correlations, table_one
from factloop.evaluation.mixedqa.views.terminal import subject_note
from factloop.reports.page import render_page


def render_mixedqa_html(result: MixedQaResult) -> str:
    """The page: a forest plot for each system and for all, the paper's table, and what the run cost.

    Equal results give equal pages.
    """
    names = (*(labels.system for labels in result.systems), None)
    everything: tuple[MetricCorrelation | ReferenceCorrelation, ...] = (*result.correlations, *result.reference)
    papers = [result.paper(found.name, found.system) for found in everything]
    return render_page(
        "mixedqa.html.j2",
        room="factloop.evaluation.mixedqa.views",
        styles=("run.css", "mixedqa.css"),
        result=result,
        table_one=table_one(result) if len(result.systems) > 1 else None,
        gains=gains(result) if result.gains else None,
        groups=[(correlations(result, name), shown_correlations(result, name)) for name in names],
        axis=Axis.around((found.correlation for found in everything), papers),
        published=[(kind, list(rows)) for kind, rows in groupby(result.published, key=lambda row: row.kind)],
        method=correlation_figures.method_name(found.correlation for found in everything),
        resampling=correlation_figures.resampling(found.correlation for found in everything),
        subject_note=subject_note(result),
        correlations=correlation_figures,
        source=SOURCE,
        systems=SYSTEMS,
    )
