"""A MixedQA run as one self-contained HTML page: nothing is loaded from elsewhere, and untrusted text stays text."""

from __future__ import annotations

import base64
import hashlib
from functools import cache
from importlib.resources import files
from itertools import groupby

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from factloop.evaluation.metrics.mixedqa import MixedQaResult, metric_name
from factloop.evaluation.metrics.mixedqa_published import SOURCE, SYSTEMS
from factloop.evaluation.reports import correlation_figures, figures
from factloop.evaluation.reports.correlation_figures import Axis
from factloop.evaluation.reports.mixedqa import group_title, shown_correlations, subject_note
from factloop.evaluation.reports.visible import visible

_HERE = "factloop.evaluation.reports"
PLOT_WIDTH = 260.0
"""Units of the plot from end to end, without the margin of the marks at its ends."""


def render_mixedqa_html(result: MixedQaResult) -> str:
    """The page: a forest plot for each system and for all, the paper's table, and what the run cost.

    Style stands inline and is named by hash in the content security policy; there is no script. Equal results give
    equal pages.
    """
    style = "".join(
        files(_HERE).joinpath("pages", name).read_text(encoding="utf-8") for name in ("base.css", "mixedqa.css")
    )
    names = (*(labels.system for labels in result.systems), None)
    papers = [result.paper(found.metric, found.system) for found in result.correlations]
    return (
        _environment()
        .get_template("mixedqa.html.j2")
        .render(
            result=result,
            groups=[(group_title(result, name), shown_correlations(result, name)) for name in names],
            axis=Axis.around((found.correlation for found in result.correlations), papers, PLOT_WIDTH),
            published=[(kind, list(rows)) for kind, rows in groupby(result.published, key=lambda row: row.kind)],
            subject_note=subject_note(result),
            style=Markup(style),
            style_hash=_csp_hash(style),
        )
    )


def _csp_hash(text: str) -> Markup:
    digest = hashlib.sha256(text.encode("utf-8")).digest()
    return Markup(f"'sha256-{base64.b64encode(digest).decode('ascii')}'")


@cache
def _environment() -> Environment:
    environment = Environment(
        loader=PackageLoader(_HERE, package_path="pages"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.filters.update(visible=visible, metric_name=metric_name)
    environment.globals.update(figures=figures, numbers=correlation_figures, SOURCE=SOURCE, SYSTEMS=SYSTEMS)
    return environment
