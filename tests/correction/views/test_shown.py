from __future__ import annotations

import io
import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console

from factloop.core.records import Usage
from factloop.core.report_warnings import BASELINE_FINDS, OFFLINE
from factloop.correction.marks import MarkPolicy, marked
from factloop.correction.records import Correction, LeftReason, Rejection
from factloop.correction.views.differences import ResponsePart, parts
from factloop.correction.views.html import render_correction_html
from factloop.correction.views.terminal import print_correction
from factloop.correction.views.words import LEFT_WORDS, changes_words, decision, footnoted, headline, kept_back
from factloop.reports.differences import Piece, pieces
from factloop.reports.figures import how_often_right
from tests.correction.reports import report_of
from tests.correction.views.correction_samples import (
    accepted,
    changed_and_in_doubt,
    hostile,
    in_doubt,
    not_taken,
    nothing_done,
)
from tests.reports.html_page import Page, text_of, words
from tests.reports.sample import sample_report
from tests.work import LINEAR, growth


def printed(correction: Correction, width: int = 120, *, terminal: bool = False) -> str:
    file = io.StringIO()
    console = Console(file=file, width=width, force_terminal=terminal, _environ={"TERM": "xterm-256color"})
    print_correction(correction, console)
    return file.getvalue()


@pytest.mark.parametrize("width", [40, 60, 100, 160])
def test_the_terminal_shows_what_changed_and_why(width: int) -> None:
    text = printed(accepted(), width)
    assert max(map(len, text.splitlines())) <= width
    said = words(text)
    if width >= 100:
        assert (
            "The Analytical Engine was [-completed in 1845 and-]{+never completed, and never+} ran her program.#1"
            in said
        )
        assert "[-She kept a parrot that she had named after Babbage.-]#2 She died" in said
    for part in ("✗ contradicted: The Analytical Engine", "no answer within 60 s", "0.90", "Corrected: precision"):
        assert part in said


def test_a_text_that_was_not_taken_is_not_called_corrected() -> None:
    undone = "he change failed the second check and was undone (the new wording is not supported)."
    assert f"No sentence was changed: t{undone}" in words(printed(not_taken()))
    page = words(text_of(render_correction_html(not_taken())))
    assert f"T{undone}" in page
    assert "Response, corrected" not in page


def test_nothing_to_correct_is_said() -> None:
    clean = nothing_done()
    assert how_often_right(clean.before.fingerprint) in words(printed(clean))
    offline = clean.before.fingerprint.model_copy(update={"engine": "offline"})
    documented = (Path(__file__).parents[3] / "docs" / "rag.md").read_text(encoding="utf-8")
    assert BASELINE_FINDS in how_often_right(offline)
    assert all("the baseline called only 4" in said for said in (BASELINE_FINDS, documented))
    warned = clean.before.model_copy(update={"fingerprint": offline, "warnings": (OFFLINE,)})
    assert words(printed(nothing_done(warned))).count("finds few errors") == 1
    assert "factloop doctor --controls" in words(printed(clean))
    assert "factloop doctor" not in render_correction_html(clean)
    why = "no claim by NASA is wrong"
    page = words(text_of(render_correction_html(nothing_done().model_copy(update={"why": why}))))
    assert "Nothing to correct" in page
    assert how_often_right(clean.before.fingerprint) in page
    assert page.count("Judged by") == 1
    reused = clean.model_copy(update={"usage": Usage(cache_hits=2)})
    assert "Correction 2 replies reused from the cache; tokens" in words(printed(reused))
    stands = nothing_done(sample_report(), Rejection.NOTHING_CHANGED)
    assert decision(stands).startswith("No sentence was changed")
    assert changes_words(stands) == "none"


def test_a_text_that_is_worse_by_a_count_is_not_presented_as_better() -> None:
    one = accepted()
    assert one.after is not None
    assert headline(one) == "Corrected"
    lost = one.after.model_copy(update={"claims": one.before.claims[3:]})
    assert headline(one.model_copy(update={"after": lost})) == "Changed, but 3 fewer supported than before"


