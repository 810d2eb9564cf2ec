from __future__ import annotations

import base64
import csv
import io
import re
from dataclasses import replace
from typing import Any

import lxml.html
import pytest
from rich.console import Console

from factloop.core.figure import Figure, Undefined
from factloop.reports.page import environment
from factloop.reports.sheet.files import sheet_latex
from factloop.reports.sheet.table import (
    Cell,
    Column,
    Sheet,
    count_cell,
    figure_cell,
    name,
    page_only,
    sheet_download,
    sheet_of,
    value_cell,
)
from factloop.reports.sheet.terminal import print_sheet
from tests.reports.sample import HOSTILE

WIDTHS = (24, 50, 80, 200)
FIGURES = {
    "strict": (Figure(value=0.75, low=0.6, high=0.8125, n=1200), 1200),
    "mild": (Figure(value=None, undefined=Undefined.NO_LABELS, n=0), 3),
}


def shown(value: float) -> str:
    return f"{value:.2f}"


def sample(names: tuple[str, ...] = ("strict", "mild"), heading: str = "claims") -> Sheet:
    given = zip(names, FIGURES.values(), strict=True)
    return sheet_of(
        "How often it is right",
        (
            (name("Evaluator"), lambda row: row[0]),
            (Column("Of", is_name=True, is_heading=True), lambda _: heading),
            (Column("TPR", is_strong=True), lambda row: figure_cell(row[1][0], shown)),
            (page_only("Its FNR"), lambda row: value_cell(row[1][0].value, lambda value: shown(1 - value))),
            (Column("Labelled claims", key="n_labelled"), lambda row: row[1][1]),
        ),
        given,
        of=lambda row: (row[0],),
        is_total=lambda row: row[0] == "mild",
    )


def printed(sheet: Sheet, width: int, **options: Any) -> list[str]:
    console = Console(file=io.StringIO(), width=width, emoji=False, markup=False, highlight=False)
    print_sheet(console, sheet, **options)
    assert isinstance(console.file, io.StringIO)
    lines = console.file.getvalue().splitlines()
    assert all(len(line) <= width for line in lines)
    return lines


def rendered(sheet: Sheet, **options: Any) -> Any:
    macros: Any = environment().get_template("sheet.html.j2").module
    return lxml.html.fragment_fromstring(str(macros.table(sheet, **options)))


def rows_of(tree: Any) -> list[list[str]]:
    return [[" ".join(" ".join(cell.itertext()).split()) for cell in row] for row in tree.xpath(".//tr")]


def saved(sheet: Sheet) -> list[list[str]]:
    address = sheet_download("Rates (CSV)", "rates.csv", sheet).address
    assert address is not None
    return [*csv.reader(io.StringIO(base64.b64decode(address.split(",", 1)[1]).decode()))]


def test_the_terminal_has_figures_side_by_side_with_their_notes() -> None:
    lines = [line.split() for line in printed(sample(), 80)]
    assert lines[1:] == [
        ["Claims"],
        ["Evaluator", "TPR", "Labelled", "claims"],
        ["strict", "0.75", "1,200"],
        ["[0.60,", "0.81]"],
        ["n", "1,200"],
        ["mild", "undefined", "3"],
        ["no", "labels"],
        [],
    ]


def test_heads_are_folded_before_figures_stand_under_each_other() -> None:
    folded, stacked = printed(sample(), 37), printed(sample(), 24)
    assert ["Labelled"] in [line.split() for line in folded]
    assert ["strict", "0.75", "1,200"] in [line.split() for line in folded]
    assert [line.strip() for line in stacked[1:-1]] == [
        "Claims", "strict", "TPR: 0.75 [0.60,", "0.81] (n 1,200)", "Labelled claims:", "1,200",
        "mild", "TPR: undefined: no", "labels (n 0)", "Labelled claims: 3",
    ]  # fmt: skip


def test_a_name_that_stands_above_is_not_said_again() -> None:
    told = ((name("System"), lambda row: row[0]), (name("Measure"), lambda row: row[1]), (Column("n"), lambda _: 1))
    rows = [("one", "TPR"), ("one", "TNR"), ("two", "TNR"), ("two", "TNR")]
    lines = [line.split() for line in printed(sheet_of("Rates", told, rows), 80)]
    assert lines[2:6] == [["one", "TPR", "1"], ["TNR", "1"], ["two", "TNR", "1"], ["TNR", "1"]]
    assert [row[0] for row in rows_of(rendered(sheet_of("Rates", told, rows)))[1:]] == ["one", "one", "two", "two"]


