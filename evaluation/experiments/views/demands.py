"""What was demanded of an experiment, for continuous integration: as JUnit, and as Markdown for a pull request."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from html import escape
from urllib.parse import quote
from xml.etree.ElementTree import Element, SubElement, tostring

from factloop.core.errors import ConfigError
from factloop.evaluation.comparing.records import DemandResult
from factloop.evaluation.experiments.records import ExperimentReport
from factloop.evaluation.experiments.views.sheets import title_of
from factloop.reports.visible import visible


def demands_view(file: str) -> Callable[[ExperimentReport, str | None], str]:
    """What renders a report, with a link to its page, as the ending of a file asks for. Raises ConfigError."""
    for ending, view in ((".xml", render_junit), (".md", render_markdown)):
        if file.endswith(ending):
            return view
    raise ConfigError(f"--out {file}: name a file in .xml (JUnit) or in .md (Markdown)")


def _name(one: DemandResult) -> str:
    return f"{one.second}: {one.demand or one.metric}"


def _legal(text: str) -> str:
    """The text without the characters that XML forbids."""
    return visible(text).translate(dict.fromkeys((0xFFFE, 0xFFFF)))


def render_junit(report: ExperimentReport, page: str | None = None) -> str:
    """A test case for each demand, with the claims by which it failed."""
    n_missed = sum(not one.is_met for one in report.demands)
    name = _legal(report.name)
    suite = Element("testsuite", name=name, tests=str(len(report.demands)), failures=str(n_missed))
    for one in report.demands:
        case = SubElement(suite, "testcase", classname=name, name=_legal(_name(one)))
        if one.is_met:
            SubElement(case, "system-out").text = _legal(one.said)
        else:
            failure = SubElement(case, "failure", message=_legal(one.words))
            failure.text = "\n".join([_legal(said) for said in (*one.claims, *([page] if page else []))])
    return tostring(suite, encoding="unicode", xml_declaration=True) + "\n"


def render_markdown(report: ExperimentReport, page: str | None = None) -> str:
    """The conclusions and the demands, those that are not met with their claims, and a link to the page."""
    return "\n".join(_lines(report, page)) + "\n"


def _lines(report: ExperimentReport, page: str | None) -> Iterator[str]:
    yield f"### {_plain(title_of(report))}\n"
    yield from (f"- {_plain(one.words)}" for one in report.conclusions)
    for one in report.demands:
        yield f"\n{'✅' if one.is_met else '❌'} **{_plain(_name(one))}** {_plain(one.said)}"
        yield from (f"- {_plain(claim)}" for claim in one.claims)
    if page:
        yield f"\n[The whole report]({quote(page)})"


def _plain(text: str) -> str:
    """The text in one line, of which nothing is markup."""
    marked = escape(" ".join(visible(text).split()), quote=False)
    return "".join(f"\\{one}" if one in "\\`*_[]|" else one for one in marked)
