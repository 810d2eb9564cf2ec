"""The page of an audit in a real browser."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.sync_api import Locator, Page, expect

from factloop.evaluation.audit.views.html import render_audit_html
from tests.browser.test_every_page import BACKGROUND, NAMELESS, OVERFLOW
from tests.browser.visits import OPEN_ALL, Visits
from tests.evaluation.audit.views.audit_sample import hostile_audit, sample_audit


@pytest.fixture(scope="module")
def sample() -> str:
    return render_audit_html(sample_audit(), most_drawn=1)


@pytest.fixture(scope="module")
def hostile() -> str:
    return render_audit_html(hostile_audit(), most_drawn=1)


def choice(page: Page, name: str) -> Locator:
    return page.get_by_role("combobox", name=name, exact=True, include_hidden=True)


def shown_sections(page: Page) -> Locator:
    return page.locator(".scope:visible > h2")


def test_the_reader_chooses_group_evaluator_and_threshold(visits: Visits, sample: str) -> None:
    page = visits.open(sample)
    expect(shown_sections(page)).to_have_text(["All data sets"])
    choice(page, "Data").select_option("Data set: news (task group summaries)")
    expect(shown_sections(page)).to_have_text(["Data set: news (task group summaries)"])
    choice(page, "Evaluator").select_option("mild")
    rates = page.locator(".scope:visible .at:visible .part").filter(has_text="How often is it right?")
    expect(rates.locator("tbody tr:visible th:first-child")).to_have_text(["mild", "mild"])
    expect(page.locator(".reasons article:visible h4")).to_have_text(["mild"])
    expect(page.locator(".at:visible")).to_contain_text("At a threshold of 0.5")
    choice(page, "Threshold").select_option("0.7")
    expect(page.locator(".at:visible")).to_contain_text("At a threshold of 0.7")
    expect(page.get_by_role("status")).to_have_text(
        "Data: Data set: news (task group summaries), Evaluator: mild, Threshold: 0.7"
    )


def test_a_chosen_evaluator_stands_out_and_parts_without_it_go(visits: Visits, sample: str) -> None:
    """Chunks were given of `strict` alone."""
    page = visits.open(sample)
    chunks = page.locator(".scope:visible .at:visible .part").filter(has_text="Does it miss what stands far apart?")
    expect(chunks).to_be_visible()
    choice(page, "Evaluator").select_option("mild")
    expect(chunks).to_be_hidden()
    number = choice(page, "Evaluator").input_value()
    picture = page.locator(".picture:visible").first
    assert picture.locator("[data-series].is-dim").count() > 0
    expect(picture.locator(f"[data-series='{number}'].is-dim")).to_have_count(0)
    choice(page, "Evaluator").select_option("all")
    expect(page.locator(".is-dim")).to_have_count(0)


def test_everything_can_be_reached_with_the_keyboard(visits: Visits, sample: str) -> None:
    page = visits.open(sample)
    choice(page, "Data").focus()
    page.keyboard.press("ArrowDown")
    expect(shown_sections(page)).to_have_text(["Task group: summaries"])
    page.keyboard.press("Tab")
    expect(choice(page, "Evaluator")).to_be_focused()


def test_without_a_script_all_stands_on_one_long_page(visits: Visits, sample: str) -> None:
    page = visits.open(sample, script=False)
    expect(shown_sections(page)).to_have_count(5)
    expect(choice(page, "Evaluator")).to_be_hidden()
    expect(page.get_by_role("heading", name="What may each evaluator be used for here?")).to_have_count(5)


@pytest.mark.parametrize("file", ["audit.json.gz", "rates.csv.gz"])
def test_the_data_are_saved_without_a_network(visits: Visits, sample: str, tmp_path: Path, file: str) -> None:
    page = visits.open(sample, script=False)
    link = page.locator(f"a[download^='{file.removesuffix('.gz')}']")
    with page.expect_download() as started:
        link.click()
    assert started.value.suggested_filename in (file, file.removesuffix(".gz"))
    saved = tmp_path / "saved"
    started.value.save_as(saved)
    assert saved.stat().st_size > 1000
    visits.requests = [url for url in visits.requests if not url.startswith("data:")]


@pytest.mark.parametrize("width", [320, 390, 768, 1280])
def test_nothing_sticks_out_to_the_side(visits: Visits, sample: str, hostile: str, width: int) -> None:
    for html in (sample, hostile):
        page = visits.open(html, width=width, dark=width == 768)
        page.evaluate(OPEN_ALL)
        assert page.evaluate(OVERFLOW) == 0
        assert page.evaluate(NAMELESS) == []


def test_a_phone_shows_the_picture_in_letters_that_can_be_read(visits: Visits, sample: str) -> None:
    """Ten points of the drawing are at least nine pixels, and the rest of it can be scrolled to."""
    page = visits.open(sample, width=390)
    picture = page.locator(".picture:visible").first
    box, drawn = picture.bounding_box(), picture.get_attribute("viewBox")
    assert box is not None
    assert drawn is not None
    assert 10 * box["width"] / float(drawn.split()[2]) >= 8
    assert picture.evaluate("(e) => e.parentElement.scrollWidth > e.parentElement.clientWidth")


def test_dark_pictures_have_light_letters(visits: Visits, sample: str) -> None:
    ink = "getComputedStyle(document.querySelector('.picture text')).fill"
    light = visits.open(sample)
    dark_on_light = light.evaluate(ink), light.evaluate(BACKGROUND)
    dark = visits.open(sample, dark=True)
    light_on_dark = dark.evaluate(ink), dark.evaluate(BACKGROUND)
    assert dark_on_light == ("rgb(28, 31, 36)", "rgb(250, 249, 246)")
    assert light_on_dark == ("rgb(232, 230, 225)", "rgb(19, 21, 25)")


def test_on_paper_all_tables_are_open_and_the_choices_gone(visits: Visits, sample: str) -> None:
    page = visits.open(sample)
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    page.emulate_media(media="print")
    assert page.locator("main details:not([open])").count() == 0
    expect(page.locator("#choices")).to_be_hidden()
