from __future__ import annotations

import csv
import io
from functools import cache
from typing import Any

import lxml.html
import pytest
from lxml import etree
from markupsafe import Markup

from factloop.evaluation.audit.figures import Group
from factloop.evaluation.audit.report import AuditAt, AuditReport
from factloop.evaluation.audit.views.pictures import LONGEST_NAME, MARKERS, Mark, short
from factloop.evaluation.audit.views.shown import marks_of, render_audit_html
from factloop.evaluation.audit.views.tables import SECTIONS, csv_files, groups_of, scope_of, sections_of
from factloop.reports.pictures import SERIES
from factloop.reports.sheet.table import Sheet
from tests.evaluation.audit.audit_sample import audited
from tests.evaluation.audit.prediction_rows import Row
from tests.evaluation.audit.random_tables import find_pair
from tests.evaluation.audit.views.audit_sample import bare_audit, hostile_audit, sample_audit
from tests.evaluation.held_files import held_files

ALL = Group(kind="all")
AUDITS = {"sample": sample_audit, "hostile": hostile_audit, "bare": bare_audit}


def sheets_of(report: AuditReport, group: Group, key: str) -> list[Sheet]:
    scope = scope_of(report.at[0], group, report.data)
    return [sheet for section in sections_of(scope) if section.key == key for sheet in section.sheets(scope)]


def texts_of(sheet: Sheet) -> list[list[str]]:
    return [[cell.text for cell in line.cells] for line in sheet.lines]


@cache
def page_of(name: str) -> str:
    return render_audit_html(AUDITS[name](), most_drawn=1)


@cache
def tree_of(name: str) -> Any:
    return lxml.html.document_fromstring(page_of(name))


def text(element: Any) -> str:
    return " ".join(element.text_content().split())


def made(system: str, marks: str, n: int) -> list[Row]:
    return [
        Row(int(mark[0]), {"judge": float(mark[1])}, system, f"{system}{place}")
        for place in range(n)
        for mark in marks.split()
    ]


def test_the_tables_have_the_figures_worked_by_hand() -> None:
    """Of 40 claims that hold 30 pass, of 40 that do not 10 do. Both systems err in half their claims; a is taken to err
    in three of four, and b in one of four."""
    report = audited([*made("a", "11 10 00 00", 10), *made("b", "11 11 01 00", 10)], resamples=0)
    here = groups_of(report.data)[0]
    (rates,) = sheets_of(report, here, "rates")
    assert texts_of(rates)[0] == ["judge", "claims", "75.0", "75.0", "75.0", "0.0", "25.0", "25.0", "40", "40", "0"]
    assert rates.lines[1].cells[3].why == "none is labelled right"
    bias, systems = sheets_of(report, here, "bias")
    assert texts_of(bias)[0] == ["judge", "claims", "25.0", "25.0", "a", "2"]
    assert texts_of(systems)[:2] == [
        ["judge", "claims", "a", "50.0", "75.0", "25.0", "0"],
        ["judge", "claims", "b", "50.0", "25.0", "-25.0", "0"],
    ]
    headroom = sheets_of(report, here, "headroom")[0]
    assert texts_of(headroom)[0] == ["judge", "claims", "50.0", "25.0", "-25.0", "25.0"]
    order = sheets_of(report, here, "ranking")[0]  # 20 of 40 against 20 of 40; 30 of 40 against 10 of 40
    assert texts_of(order)[0][:4] == ["judge", "claims", "100.0", "0.0"]
    (agreement,) = sheets_of(report, here, "agreement")
    assert texts_of(agreement) == [["judge", "the labels", "60.0", "60.0", "0"]]
    adjusted = texts_of(sheets_of(report, here, "adjustment")[0])
    # without: 25 points either way; zero bias: no score between 0 and 1
    assert [row[1:3] for row in adjusted] == [
        ["unadjusted", "25.0"],
        ["adjusted counts", "50.0"],
        ["threshold tuned to zero bias", "–"],
        ["threshold tuned to balanced accuracy", "–"],
    ]


