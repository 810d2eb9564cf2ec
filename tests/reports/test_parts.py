from __future__ import annotations

import csv
import io
import re
from datetime import UTC, datetime, timedelta, timezone
from typing import TYPE_CHECKING

import pytest
from lxml import etree
from pypdf import PdfReader
from rich.console import Console
from rich.text import Text

from factloop.core.events import ClaimFound, ClaimJudged, ClaimSearched, Event, ResponseSplit, ServerWait
from factloop.core.records import Claim, StageUsage, Usage
from factloop.reports import figures
from factloop.reports.downloads import csv_text
from factloop.reports.pictures import INK, SERIES, as_file, as_pdf, as_words, draw, kept_pictures
from factloop.reports.progress import ProgressDisplay
from factloop.reports.terminal_parts import print_section
from factloop.reports.visible import direction, visible, web_address
from tests.reports.sample import make_report, sample_claims, sample_report

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def test_where_claims_are_unscored_precision_does_not_stand_for_the_answer() -> None:
    whole, scored, nothing = sample_report(), sample_report(()), make_report("", ())
    unscored = make_report("x", tuple(one for one in sample_claims() if one.judgement.verdict is None))
    assert figures.headline(whole) == "1 claim contradicted, 2 not in the sources, 9 could not be decided"
    bounds = "0.43 to 0.86 if the rest were wrong or right"  # 9 / 21 and 18 / 21
    assert figures.in_a_line(whole) == f"decided 12 of 21 claims (9 supported: precision 0.75 among those, {bounds})"
    assert figures.in_a_line(scored) == "precision 0.75 (9 of 12 scored claims supported)"
    assert figures.in_a_line(unscored) == "decided 0 of 9 claims (no claims were scored)"
    assert figures.headline(nothing) == figures.main_figure(nothing)[2] == figures.NO_CLAIMS


@pytest.mark.parametrize(
    ("usage", "words"),
    [
        (StageUsage(calls=1), "price unknown"),
        (StageUsage(), "no model calls"),
        (StageUsage(calls=1, cost_usd=0.0), "$0.00"),
        (StageUsage(calls=1, cost_usd=0.0030512), "$0.00305"),
        (StageUsage(calls=1, cost_usd=0.000004), "$0.00000400"),
        (StageUsage(calls=1, cost_usd=0.5), "$0.50"),
        (StageUsage(calls=1, cost_usd=1234.5), "$1,234.50"),
    ],
)
def test_cost(usage: StageUsage, words: str) -> None:
    assert figures.cost(usage) == words


def test_calls_and_tokens() -> None:
    usage = StageUsage(calls=1, failed_calls=2, cache_hits=3, searches=1, prompt_tokens=1234, completion_tokens=5)
    assert figures.calls(usage) == "1 model call, 2 failed, 3 replies reused from the cache, 1 search"
    assert figures.tokens(usage) == "1,234 prompt + 5 completion"
    assert figures.all_tokens(usage) == "1,239"
    estimated = usage.model_copy(update={"approximate_tokens": True})
    assert figures.tokens(estimated) == "1,234 prompt + 5 completion (approximate)"
    assert figures.all_tokens(estimated) == "~1,239"


@pytest.mark.parametrize(
    ("seconds", "words"),
    [(0, "0.00 s"), (0.42, "0.42 s"), (3, "3.0 s"), (59.96, "1 min 0 s"), (185, "3 min 5 s"), (7440, "2 h 4 min")],
)
def test_duration(seconds: float, words: str) -> None:
    assert figures.duration(seconds) == words


def test_moments_are_in_utc() -> None:
    when = datetime(2026, 11, 21, 9, 30, tzinfo=UTC)
    assert figures.moment(when.astimezone(timezone(timedelta(hours=5)))) == "2026-11-21 09:30 UTC"
    assert figures.moment(when.replace(tzinfo=None)) == "2026-11-21 09:30"


@pytest.mark.parametrize("sign", ["=", "+", "-", "@", "\t", "\uff1d", "\uff0b", "\uff0d", "\uff20"])
def test_a_text_that_a_spreadsheet_would_compute_gets_an_apostrophe(sign: str) -> None:
    rows = csv.reader(io.StringIO(csv_text([f"{sign}head"], [[f"{sign}1+1"], [f"1{sign}1"]]), newline=""))
    assert list(rows) == [[f"'{sign}head"], [f"'{sign}1+1"], [f"1{sign}1"]]