def test_the_page_says_why_and_what_figures_rest_on() -> None:
    tree = rendered(sample(), keys=lambda line: f"data-of={line.of[0]}")
    assert rows_of(tree) == [
        ["Evaluator", "Of", "TPR", "Its FNR", "Labelled claims"],
        ["strict", "claims", "0.75 [0.60, 0.81] n 1,200", "0.25", "1,200"],
        ["mild", "claims", "undefined: no labels n 0", "–", "3"],
    ]
    assert tree.xpath(".//tbody/tr/@data-of") == ["strict", "mild"]
    assert tree.xpath(".//tr[@class='total']/th/bdi/text()") == ["mild"]
    assert tree.xpath(".//table/@class") == ["wide"]


def test_the_csv_has_all_digits_and_empty_places_where_nothing_is_known() -> None:
    assert saved(sample()) == [
        [
            "Evaluator", "Of", "TPR", "TPR low", "TPR high", "TPR n", "TPR undefined", "Its FNR", "n_labelled"
        ],
        ["strict", "claims", "0.75", "0.6", "0.8125", "1200", "", "0.75", "1200"],
        ["mild", "claims", "", "", "", "0", "no labels", "", "3"],
    ]  # fmt: skip


@pytest.mark.parametrize(
    "bad", [f"=1+1\x1b[2J\u202e[bold]x[/bold]{HOSTILE}", '+"><script>alert(1)</script>', "-1", "@x"]
)
def test_hostile_text_stays_text(bad: str) -> None:
    sheet = sheet_of(
        bad,
        (
            (name(bad), lambda one: one),
            (Column(bad), lambda one: Cell(one, one, one)),
            (Column(bad, is_strong=True), lambda one: Cell(one, why=one)),
            (name(bad), lambda one: one),
            (Column("n"), lambda _: count_cell(-1)),
        ),
        [bad],
    )
    tree = rendered(sheet)
    assert not tree.xpath(".//script | .//*[@onmouseover]")
    assert not set("".join(tree.itertext())) & set("\x1b\x00\u202e")
    for width in WIDTHS:
        text = "\n".join(printed(sheet, width))
        assert not set(text) & set("\x1b\x00\u202e\r")
        assert ("[bold]" in text) == ("[bold]" in bad)
    heads, row = saved(sheet)
    assert all(text.startswith("'") for text in (*heads[:-1], *row[:-1]) if text)
    assert row[-1] == "-1"  # a number stays one


def test_in_latex_it_is_a_table_of_its_own_whose_texts_are_text() -> None:
    whole = sample(names=("50 % & more", HOSTILE))
    latex = sheet_latex(whole)
    rows = [line for line in latex.splitlines() if line.endswith(r"\\")]
    assert rows[0] == r"Evaluator & Of & TPR & Its FNR & Labelled claims \\"
    assert rows[1] == r"50 \% \& more & claims & 0.75 [0.60, 0.81] & 0.25 & 1,200 \\"
    assert latex.count(r"\begin{") == latex.count(r"\end{") == 2
    assert all(len(re.findall(r"(?<!\\)&", row)) == 4 for row in rows)


@pytest.mark.parametrize("bad", ["[1cm]", "*", " [x", "*[x]"])
def test_in_latex_no_text_is_an_argument_of_what_stands_before_it(bad: str) -> None:
    """LaTeX's `\\\\`, `\\toprule` and `\\midrule` take a following bracket as a length."""
    sheet = sheet_of(bad, ((name(bad), str), (name("b"), str)), [bad, "plain", bad])
    assert not re.search(r"\\(\\|[a-z]+rule)\s*[\[*]", sheet_latex(sheet))
    assert sheet_latex(sheet).count("{}") == 3


def test_in_latex_a_total_alone_has_one_rule_above_it() -> None:
    whole = sample()
    alone = replace(whole, lines=whole.lines[1:])
    assert [sheet_latex(sheet).count(r"\midrule") for sheet in (alone, whole)] == [1, 2]


@pytest.mark.parametrize(("between", "shown"), [("{} to {}", "(1,016 to 1,027)"), ("[{}, {}]", "[1,016, 1,027]")])
def test_in_latex_an_interval_is_set_off_from_its_figure(between: str, shown: str) -> None:
    figure = Figure(value=1022.0, low=1016.0, high=1027.0, n=9)
    cell = figure_cell(figure, "{:,.0f}".format, between.format)
    latex = sheet_latex(sheet_of("Rating", ((Column("Rating"), lambda _: cell),), [0]))
    assert rf"1,022 {shown} \\" in latex
