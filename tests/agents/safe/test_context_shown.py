from __future__ import annotations

from dataclasses import replace
from itertools import product
from typing import Any

import pytest

from factloop.agents.safe.answer import LEFT_OUT, Answer
from factloop.agents.safe.passages import refers_back
from factloop.agents.safe.sentences import FUSED_WINDOW, GROUNDED_WINDOW, goes_on, shares_headings, windows_of
from factloop.agents.safe.state import SentenceTask

FILLER = "Something else happened then in another town. " * 200
LONG = (
    "Ada Lovelace was born in London. Her tutor was Mary Brook. " + FILLER
    + "Brook wrote on algebra. " + FILLER + "Mary Brook died in 1890. " + FILLER + "It ended well."
)  # fmt: skip


def whole_or_excerpt(response: str, start: int, end: int, *, most: int) -> str:
    return Answer(None, response).around(start, end, most=most)


def before(response: str, start: int, *, most: int) -> str:
    return Answer(None, response).before(start, most=most)


def place(text: str) -> tuple[int, int]:
    start = LONG.index(text)
    return start, start + len(text)


def test_a_response_that_fits_is_shown_whole() -> None:
    assert whole_or_excerpt(" One. Two. ", 5, 9, most=100) == "One. Two."
    assert before("One. Two. Three.", 10, most=100) == "One. Two."
    assert before("One.", 0, most=100) == ""


@pytest.mark.parametrize("mark", ["- ", "* **", "3. ", "12) ", "> ", "  - *", "| "])
def test_the_marks_that_open_the_next_line_are_no_context(mark: str) -> None:
    text = f"A list of 3.\n{mark}Second"
    assert before(text, text.index("Second"), most=100) == "A list of 3."


def test_a_long_one_shows_its_opening_the_neighbourhood_and_what_shares_names() -> None:
    shown = whole_or_excerpt(LONG, *place("Mary Brook died in 1890."), most=600)
    assert shown.startswith("Ada Lovelace was born in London. Her tutor was Mary Brook.")
    assert "Mary Brook died in 1890." in shown
    assert "Brook wrote on algebra." in shown
    assert "It ended well." not in shown
    assert len(shown) <= 600 + 6 * len(LEFT_OUT)


def test_ties_are_followed_to_those_who_say_who_is_meant() -> None:
    told = (
        "Ada Lovelace was born in London. " + FILLER + "As a pupil of Ada Lovelace one knows John Reed. " + FILLER
        + "The sister of John Reed was Olga Brandt. " + FILLER
        + "Olga Brandt grew up in Ulm. Nobody doubts it. She died there."
    )  # fmt: skip
    start = told.index("She died there.")
    shown = whole_or_excerpt(told, start, start + 15, most=600)
    assert "The sister of John Reed was Olga Brandt." in shown
    assert "As a pupil of Ada Lovelace one knows John Reed." in shown


def test_what_is_shown_stands_under_its_headings_and_the_head_of_its_table() -> None:
    table = f"## Members of the crew\n\n| Name | Role |\n| --- | --- |\n| John Roe | {'cook, ' * 100} |\n"
    table += "| Olga Brandt | smith |\n"
    told = f"The Corona sailed in 1880. {FILLER}Olga Brandt died in 1890. {FILLER}\n\n{table}"
    start = told.index("Olga Brandt died")
    shown = whole_or_excerpt(told, start, start + 25, most=600)
    assert "## Members of the crew" in shown
    assert "Name | Role" in shown
    assert "Olga Brandt | smith" in shown
    assert "John Roe" not in shown


def test_what_one_share_leaves_is_spent_on_the_others() -> None:
    told = f"Ada was born. {FILLER}It ended well."
    shown = whole_or_excerpt(told, len(told) - 14, len(told), most=3_000)
    assert 2_850 <= len(shown) <= 3_000 + 3 * len(LEFT_OUT)


def test_a_response_a_little_too_long_is_shown_whole() -> None:
    told = "Ada was born in Ulm. " * 33
    assert 600 < len(told) < 720
    assert whole_or_excerpt(told, 0, 20, most=600) == before(told + "Bo.", len(told), most=600) == told.strip()
    longer = "Ada was born in Ulm. " * 36
    assert LEFT_OUT in whole_or_excerpt(longer, 0, 20, most=600)
    assert LEFT_OUT in before(longer, len(longer), most=600)


def named_filler(n: int) -> str:
    return " ".join(f"As for Town{i}x, it lies at mile {1_000 + i}." for i in range(n))


def test_steps_that_introduce_each_other_come_before_all_other_mentions() -> None:
    often = " ".join(f"Fennby saw Dolphin Hall in {year}." for year in range(1800, 1860))
    told = (
        f"Ada was born in Ulm. {named_filler(40)} Ada owned land at Ravenford. {named_filler(40)} "
        f"Dolphin Hall stands in Ravenford. {named_filler(40)} Dolphin Hall was drawn by Fennby. {often} "
        f"{named_filler(40)} Fennby died in 1870."
    )
    start = told.index("Fennby died in 1870.")
    shown = whole_or_excerpt(told, start, len(told), most=1_200)
    for step in (
        "Dolphin Hall was drawn by Fennby.",
        "Dolphin Hall stands in Ravenford.",
        "Ada owned land at Ravenford.",
    ):
        assert step in shown