def test_control_characters_are_visible_in_a_table() -> None:
    assert csv_text(["\x1b[2J"], [["\ra\x9bb\r\nc"]]) == '␛[2J\r\n"␍a\ufffdb\nc"\r\n'


def test_numbers_stay_numbers() -> None:
    assert csv_text(["a", "b", "c"], [[-0.5, 2, None]]) == "a,b,c\r\n-0.5,2,\r\n"


HOSTILE = ("$x$", "\\frac{1}{0}", "<script>x()</script>", "漢字", "x" * 99, "a\nb", "\x1b[2J\0", "\ufffe\uffff", "]]>")


def parsed(picture: str) -> etree._Element:
    return etree.fromstring(picture)


def paint(axes: Axes) -> None:
    (line,) = axes.plot([0, 1], [0, 3], color=SERIES[0])
    line.set_gid("of-3")
    axes.plot([0, 1], [1, 2], color=INK, marker="o")


def test_a_picture_has_no_style_and_takes_its_colours_from_the_page() -> None:
    picture = draw(paint, alt="two lines")
    assert "style" not in picture
    assert "var(--series-1)" in picture
    assert "var(--ink)" in picture
    assert not re.search("#0[0-9]0", picture)
    root = parsed(picture)
    assert root.get("aria-label") == "two lines"
    assert (root.get("width"), root.get("height")) == ("672", "307.2")  # 7 x 3.2 inches of 96 pixels


def test_what_is_referred_to_is_there_and_in_no_other_picture() -> None:
    one, other = draw(paint, alt="one"), draw(paint, alt="other")
    for picture in (one, other):
        ids = [each.get("id") for each in parsed(picture).iter() if each.get("id")]
        referred = set(re.findall(r'(?:url\(|href=")#([\w-]+)', picture))
        assert referred
        assert set(ids) == referred
        assert len(ids) == len(set(ids))
    assert not set(re.findall(r'id="([\w-]+)"', one)) & set(re.findall(r'id="([\w-]+)"', other))


@pytest.mark.parametrize("name", HOSTILE)
def test_any_text_can_be_drawn_and_stays_text(name: str) -> None:
    picture = draw(lambda axes: axes.set_title(name), alt=name)
    root = parsed(picture)
    assert "script" not in {etree.QName(one).localname for one in root.iter()}
    written = "".join(map(str, root.itertext()))
    for part in as_words(name).split():
        assert part in written.replace("\n", " ")


def test_a_file_has_colours_of_its_own_and_stands_alone() -> None:
    written = as_file(draw(paint, alt="two lines"))
    assert "var(" not in written
    assert "#1f5aa6" in written  # the light colour of the first series
    root = parsed(written)
    assert etree.QName(root).namespace == "http://www.w3.org/2000/svg"
    paper = root[0]
    assert (etree.QName(paper).localname, paper.get("fill")) == ("rect", "#ffffff")
    assert written.count("xmlns=") == 1


def test_a_pdf_has_a_page_for_each_picture_in_the_colours_of_a_file() -> None:
    with kept_pictures() as kept:
        before = draw(paint, alt="two lines"), draw(paint, alt="again", width=4.0)
    pages = PdfReader(io.BytesIO(as_pdf(kept))).pages
    assert [float(page.mediabox.width) for page in pages] == [7 * 72, 4 * 72]
    drawn = pages[0].get_contents()
    assert drawn is not None
    assert f"{0x1F / 255:.5f}"[:-1] in drawn.get_data().decode()  # red of the first series
    assert as_pdf(kept) == as_pdf(kept)
    assert (draw(paint, alt="two lines"), len(kept)) == (before[0], 2)  # pages have their variables again


REPORT = sample_report()


def found(claim: Claim) -> ClaimFound:
    return ClaimFound(claim_id=claim.id, sentence=claim.sentence, span=claim.span, self_contained=claim.self_contained)


def judged(claim: Claim, calls: int) -> ClaimJudged:
    return ClaimJudged(claim=claim, usage=Usage(calls=calls, cost_usd=calls / 1000))


def screen(events: list[Event], *, terminal: bool = True) -> str:
    file = io.StringIO()
    console = Console(file=file, width=120, force_terminal=terminal, color_system=None, _environ={})
    with ProgressDisplay(console, 1_204) as display:
        for event in events:
            display.handle(event)
    return file.getvalue()


