"""The page of an experiment: what it says, what it holds to download, and how prompts stand side by side."""

from __future__ import annotations

import base64
import csv
import gzip
import io
import json
from collections import Counter
from functools import cache
from typing import Any

import lxml.html
import pytest

from factloop.evaluation.experiments.report import ExperimentReport
from factloop.evaluation.experiments.views.html import render_experiment_html
from factloop.evaluation.experiments.views.prompt_diff import Line, prompt_diffs
from tests.evaluation.experiments.sample import PROMPT, STRICT
from tests.evaluation.experiments.views import experiment_samples as samples
from tests.reports.html_page import colours, contrast, text_of, words

AA_CONTRAST = 4.5


@cache
def page() -> str:
    return render_experiment_html(samples.ordinary())


def tree(html: str) -> Any:
    return lxml.html.document_fromstring(html)


def test_the_verdicts_come_before_all_else() -> None:
    text, report = text_of(page()), samples.ordinary()
    places = [text.index(words(one.words)) for one in report.conclusions]
    assert places == sorted(places)
    assert max(places) < text.index("Same in all repeats")
    assert "strict agrees better with the labels than packaged: +" in text


def test_every_figure_stands_with_what_it_rests_on() -> None:
    cells = tree(page()).xpath("//section[@aria-labelledby='variants-title']//tbody/tr[1]/td")
    report = samples.ordinary()
    assert "n = 120 claims" in cells[0].text_content()
    assert len(tree(page()).xpath("//section[@aria-labelledby='variants-title']//tbody/tr")) == len(report.variants)
    differences = tree(page()).xpath("//details[contains(@class, 'contrast')]//tbody/tr")
    assert len(differences) == len(report.differences)


def test_each_flip_has_both_sides_and_its_direction() -> None:
    report = samples.ordinary()
    items = tree(page()).xpath("//li[@class='claim']")
    assert len(items) == len(report.flips)
    assert [one.get("data-filters") for one in items] == [flip.direction.value for flip in report.flips]
    first = words(items[0].text_content())
    assert "packaged thinks so." in first
    assert "strict thinks so." in first
    assert "cited" in first


def test_filters_count_what_they_show() -> None:
    report = samples.ordinary()
    chips = tree(page()).xpath("//button[@data-filter!='']")
    counted = {chip.get("data-filter"): int(chip.xpath("./b")[0].text_content()) for chip in chips}
    assert counted == Counter(flip.direction.value for flip in report.flips)
    assert len(counted) == 2


def test_prompts_stand_line_by_line() -> None:
    (found,) = prompt_diffs(samples.ordinary())
    assert (found.variant, found.prompt) == ("strict", "safe/assessment")
    assert (len(PROMPT.splitlines()), len(STRICT.splitlines())) == (2, 3)
    assert found.lines == (
        Line("same", "Is the claim supported by the passages?"),
        Line("in", "All of it must be stated."),
        Line("same", "Answer with one word."),
    )
    assert [one.text_content() for one in tree(page()).xpath("//ins")] == ["put in: + All of it must be stated."]


def test_a_prompt_that_only_one_side_has_is_all_new() -> None:
    report = samples.ordinary()
    baseline, strict, *_ = report.variants
    alone = baseline.model_copy(update={"variant": baseline.variant.model_copy(update={"prompt_texts": {}})})
    (found,) = prompt_diffs(report.model_copy(update={"variants": (alone, strict)}))
    assert {line.kind for line in found.lines} == {"in"}


def test_hostile_texts_stay_texts() -> None:
    html = render_experiment_html(samples.hostile())
    assert len(tree(html).xpath("//script")) == 1
    assert not tree(html).xpath("//*[@onmouseover]")
    assert not tree(html).xpath("//a[starts-with(@href, 'javascript')]")
    assert "{{ 7 * 7 }}" in text_of(html)


def downloads(html: str) -> dict[str, str]:
    found = {}
    for link in tree(html).xpath("//a[@download]"):
        kind, held = link.get("href").split(";base64,")
        data = base64.b64decode(held)
        plain = gzip.decompress(data) if kind == "data:application/gzip" else data
        found[link.get("download").removesuffix(".gz")] = plain.decode()
    return found


def n_figures(report: ExperimentReport) -> int:
    """Each variant's own, and the two of its stability."""
    return sum(len(one.figures) + 2 for one in report.variants)


def test_all_of_it_can_be_downloaded() -> None:
    report, files = samples.ordinary(), downloads(page())
    assert ExperimentReport.model_validate(json.loads(files["experiment.json"])) == report
    rows = list(csv.DictReader(io.StringIO(files["flips.csv"], newline="")))
    assert [row["claim_id"] for row in rows] == [one.claim_id for one in report.flips]
    assert {row["direction"] for row in rows} <= {"better", "worse", "neutral"}
    for name, n in (("differences", len(report.differences)), ("variants", n_figures(report))):
        assert len(list(csv.DictReader(io.StringIO(files[f"{name}.csv"], newline="")))) == n


def is_number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return True


def test_no_cell_of_the_csv_is_a_formula() -> None:
    files = downloads(render_experiment_html(samples.hostile()))
    for name in ("flips.csv", "differences.csv", "variants.csv"):
        for row in csv.reader(io.StringIO(files[name], newline="")):
            texts = [cell for cell in row if not is_number(cell)]
            assert not [cell for cell in texts if cell.startswith(("=", "+", "-", "@", "\t", "\r"))]


@pytest.mark.parametrize("theme", [0, 1])
def test_the_lines_of_a_prompt_can_be_read(theme: int) -> None:
    found = colours("base.css", theme)
    for tone in ("supported", "contradicted"):
        assert contrast(found[tone], found[f"{tone}-tint"]) >= AA_CONTRAST
    assert contrast(found["muted"], found["sunken"]) >= AA_CONTRAST