def test_weights_are_told_in_titles() -> None:
    rows = [Row(n % 2, {"e": 0.9}, "ab"[n // 2], f"r{n}", probability=0.25 if n % 2 else 1.0) for n in range(4)]
    report = audited(rows)
    here = groups_of(report.data)[0]
    assert sheets_of(report, here, "rates")[0].title == "How often it is right, %; claims weighted"
    assert sheets_of(report, here, "ranking")[0].title == "Order of systems; unweighted"


@pytest.mark.parametrize("name", AUDITS)
def test_the_page_holds_the_whole_report_and_every_link_arrives(name: str) -> None:
    held, tree = held_files(page_of(name)), tree_of(name)
    assert AuditReport.model_validate_json(held["audit.json"]) == AUDITS[name]()
    assert {f"{key}.csv": text for key, text in csv_files(AUDITS[name]()).items()} == {
        key: text for key, text in held.items() if key.endswith(".csv")
    }
    references = {reference[1:] for reference in tree.xpath("//use/@*") if reference.startswith("#")}
    assert references <= set(tree.xpath("//@id"))


def test_undefined_figures_and_what_was_left_out_say_why() -> None:
    tree = tree_of("bare")
    said = {text(cell) for cell in tree.xpath("//td[@class='undefined']/span")}
    assert {"undefined: none is labelled wrong", "undefined: one system"} <= said
    left_out = [text(one) for one in tree.xpath("//ul[@aria-label='Not computed']/li")]
    assert left_out == list(bare_audit().left_out)


def test_the_csv_has_every_digit_every_part_and_no_formula() -> None:
    report = hostile_audit()
    rows = list(csv.DictReader(io.StringIO(csv_files(report)["rates"])))
    first = report.at[0].rates[0]
    assert len(rows) == len(report.at[0].rates)
    assert rows[0]["tpr.value"] == ("" if first.tpr.value is None else repr(first.tpr.value))
    names = {row["evaluator"] for row in rows}
    assert "'=HYPERLINK(1)" in names
    assert not {name for name in names if name.startswith(("=", "+", "-", "@"))}
    held = {key: list(csv.DictReader(io.StringIO(text))) for key, text in csv_files(sample_audit()).items()}
    # cells, thresholds, levels, data sets, evaluators; thresholds, data sets, evaluators, systems, methods
    assert (len(held["order_tables"]), len(held["calibrations"])) == (9 * 2 * 2 * 3 * 3, 2 * 3 * 3 * 4 * 4)
    assert {row["threshold"] for row in held["rates"]} == {"0.5", "0.7"}


def drawn(report: AuditReport, key: str, group: Group = ALL, at: AuditAt | None = None) -> Markup | None:
    section = next(one for one in SECTIONS if one.key == key)
    scope = scope_of(at or report.at[0], group, report.data)
    assert section.draw is not None
    return section.draw(scope.at, group, scope.members, marks_of(report))


def words_in(picture: Markup | None) -> list[str]:
    assert picture is not None
    return ["".join(map(str, one.itertext())).strip() for one in etree.fromstring(picture).iter("{*}text")]


def places(picture: Markup | None, series: int) -> list[tuple[float, float]]:
    """Positions of an evaluator's markers, in points from the top left."""
    assert picture is not None
    groups = [one for one in etree.fromstring(picture).iter("{*}g") if one.get("data-series") == str(series)]
    uses = [use for group in groups for use in group.iter("{*}use")]
    return [(float(str(use.get("x"))), float(str(use.get("y")))) for use in uses]


def test_the_four_pictures_show_the_numbers_of_the_record() -> None:
    report = sample_audit()
    at = report.at[0]
    assert [one.key for one in SECTIONS if one.draw] == ["scores", "agreement", "bias", "adjustment"]
    both = find_pair(at.agreement, "mild", "strict", ALL).unattributable.value
    assert both is not None
    assert f"{100 * both:.0f}" in words_in(drawn(report, "agreement"))
    n_systems = sum(one.evaluator == "mild" for one in at.quantification.systems)  # of both levels
    assert len(places(drawn(report, "bias"), 0)) == n_systems
    bins = next(one for one in at.reliability if (one.evaluator, one.group.kind) == ("mild", "all")).bins
    assert len(places(drawn(report, "scores"), 0)) == sum(one.n > 0 for one in bins)
    methods = next(one for one in at.mean_adjustments if (one.evaluator, one.group.kind) == ("mild", "all")).methods
    assert len(places(drawn(report, "adjustment"), 0)) == 2 * sum(one.mean_bias is not None for one in methods)


def test_nothing_defined_is_no_picture_and_odd_names_are_drawn() -> None:
    nothing = audited([Row(1, {"e": None, "f": None}), Row(1, {"e": None, "f": None}, "b", "r2")])
    for key in ("scores", "agreement", "bias", "adjustment"):
        assert drawn(nothing, key, groups_of(nothing.data)[0]) is None
    hostile = hostile_audit()
    assert words_in(drawn(hostile, "bias", groups_of(hostile.data)[0]))
    marks = [Mark(number, "") for number in range(64)]
    assert len({(mark.colour, mark.marker) for mark in marks}) == len(SERIES) * len(MARKERS) == 64
    assert short("a" * 30 + "b" * 30) == f"{'a' * 12}…{'b' * 11}"
    assert (len(short("x" * 99)), short("_e")) == (LONGEST_NAME, " _e")