def test_it_counts_claims_calls_and_cost() -> None:
    first, second, third = REPORT.claims[:3]
    events: list[Event] = [
        ResponseSplit(n_sentences=12),
        *(found(claim) for claim in (first, second, third)),
        ClaimSearched(claim_id=first.id, query="q", evidence=()),
        judged(first, 4),
        judged(second, 5),
    ]
    last_frame = screen(events)
    assert "2 of 3 claims" in last_frame
    assert "5 calls, $0.005" in last_frame


def test_it_counts_sentences_until_a_claim_is_judged() -> None:
    first, second, third = REPORT.claims[:3]
    events: list[Event] = [ResponseSplit(n_sentences=12), *(found(claim) for claim in (first, second, third))]
    n_read = len({claim.span for claim in (first, second, third)})
    assert "reading 1,204 characters" in screen([])
    assert f"read {n_read} of 12 sentences" in screen(events)
    assert "read" not in screen([*events, judged(first, 1)]).rpartition("\n")[2]


def test_off_the_terminal_it_is_quiet() -> None:
    events: list[Event] = [ResponseSplit(n_sentences=2), judged(REPORT.claims[0], 1)]
    assert screen(events, terminal=False) == ""


def waiting(waited_s: float, cause: str = "status 429") -> ServerWait:
    return ServerWait(server="serper", waited_s=waited_s, patience_s=120.0, cause=cause)


def test_it_says_who_is_waited_for_until_something_happens() -> None:
    claim = REPORT.claims[0]
    said = "serper is not accepting requests (status 429): waiting 34 of 120 s"
    assert said in screen([found(claim), waiting(33.9)])
    assert said not in screen([waiting(33.9), judged(claim, 1)])


def test_off_the_terminal_each_outage_is_one_line() -> None:
    events: list[Event] = [*map(waiting, (5.0, 6.0, 7.0)), judged(REPORT.claims[0], 1), *map(waiting, (5.0, 6.0))]
    line = "factloop: serper is not accepting requests (status 429): waiting 5 of 120 s\n"
    assert screen(events, terminal=False) == 2 * line


def lines(title: str, width: int) -> list[str]:
    file = io.StringIO()
    print_section(Console(file=file, width=width), title, Text("body"))
    return file.getvalue().splitlines()


@pytest.mark.parametrize(("title", "shown"), [("x" * 10, ["x" * 10 + " ─"]), ("x" * 11, ["x" * 11, "─" * 12])])
def test_a_title_that_leaves_no_room_for_the_rule_stands_above_it(title: str, shown: list[str]) -> None:
    assert lines(title, 12)[: len(shown)] == shown


def test_a_title_longer_than_a_line_is_broken_and_never_cut() -> None:
    assert lines("all systems: 9 responses", 12)[:3] == ["all systems:", "9 responses", "─" * 12]


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain – text, ünïcödé\n\twith tabs", "plain – text, ünïcödé\n\twith tabs"),
        ("a\x00b", "a␀b"),
        ("\x1b[31mred\x1b[0m", "␛[31mred␛[0m"),
        ("rub\x7f", "rub␡"),
        ("\x9b2J", "\ufffd2J"),
        ("one\r\ntwo\rthree", "one\ntwo␍three"),
        ("\u202egnp.exe\u2066x\u2069", "\ufffdgnp.exe\ufffdx\ufffd"),
        ("\ud800", "\ufffd"),
        ("שלום\u200f!", "שלום\u200f!"),
    ],
)
def test_unsafe_characters_become_visible(text: str, shown: str) -> None:
    assert visible(text) == shown


@pytest.mark.parametrize(
    ("text", "expected"),
    [("", "ltr"), ("123 (", "ltr"), ("Hello", "ltr"), ("# שלום Hello", "rtl"), ("1. مرحبا", "rtl")],
)
def test_direction_is_that_of_the_first_strong_character(text: str, expected: str) -> None:
    assert direction(text) == expected


@pytest.mark.parametrize("source", ["https://example.org/a?b=c#d", "HTTP://EXAMPLE.ORG", "https://[::1]:8000/x"])
def test_web_addresses_may_be_links(source: str) -> None:
    assert web_address(source) == source


@pytest.mark.parametrize(
    "source",
    [
        "sources/notes.md",
        "/etc/passwd",
        "C:\\notes.txt",
        "javascript:alert(1)",
        "data:text/html,hello",
        "file:///etc/passwd",
        " https://example.org",
        "https://example.org\n",
        "https://example.org/\u202egnp",
        'https://example.org/"onclick="x',
        "java\nscript:alert(1)",
        "http://[broken",
        "https://",
        "https:///path",
    ],
)
def test_anything_else_stays_text(source: str) -> None:
    assert web_address(source) is None