def test_nothing_is_cut_within_a_sentence_and_each_gap_is_said() -> None:
    shown = whole_or_excerpt(LONG, *place("Brook wrote on algebra."), most=600)
    pieces = [piece.strip() for piece in shown.split(LEFT_OUT)]
    assert len(pieces) >= 3
    for piece in pieces:
        assert piece == "" or (piece in LONG and piece.endswith("."))


def test_what_stands_before_shows_nothing_that_follows() -> None:
    start, _ = place("Mary Brook died in 1890.")
    shown = before(LONG, start, most=600)
    assert shown.startswith("Ada Lovelace")
    assert "Brook wrote on algebra." in shown
    assert "Mary Brook died" not in shown


def test_headings_and_marks_stay_where_they_were() -> None:
    listed = "# Ada\n\n" + "".join(f"- item {number} says something of its own\n" for number in range(400))
    start = listed.index("item 200")
    shown = whole_or_excerpt(listed, start, start + 8, most=400)
    assert shown.startswith("# Ada\n\n- item 0")
    assert "\n- item 199 says something of its own\n- item 200" in shown


@pytest.mark.large
@pytest.mark.parametrize("text", ["x" * 1_000_000, "A. " * 300_000, "Ada " * 200_000])
def test_a_megabyte_stays_bounded(text: str) -> None:
    assert len(before(text, len(text), most=600)) <= 600 + 2_100 + 6 * len(LEFT_OUT)


def answer(*lengths: int, apart: int | None = None, given: int | None = None) -> list[SentenceTask]:
    sentences: list[SentenceTask] = []
    start = 0
    for number, length in enumerate(lengths):
        facts = ["A fact."] if number == given else None
        sentences.append(SentenceTask("x", start, start + length, number=number, given=facts, is_apart=number == apart))
        start += length
    return sentences


MOST, THIRD = GROUNDED_WINDOW.sentences, GROUNDED_WINDOW.characters // 3


@pytest.mark.parametrize(
    ("sentences", "expected"),
    [
        (answer(*[2 * GROUNDED_WINDOW.characters // 9] * 9), [3, 3, 3]),  # filled up 4, 4 and 1, as slow as 4
        (answer(THIRD, THIRD, THIRD), [3]),
        (answer(THIRD, THIRD, THIRD + 1), [2, 1]),
        (answer(100, GROUNDED_WINDOW.characters + 1, 100), [1, 1, 1]),
        (answer(*[10] * MOST), [MOST]),
        (answer(*[10] * (MOST + 2)), [MOST // 2 + 1] * 2),
        (answer(100, 100, 100, apart=1), [1, 2]),
        (answer(100, 100, 100, given=1), [1, 1, 1]),
        ([], []),
    ],
)
def test_windows_are_of_like_length_and_end_where_nothing_reads_on(
    sentences: list[SentenceTask], expected: list[int]
) -> None:
    windows = windows_of(sentences, GROUNDED_WINDOW, goes_on)
    assert [len(window) for window in windows] == expected
    assert [sentence for window in windows for sentence in window] == sentences


@pytest.mark.parametrize(
    ("other", "together"),
    [
        ({}, True),
        ({"is_apart": True}, True),
        ({"above": "Prices"}, False),
        ({"is_code": True}, False),
        ({"given": ["A."]}, False),
    ],
)
def test_the_fused_plan_reads_sentences_together_that_stand_under_the_same_headings(
    other: dict[str, Any], together: bool
) -> None:
    first, second = answer(50, 50)
    second = replace(second, **other)
    windows = [windows_of(pair, FUSED_WINDOW, shares_headings) for pair in ([first, second], [second, first])]
    assert [len(found) for found in windows] == [1 if together else 2] * 2


REFERRING = [
    "She died in Ulm.",
    "**It** met in Zephyr Hall from 1825.",
    "Its walls are of brick.",
    "The firm was sold to Lang.",
    "This was new.",
    "In 1850, she left for Ulm.",
    "In 1850 she left for Ulm.",
    "If one leaves aside what was told in the taverns, it held its sessions in Swan Hall.",
    "By then the mill had burned down.",
    "Later they moved to Ulm.",
    "Over the years the mill grew.",
    "After the war, the firm was sold.",
]
NAMING = [
    "Ada Lovelace died in Ulm.",
    "Ada Lovelace, the daughter of a poet, died in Ulm.",
    "The Lang Institute met in Ulm.",
    "In 1850, Ada Lovelace left her house.",
    "In 1850 Ada Lovelace left her house.",
    "Over the years, Ada Lovelace was a teacher.",
    "Over the years Ada Lovelace was a teacher.",
    "In her youth, Ada Lovelace sang.",
    "After she left Ulm, Ada Lovelace sang.",
    "With the help of the firm Ada Lovelace sang.",
    "Theodore left.",
    "Itinerant smiths came to Ulm.",
    "Nobody knows whether she left.",
    "1850",
]


@pytest.mark.parametrize(("text", "refers"), [*product(REFERRING, [True]), *product(NAMING, [False])])
def test_a_sentence_whose_subject_is_said_elsewhere_refers_back(text: str, refers: bool) -> None:
    assert refers_back(text) is refers
