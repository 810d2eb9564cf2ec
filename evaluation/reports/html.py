"""A report as one self-contained HTML page: nothing is loaded from elsewhere, and untrusted text stays text."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Mapping
from functools import cache
from importlib.resources import files

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from factloop.evaluation.reports import figures
from factloop.evaluation.reports.segments import Segment, segments
from factloop.evaluation.reports.status import (
    READING_ORDER,
    REASON_WORDS,
    status_of,
    status_words,
    tally,
    tally_reasons,
    worst,
)
from factloop.evaluation.reports.visible import direction, visible, web_address
from factloop.records import Claim, Evidence, FactualityReport

_HERE = "factloop.evaluation.reports"

_USAGE_COLUMNS = (
    "Stage",
    "Calls",
    "Failed",
    "Cache hits",
    "Prompt tokens",
    "Completion tokens",
    "Searches",
    "Cost",
    "Time",
)


def render_html(report: FactualityReport) -> str:
    """The page. Style and script stand inline and are named by hash in its content security policy.

    Equal reports give equal pages: no clock, no environment. Takes time linear in the report.
    """
    style, script = _read("base.css"), _read("list.js")
    numbers = {claim.id: number for number, claim in enumerate(report.claims, 1)}
    parts = segments(report)
    return (
        _environment()
        .get_template("fact_check.html.j2")
        .render(
            report=report,
            style=Markup(style),
            script=Markup(script),
            style_hash=_csp_hash(style),
            script_hash=_csp_hash(script),
            segments=parts,
            numbers=numbers,
            homes={claim.id: numbers[part.claims[0].id] for part in parts for claim in part.claims},
            counts=tally(report.claims),
            reasons=tally_reasons(report.claims),
        )
    )


def _read(name: str) -> str:
    return files(_HERE).joinpath("pages", name).read_text(encoding="utf-8")


def _csp_hash(text: str) -> str:
    digest = hashlib.sha256(text.encode("utf-8")).digest()
    return f"'sha256-{base64.b64encode(digest).decode('ascii')}'"


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
    environment.filters.update(
        visible=visible,
        direction=direction,
        web_address=web_address,
        status=status_of,
        status_words=status_words,
        filter_keys=_filter_keys,
        worst=worst,
        claim_names=_claim_names,
        cited_first=_cited_first,
    )
    environment.globals.update(
        figures=figures, READING_ORDER=READING_ORDER, REASON_WORDS=REASON_WORDS, USAGE_COLUMNS=_USAGE_COLUMNS
    )
    return environment


def _filter_keys(claim: Claim) -> str:
    """The filters that show this claim, apart by spaces."""
    reason = claim.judgement.unscored_reason
    status = status_of(claim).value
    return status if reason is None else f"{status} {reason.value}"


def _claim_names(segment: Segment, numbers: Mapping[str, int]) -> str:
    """`claim 3`, or `claims 3, 4`."""
    named = ", ".join(str(numbers[claim.id]) for claim in segment.claims)
    return f"claim {named}" if len(segment.claims) == 1 else f"claims {named}"


def _cited_first(claim: Claim) -> list[Evidence]:
    """The evidence with what the judgement cites in front, each part in the order found."""
    return sorted(claim.evidence, key=lambda item: item.id not in claim.judgement.cited)