def test_the_page_lays_out_the_markdown_of_a_corrected_response() -> None:
    page = Page(render_correction_html(accepted()))
    assert "**" not in page.text_in("prose")
    assert page.of("strong")
    assert page.of("ins")
    assert re.search("Fingerprint.*Rewriting prompts.*Report schema", words(page.text_in("run")))
    assert [link["id"] for link in page.of("a") if link.get("class") == "edit"] == ["edit-1", "edit-2"]


def test_hostile_text_does_not_steer_the_terminal() -> None:
    assert not set(printed(hostile(), terminal=False)) & set("\x1b\x00\x07\r\x9b\u202e\u2066")


def test_every_sentence_in_doubt_is_shown_with_what_became_of_it() -> None:
    one = in_doubt()
    for text in (words(printed(one)), words(text_of(render_correction_html(one)))):
        assert "2 sentences are unproven; 1 of them not marked" in text
        assert "contradicted; marked [contradicted]" in text
        assert "no evidence found; not marked" in text
    assert "in doubt" not in printed(nothing_done())


def test_the_corrected_response_is_shown_with_its_marks() -> None:
    page = words(text_of(render_correction_html(changed_and_in_doubt())))
    assert "Ann ran. [unverified] Bad [removed: fell ] [inserted: rose. ] [unverified]" in page
    assert "Dan sat. [unchecked]" in page
    assert "Ann ran. [unverified] Bad [-fell-]{+rose.+} [unverified]" in words(printed(changed_and_in_doubt(), 160))
    assert "Response, with marks Ann ran. [contradicted] Bad fell." in words(
        text_of(render_correction_html(in_doubt()))
    )


def test_every_reason_has_words() -> None:
    assert set(LEFT_WORDS) == set(LeftReason)


@pytest.mark.parametrize(
    ("old", "new", "shown"),
    [
        ("It was lit in 1995, so.", "It was lit in 1982, so.", "It was lit in [1995]{1982}, so."),
        ("Ann ran.", "", "[Ann ran.]"),
        ("", "Ann ran.", "{Ann ran.}"),
        ("Ann ran.", "Ann ran.", "Ann ran."),
        ("Ann, a painter and engraver, ran.", "Ann, an engraver, ran.", "Ann, [a painter and]{an} engraver, ran."),
        ("red old house", "blue new house", "[red old]{blue new} house"),
        ("阿达生于一九一五年。", "阿达生于一八一五年。", "阿达生于一[九]{八}一五年。"),
        ("don't go", "do go", "[don't]{do} go"),
        (
            "12.5 kg, 1,250 m, 3.5%, v1.2",
            "12.7 kg, 1,350 m, 4%, v1.3",
            "[12.5]{12.7} kg, [1,250]{1,350} m, [3.5%]{4%}, [v1.2]{v1.3}",
        ),
        ("-5 °C at 12:30", "5 °C at 12:45", "[-5]{5} °C at [12:30]{12:45}"),
    ],
)
def test_the_words_that_differ_are_marked(old: str, new: str, shown: str) -> None:
    marks = {"same": "{}", "removed": "[{}]", "inserted": "{{{}}}"}
    assert "".join(marks[piece.kind].format(piece.text) for piece in pieces(old, new)) == shown


_TEXT = st.lists(st.sampled_from(["Ann", "ran", " ", ", ", "1759", "\n", "安", "**", "."]), max_size=12).map("".join)


@given(_TEXT, _TEXT)
def test_nothing_is_lost(old: str, new: str) -> None:
    found = pieces(old, new)
    assert "".join(piece.text for piece in found if piece.kind != "inserted") == old
    assert "".join(piece.text for piece in found if piece.kind != "removed") == new
    assert all(piece.text for piece in found)


