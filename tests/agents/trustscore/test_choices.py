"""How replies are read as choices: what is plainly one letter is read, everything else is none."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from factloop.agents.trustscore.choices import read_choice
from factloop.trust_records import Letter, Option, OptionKind

OPTIONS = (
    Option(letter="A", text="Gopal built the first temple.", kind=OptionKind.DISTRACTOR, distractor=0),
    Option(letter="B", text="A mason built the first temple.", kind=OptionKind.DISTRACTOR, distractor=1),
    Option(letter="C", text="King Solomon built the first temple.", kind=OptionKind.RESPONSE),
    Option(letter="D", text="Alexander built the first temple.", kind=OptionKind.DISTRACTOR, distractor=2),
    Option(letter="E", text="None of the above.", kind=OptionKind.NONE_OF_THE_ABOVE),
)

READ_AS_C = [
    "C",
    "c",
    " C\n",
    "C)",
    "(c)",
    "(C)",
    "[C]",
    "C.",
    "**C**",
    '"C"',
    "Option C",
    "option c.",
    "$\\boxed{C}$",
    "\\boxed{\\text{C}}".replace("\\text{C}", "C"),
    "Answer: C",
    "Answer: C.",
    "**Answer:** C",
    "Answer: (C)",
    "answer = C",
    "The answer is C.",
    "The correct answer is (C) King Solomon built the first temple.",
    "The correct option would be C, as the Bible tells.",
    "I would choose C.",
    "C) King Solomon",
    "C) King Solomon built the first temple.",
    "C. King Solomon built the first temple.",
    "C: King Solomon built the first temple",
    "C - King Solomon built the first temple.",
    "**C)** King Solomon built the first temple.",
    "(C) King Solomon built the first temple. A and B lived later.",
    "King Solomon built the first temple.",
    "king solomon built the first temple",
    "I believe that King Solomon built the first temple, around 950 BC.",
    "Alexander lived in the fourth century BC, far too late.\nKing Solomon reigned about 950 BC.\n\nC",
    "The first temple is Solomon's. Therefore, the answer is C.",
    "Let us see. So C.",
    "A) Gopal built it.\nB) A mason built it.\nC) King Solomon built it.\nD) Alexander built it.\nAnswer: C",
    "<think>Is it A? No, the answer is B. Hmm.</think>\nC",
    "Temples are old.\nC) King Solomon built the first temple.",
    "It is widely known.\n**C**",
]

READ_AS_NONE = [
    "",
    "   ",
    "C, D",
    "A or C",
    "A and C",
    "Answer: A or C",
    "The answer is A/C.",
    "C)\nD)",
    "C) King Solomon\nD) Alexander",
    "The answer is A. No, the answer is C.",
    "The answer is not C.",
    "A good question.",
    "Answer: A good question deserves a good answer.",
    "F",
    "G) Somebody else",
    "I cannot answer that.",
    "I don't know.",
    "As a language model I have no opinion.",
    "Everybody knows.",
    "C#",
    "C is for cookie, D is for duck.",
    "King Solomon built the first temple, or Alexander built the first temple.",
    "King Solomon never built it; King Solomon built the first temple is wrong.",
    "It was not the case that Alexander built the first temple.",
    "Vitamin C",
    "42",
    "ソロモン王",
]


@pytest.mark.parametrize("reply", READ_AS_C)
def test_a_plain_choice_is_read(reply: str) -> None:
    assert read_choice(reply, OPTIONS) == "C"


@pytest.mark.parametrize("reply", READ_AS_NONE)
def test_what_is_no_single_choice_is_not_guessed(reply: str) -> None:
    assert read_choice(reply, OPTIONS) is None


@pytest.mark.parametrize(
    ("reply", "letter"),
    [
        ("None of the above", "E"),
        ("E) None of the above.", "E"),
        ("A", "A"),
        ("Answer: A because Gopal did.", "A"),
        ("A mason built the first temple.", "B"),
    ],
)
def test_other_letters(reply: str, letter: Letter) -> None:
    assert read_choice(reply, OPTIONS) == letter


def test_a_letter_that_was_not_offered_is_no_choice() -> None:
    assert read_choice("E", OPTIONS[:4]) is None


@given(st.text(max_size=300))
def test_any_text_is_read_or_refused(reply: str) -> None:
    assert read_choice(reply, OPTIONS) in {None, "A", "B", "C", "D", "E"}


def test_a_very_long_reply_is_read_by_its_end() -> None:
    assert read_choice("so it goes " * 100_000 + "\nAnswer: D", OPTIONS) == "D"
