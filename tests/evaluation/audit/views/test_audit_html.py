from __future__ import annotations

import base64
import csv
import gzip
import io
import random
from functools import cache
from typing import Any

import lxml.html
import pytest

from factloop.core.figure import Undefined
from factloop.evaluation.audit.advice import Leave
from factloop.evaluation.audit.estimate import AuditFigure, Group
from factloop.evaluation.audit.report import AuditReport
from factloop.evaluation.audit.views.csv import csv_files
from factloop.evaluation.audit.views.html import groups_of, render_audit_html
from factloop.evaluation.audit.views.scope import estimate_cell, percent
from factloop.evaluation.audit.views.words import LEAVES
from factloop.reports.sheet.table import Cell
from factloop.reports.visible import visible
from tests.evaluation.audit.views.audit_sample import (
    HOSTILE_NAMES,
    bare_audit,
    hostile_audit,
    sample_audit,
    small_audit,
)

AUDITS = {"sample": sample_audit, "hostile": hostile_audit, "bare": bare_audit}


@cache
def page_of(name: str) -> str:
    return render_audit_html(AUDITS[name](), most_drawn=1)


@cache
def tree_of(name: str) -> Any:
    return lxml.html.document_fromstring(page_of(name))


def text(element: Any) -> str:
    return " ".join(element.text_content().split())


def files_of(name: str) -> dict[str, str]:
    """The files behind the links of the page, by the name under which each would be saved."""
    found = {}
    for link in tree_of(name).xpath("//a[@download]"):
        kind, held = link.get("href").split(";base64,")
        data = base64.b64decode(held)
        is_packed = kind == "data:application/gzip"
        assert link.get("download").endswith(".gz") == is_packed
        found[link.get("download").removesuffix(".gz")] = (gzip.decompress(data) if is_packed else data).decode()
    return found


def test_a_file_too_large_for_a_link_is_named_without_one() -> None:
    """Browsers follow no address of more than two million characters."""
    report = bare_audit()
    noise = random.Random(0).randbytes(1_000_000).hex()  # packed to a half, written as base64: 1.5 million characters
    data = report.data.model_copy(update={"name": noise * 2 + noise[::-1]})
    tree: Any = lxml.html.document_fromstring(render_audit_html(report.model_copy(update={"data": data}), most_drawn=0))
    addresses = [link.get("href") for link in tree.xpath("//a[@download]")]
    assert addresses
    assert max(map(len, addresses)) < 2_000_000
    assert "audit.json: too large for a page, see --json, 6,0" in text(tree.xpath("//*[@class='files']")[0])


@pytest.mark.parametrize("name", AUDITS)
def test_the_page_holds_the_whole_report(name: str) -> None:
    held = files_of(name)
    assert AuditReport.model_validate_json(held["audit.json"]) == AUDITS[name]()
    assert {f"{key}.csv": text for key, text in csv_files(AUDITS[name]()).items()} == {
        key: text for key, text in held.items() if key.endswith(".csv")
    }


@pytest.mark.parametrize("name", AUDITS)
def test_every_inner_link_and_label_arrives(name: str) -> None:
    tree = tree_of(name)
    ids = tree.xpath("//@id")
    assert len(ids) == len(set(ids))
    links = {link[1:] for link in tree.xpath("//a/@href") if link.startswith("#")}
    assert links <= set(ids)
    assert set(tree.xpath("//@aria-labelledby")) <= set(ids)
    assert {reference[1:] for reference in tree.xpath("//use/@*") if reference.startswith("#")} <= set(ids)


def test_each_group_gets_the_advice_and_says_why() -> None:
    """Leave stands in words and as a sign, not in colour alone."""
    report, tree = sample_audit(), tree_of("sample")
    groups = groups_of(report.data)
    assert [(one.kind, one.name) for one in groups] == [
        ("all", ""),
        ("task", "summaries"),
        ("dataset", "minutes"),
        ("dataset", "news"),
        ("dataset", "questions"),
    ]
    sections = tree.xpath("//section[@class='scope']")
    assert len(sections) == len(groups)
    for section, group in zip(sections, groups, strict=True):
        given = [one for one in report.advice if one.group == group]
        articles = section.xpath(".//article")
        assert [text(article.find("h4")) for article in articles] == [one.evaluator for one in given]
        for article, one in zip(articles, given, strict=True):
            lines = [text(line) for line in article.findall(".//li")]
            signs = {leave: f"{sign} {words}" for leave, (words, sign, _) in LEAVES.items()}
            assert lines == [f"{signs[each.leave]} {each.sentence}" for each in one.advice]


def test_a_group_of_one_data_set_is_not_shown_twice() -> None:
    titles = [text(one) for one in tree_of("sample").xpath("//section[@class='scope']/h2")]
    assert titles[-1] == "Data set: questions (the only one of task group answers)"
    assert titles[2] == "Data set: minutes (task group summaries)"
    assert "Task group: answers" not in titles