def test_long_wordings_take_linear_work() -> None:
    def compare(n_words: int) -> None:
        old, new = " ".join(f"a{n}" for n in range(n_words)), " ".join(f"b{n}" for n in range(n_words))
        assert pieces(old, new) == (Piece("removed", old), Piece("inserted", new))

    compare(50_000)
    assert growth(compare, 5_000) < LINEAR


def shown(found: list[ResponsePart]) -> str:
    marks = {"same": "{}", "removed": "[-{}-]", "inserted": "{{+{}+}}", "mark": "<{}>"}
    return "".join(marks[piece.kind].format(piece.text) for part in found for piece in part.pieces)


def test_the_marks_stand_where_the_text_to_use_has_them() -> None:
    assert shown(parts(changed_and_in_doubt())) == (
        "Ann ran.< [unverified]> Bad [-fell-]{+rose.+}< [unverified]>{+ He sang+}. [-Cid lay. -]"
        "Dan sat.< [unchecked]> Eve [-hid-]{+ran+}.< [unverified]>"
    )
    assert shown(parts(in_doubt())) == "Ann ran.< [contradicted]> Bad fell. Cid sat."


@pytest.mark.parametrize("correction", [accepted(), in_doubt(), changed_and_in_doubt()])
def test_the_page_of_a_correction_has_the_text_to_use(correction: Correction) -> None:
    left_out = "removed" if correction.accepted else "inserted"
    pieces = [piece for part in parts(correction) for piece in part.pieces if piece.kind != left_out]
    assert "".join(piece.text for piece in pieces) == correction.text


def test_footnotes_stand_for_bracket_marks_and_give_the_reason() -> None:
    base = report_of(("Own[^7]", "s"), ("See [it]", "n"), ("Bad!", "c"), ("Ran.", "u"))
    told = [one.judgement.model_copy(update={"rationale": "[a](b) <i>\n1"}) for one in base.claims]
    claims = [one.model_copy(update={"judgement": said}) for one, said in zip(base.claims, told, strict=True)]
    report = base.model_copy(update={"claims": tuple(claims)})
    text, doubts = marked(report, MarkPolicy())
    fields = dict(nothing_done(report, Rejection.NOTHING_CHANGED))
    correction = Correction(**{**fields, "text": text, "doubts": doubts})
    body, notes = footnoted(correction).split("\n\n")
    assert body == "Own[^7] See [it] [^8] Bad! [^9] Ran.[^10]"
    assert [note.partition(":")[0] for note in notes.splitlines()] == ["[^8]", "[^9]", "[^10]"]
    assert "contradicted: \\[a\\](b) \\<i\\> 1" in notes
    page = text_of(render_correction_html(correction, marks="footnotes"))
    assert "contradicted; footnote 9" in words(page)
    assert "3 sentences are unproven; they are marked by a footnote" in words(page)
    assert "[contradicted]" not in page
    assert "[contradicted]" in text_of(render_correction_html(correction))
    assert footnoted(nothing_done()) == nothing_done().text


def test_what_nobody_judged_is_not_called_correct() -> None:
    report = report_of(("Ann ran.", "s"), ("Bad fell.", "r"), ("Cid sat.", "ur"))
    texts = {}
    for unscored in ("auto", "mark", "keep"):
        text, doubts = marked(report, MarkPolicy(unscored=unscored))
        texts[unscored] = text
        one = Correction(**{**dict(nothing_done(report)), "text": text, "doubts": doubts, "unscored": unscored})
        said = "Nothing found to correct, but 2 sentences were not judged; read them yourself"
        assert headline(one) == said
        assert f"{said}." in words(printed(one))
        page = words(text_of(render_correction_html(one)))
        assert said in page
        assert "Still in doubt Bad fell. unscored" in page
        assert kept_back(one) == "2 sentences were not judged; read them yourself"
    assert texts == {
        "auto": "Ann ran. Bad fell. Cid sat. [unchecked]",
        "mark": "Ann ran. Bad fell. [unchecked] Cid sat. [unchecked]",
        "keep": report.response,
    }