def test_the_tables_say_what_the_report_says() -> None:
    """The first line of each open table, worked from the record."""
    report, tree = sample_audit(), tree_of("sample")
    at, everything = report.at[0], Group(kind="all")
    rates = at.rates.find("strict", everything)
    balanced = rates.balanced_accuracy
    assert balanced.value is not None
    assert balanced.low is not None
    assert balanced.high is not None
    (row, *_) = tree.xpath("//section[@aria-labelledby='rates-0-0']//tbody/tr")
    cells = [text(cell) for cell in row]
    interval = f" [{100 * balanced.low:.1f}, {100 * balanced.high:.1f}] n {balanced.n} claims"
    assert cells[:3] == ["strict", "claims", f"{100 * balanced.value:.1f}{interval}"]
    n, of_each = rates.n_attributable + rates.n_unattributable, (rates.n_attributable, rates.n_unattributable)
    assert cells[-1] == "{} {} right, {} wrong by label".format(n, *of_each)
    (row, *_) = tree.xpath("//section[@aria-labelledby='ranking-2-0']//tbody/tr")
    ranking = next(one for one in at.rankings if one.dataset == "minutes")
    assert text(row[2]) == f"{100 * ranking.n_wrong / 6:.1f} {ranking.n_wrong} of 6 pairs"  # 4 systems make 6 pairs


def test_undefined_figures_say_why() -> None:
    tree = tree_of("bare")
    said = {text(cell) for cell in tree.xpath("//td[@class='undefined']/span")}
    assert "undefined: none labelled wrong" in said
    assert "undefined: one system" in said
    assert "undefined: fewer than two systems" in said
    assert [text(one) for one in tree.xpath("//ul[@aria-label='Left out']/li")] == list(bare_audit().left_out)
    assert {text(one) for one in tree.xpath("//td//span[contains(@class, 'verdict')]")} == {LEAVES[Leave.UNKNOWN][0]}


def test_both_thresholds_stand_on_the_page_and_tables_without_pictures_say_so() -> None:
    tree = tree_of("sample")
    sections = tree.xpath("//section[@class='scope']")
    assert len(sections) == 5
    for section in sections:
        first, second = section.xpath("./div[@class='at']")
        assert text(first.find("p")) == "At a threshold of 0.5"
        assert text(second.find("p")) == "At a threshold of 0.7"
        titles = [text(one) for one in first.xpath(".//h3")]
        has_several = int(section.get("data-group")) < 2  # all, and the task group of two data sets
        assert len(titles) == (12 if has_several else 9)
        assert [text(one) for one in second.xpath(".//h3")] == titles
        is_first = section.get("data-group") == "0"
        for block in (first, second):
            assert len(block.xpath(".//svg")) == (11 if is_first else 0)
            assert ("Tables alone" in text(block)) == (not is_first)


def test_hostile_names_stay_text() -> None:
    page, tree = page_of("hostile"), tree_of("hostile")
    assert not set(page) & set("\x1b\x00\u202e")
    assert len(tree.xpath("//script")) == 1
    assert not tree.xpath("//@onload | //@style")
    shown = {one.text_content() for one in tree.xpath("//th/bdi | //td/bdi")}
    for name in HOSTILE_NAMES:
        assert visible(name) in shown


def test_equal_reports_give_equal_pages() -> None:
    """Also where one was read back from JSON; `tests.reports.test_page` makes every page twice."""
    report = small_audit()
    copy = AuditReport.model_validate_json(report.model_dump_json())
    assert render_audit_html(copy, most_drawn=1) == render_audit_html(report, most_drawn=1)


def test_the_csv_has_every_digit_and_no_formula() -> None:
    report = hostile_audit()
    rows = list(csv.DictReader(io.StringIO(csv_files(report)["rates"])))
    first = report.at[0].rates.rates[0]
    assert len(rows) == len(report.at[0].rates.rates)
    assert rows[0]["tpr.value"] == ("" if first.tpr.value is None else repr(first.tpr.value))
    assert rows[0]["group.kind"] == first.group.kind
    names = {row["evaluator"] for row in rows}
    assert "'=HYPERLINK(1)" in names
    assert not {name for name in names if name.startswith(("=", "+", "-", "@"))}
    gaps = [float(row["gap.value"]) for row in rows if row["gap.value"]]
    assert min(gaps) < 0  # a negative number stays one


def test_the_csv_of_parts_has_a_row_for_each() -> None:
    report = sample_audit()
    held = {name: list(csv.DictReader(io.StringIO(text))) for name, text in csv_files(report).items()}
    n_tables = sum(len(one.cells) for at in report.at for one in at.rankings)
    assert (
        len(held["order_tables"]) == n_tables == 9 * 2 * 2 * 3 * 3
    )  # cells, thresholds, levels, data sets, evaluators
    assert len(held["calibrations"]) == 2 * 3 * 3 * 4 * 4  # thresholds, data sets, evaluators, systems, methods
    assert {row["threshold"] for row in held["rates"]} == {"0.5", "0.7"}


@pytest.mark.parametrize(
    ("estimate", "cell"),
    [
        (
            AuditFigure(value=0.705, n=1200, n_clusters=3, low=0.6, high=0.8),
            Cell("70.5", "[60.0, 80.0]", "n 1,200 claims", value=0.705, interval=(0.6, 0.8), n=1200),
        ),
        (AuditFigure(value=-0.0004, n=5, n_clusters=1), Cell("0.0", "", "n 5 claims", value=-0.0004, n=5)),
        (
            AuditFigure(value=1.0, n=5, n_clusters=1, n_datasets=2, n_datasets_undefined=1),
            Cell("100.0", "", "n 5 claims, undefined on 1 data set", value=1.0, n=5),
        ),
        (
            AuditFigure(value=None, undefined=Undefined.ONE_SYSTEM, n=5, n_clusters=1),
            Cell("–", "", "n 5 claims", why="one system", n=5),
        ),
    ],
)
def test_an_estimate_says_what_it_rests_on(estimate: AuditFigure, cell: Cell) -> None:
    assert estimate_cell(estimate, "claim") == cell


def test_nothing_is_negative_zero() -> None:
    assert percent(0.0) == "0.0"
    assert percent(-0.0) == "0.0"
