from __future__ import annotations

import math
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from factloop.agents.trustscore.choices import LETTERS, letter_probabilities, read_choice
from factloop.agents.trustscore.records import Letter, Option, OptionKind
from factloop.tools.models.wire import ReplyToken

OPTIONS = (
    Option(letter="A", text="Gopal built the first temple.", kind=OptionKind.DISTRACTOR, distractor=0),
    Option(letter="B", text="A mason built the first temple.", kind=OptionKind.DISTRACTOR, distractor=1),
    Option(letter="C", text="King Solomon built the first temple.", kind=OptionKind.RESPONSE),
    Option(letter="D", text="Alexander built the first temple.", kind=OptionKind.DISTRACTOR, distractor=2),
    Option(letter="E", text="None of the above.", kind=OptionKind.NONE_OF_THE_ABOVE),
)

READ_AS_C = [
    "c",
    "(c)",
    '"C"',
    "option c.",
    "$\\boxed{C}$",
    "**Answer:** C",
    "The answer is C.",
    "The correct answer is (C) King Solomon built the first temple.",
    "The correct option would be C, as the Bible tells.",
    "I would choose C.",
    "C) King Solomon built the first temple.",
    "C. King Solomon built the first temple.",
    "(C) King Solomon built the first temple. A and B lived later.",
    "King Solomon built the first temple.",
    "Alexander lived in the fourth century BC, far too late.\nKing Solomon reigned about 950 BC.\n\nC",
    "The first temple is Solomon's. Therefore, the answer is C.",
    "A) Gopal built it.\nB) A mason built it.\nC) King Solomon built it.\nD) Alexander built it.\nAnswer: C",
    "<think>Is it A? No, the answer is B. Hmm.</think>\nC",
    "\\boxed{\\text{C}}",
    "The final answer is: $\\boxed{\\text{(C)}}$",
    '{"answer": "C"}',
    'It is this:\n```json\n{"choice": "C"}\n```',
    "<C>",
    "C<|eot_id|>",
    "\u200bC",
    "\uff23",  # of full width
    "\u201cC\u201d",
    "## Answer\nC",
    "c) King Solomon",
    "I'd say C.",
    "I’d choose C",
    "I think it's between A and C, but I'd go with C.",
    "A is wrong. B is wrong. D is wrong. The answer is C.",
    "The answer is C, not D.",
    "C because he is said to have built it.",
    "C, since it is well known.",
    "C\n\nC) King Solomon built the first temple.",
    "C\n\nQuestion: who built the second one?",
]

READ_AS_NONE = [
    "",
    "A or C",
    "The answer is A/C.",
    "C) King Solomon\nD) Alexander",
    "C) King Solomon or Alexander built the first temple.",
    "C) King Solomon built the first temple. No, that is wrong: Gopal built the first temple.",
    "The answer is C. Wait, actually it is B.",
    "The answer is A. No, the answer is C.",
    "The answer is not C.",
    "A good question.",
    "G) Somebody else",
    "I cannot answer that.",
    "C is for cookie, D is for duck.",
    "King Solomon built the first temple, or Alexander built the first temple.",
    "King Solomon never built it; King Solomon built the first temple is wrong.",
    "It was not the case that Alexander built the first temple.",
    "Vitamin C",
    "ソロモン王",
    "A. Lincoln did it.",
    "C. S. Lewis wrote it.",
    "C, D and E are wrong.",
    "A: I am a language model and cannot know.",
    "A - D are all wrong.",
    "C) B",
    "C) Alexander built the first temple.",
    "A. A mason built the first temple.",
    "A) no\nB) no\nC) yes\nD) no",
    "none of the above is right; C is",
    "C\n\nQuestion: who built it next?\nA) he\nB) she\nAnswer: B",
    "Answer: C\nQuestion: and then?\nAnswer: D",
    "The answer isn't A and it isn't C.",
    "Neither A nor C is correct.",
    "All of the above.",
    "The answer is a matter of opinion.",
    "\u0421",  # a Cyrillic letter
    '{"answer": "A"} {"answer": "B"}',
    '{"answer": null}',
    "the first temple",
    "<think>Temples. So the answer is C",
]


OTHERS: list[tuple[str, Letter]] = [
    ("None of the above", "E"),
    ("None of the options is correct.", "E"),
    ("E) None of the above.", "E"),
    ("Answer: A because Gopal did.", "A"),
    ("A mason built the first temple.", "B"),
    ("A. Gopal built the first temple.", "A"),
    ("I'd go with A since Gopal did.", "A"),
]


@pytest.mark.parametrize(("reply", "letter"), [*product(READ_AS_C, "C"), *product(READ_AS_NONE, [None]), *OTHERS])
def test_a_plain_choice_is_read_and_what_is_no_single_one_is_not_guessed(reply: str, letter: Letter | None) -> None:
    assert read_choice(reply, OPTIONS) == letter


def options(*texts: str) -> tuple[Option, ...]:
    letters: tuple[Letter, ...] = ("A", "B", "C", "D")
    return tuple(
        Option(letter=letter, text=text, kind=OptionKind.DISTRACTOR, distractor=number)
        for number, (letter, text) in enumerate(zip(letters, texts, strict=False))
    )


@pytest.mark.parametrize(
    ("texts", "reply", "letter"),
    [
        (("A. Lincoln did it.", "B. Franklin did it."), "A. Lincoln did it.", "A"),
        (("B. Franklin did it.", "A. Lincoln did it."), "A. Lincoln did it.", "B"),
        (("Lincoln did it.", "Franklin did it."), "A. Lincoln did it.", "A"),
        (("King David built it.", "King Olaf built it."), "A king built it.", None),
        (("King David built it.", "King Olaf built it."), "A King David built it.", "A"),
        (("King Olaf built it.", "King David built it."), "B King David built it.", "B"),
        (("London", "London, England"), "London, England", "B"),
        (("London", "London, England"), "B) London, England", "B"),
        (("London", "London, England"), "It is London, or London, England.", None),
        (("London", "London, England"), "A) London, England", None),
        (("It fell.", "it fell!"), "It fell.", "A"),
        (("It fell.", "it fell!"), "IT FELL", None),
        (("It fell.", "it fell!"), "B) it fell", "B"),
        (("2017", "2018", "17"), "2017", "A"),
        (("Vitamin D", "Vitamin B", "Vitamin C"), "C) Vitamin C", "C"),
        (("Vitamin D", "Vitamin B", "Vitamin C"), "B) Vitamin C", None),
        (("B", "AB"), "A) B", "A"),
        (("!!!", "King"), "...", None),
        (("ソロモン王", "ダビデ王"), "B) ダビデ王", "B"),
    ],
)
def test_options_that_are_like_letters_or_like_each_other(
    texts: tuple[str, ...], reply: str, letter: Letter | None
) -> None:
    assert read_choice(reply, options(*texts)) == letter


ODD_TEXT = st.text("ABCDEabcde .,:;!?()[]{}<>*_`'\"$\\\n-", max_size=60)


@given(st.text(max_size=300) | ODD_TEXT)
def test_any_text_is_read_or_refused(reply: str) -> None:
    assert read_choice(reply, OPTIONS) in {None, "A", "B", "C", "D", "E"}


@given(
    st.sampled_from("ABCDE"),
    st.sampled_from(["{}", "({})", "{})", "[{}]", "**{}**", "{}.", "Answer: {}.", "The answer is ({}).", "Option {}"]),
    st.text(" \n\t*_`", max_size=5),
)
def test_every_letter_is_read_in_every_dress(letter: str, dress: str, around: str) -> None:
    assert read_choice(around + dress.format(letter) + around, OPTIONS) == letter


@pytest.mark.parametrize(
    "piece", ["(", " ", "answer ", "answer(", "*", "C) ", "so ", "\n", " \n", "A. ", "it is ", "<a", "\\("]
)
@pytest.mark.timeout(10)
def test_no_reply_takes_long_to_read(piece: str) -> None:
    """Patterns that match one space in two ways took minutes for some of these. Every reply says only C."""
    replies = (piece * 10_000, f"x{piece * 10_000}x", f"answer{piece * 10_000}C")
    assert {read_choice(reply, OPTIONS) for reply in replies} <= {None, "C"}


def test_a_very_long_reply_is_read_by_its_end() -> None:
    assert read_choice("so it goes " * 100_000 + "\nAnswer: D", OPTIONS) == "D"


HERE = {"C": math.log(0.7), "A": math.log(0.2)}
"""Alternatives in the place where the letter is chosen."""
ELSEWHERE = {"C": math.log(0.01), "B": math.log(0.9)}
"""Alternatives in a place where the same letter means something else."""


def tokens(*texts: str, here: int) -> list[ReplyToken]:
    return [
        ReplyToken(text, HERE if place == here else {**ELSEWHERE, text: math.log(0.5)})
        for place, text in enumerate(texts)
    ]


@pytest.mark.parametrize(
    ("texts", "here"),
    [
        (["C"], 0),
        (["C", ")", " King", " Solomon"], 0),
        (["**", "C", "**"], 1),
        (["C", ")", " Vitamin", " C"], 0),
        (['{"', "answer", '":"', "C", '"}'], 3),
        (['{"', "answer", '":"C', '"}'], 2),
        (["{\n", ' "', "answer", '":', ' "', "C", ")", " Vitamin", " C", '"', "}"], 5),
        (["Answer", ":", " C", ")", " Vitamin", " C"], 2),
        (["The", " answer", " is", " **", "C", "**", ",", " vitamin", " C"], 4),
        (["A", " or", " C", "?", " So", " C"], 5),
        (["The", " answer", " is", " not", " C", "?", " Yes", ":", " C"], 8),
        (["<think>", "The", " answer", " is", " C", "</", "think", ">", "\n", "C"], 9),
        (["<think>", "C", "</think>", "Option", " C"], 4),
    ],
)
def test_the_letter_is_read_where_it_is_chosen(texts: list[str], here: int) -> None:
    found = letter_probabilities(tokens(*texts, here=here), "C")
    assert found == pytest.approx({"A": 0.2, "C": 0.7})


def test_an_article_is_not_taken_for_the_letter() -> None:
    said = [
        ReplyToken("The answer is", {}),
        ReplyToken(" A", {" A": math.log(0.6), " B": math.log(0.3)}),
        ReplyToken(", as", {}),
        ReplyToken(" a", {" a": math.log(0.9), " the": math.log(0.1)}),
        ReplyToken(" king", {}),
    ]
    assert letter_probabilities(said, "A") == pytest.approx({"A": 0.6, "B": 0.3})


def test_the_forms_of_a_letter_add_up() -> None:
    forms = {"C": 0.5, " C": 0.2, "C)": 0.1, "**C": 0.05, " B": 0.08, "B": 0.02, "King": 0.03, "CD": 0.01, "": 0.01}
    said = [ReplyToken("C", {text: math.log(share) for text, share in forms.items()})]
    assert letter_probabilities(said, "C") == pytest.approx({"B": 0.1, "C": 0.85})


@pytest.mark.parametrize(
    "said",
    [
        [],
        [ReplyToken("King", {"King": -0.1, "C": -3.0}), ReplyToken(" Solomon", {" Solomon": -0.1})],
        [ReplyToken("B", {"B": -0.1, "C": -2.0})],
    ],
    ids=["no tokens", "the option's text", "another letter"],
)
def test_where_the_letter_was_not_written_nothing_is_known(said: list[ReplyToken]) -> None:
    assert letter_probabilities(said, "C") is None


TEXTS = st.sampled_from(["C", " C", '":"C', "c", "A", " a", "answer", "</think>", "", "King"]) | st.text(max_size=9)


@given(
    st.lists(st.builds(ReplyToken, TEXTS, st.dictionaries(TEXTS, st.floats(), max_size=5)), max_size=8),
    st.sampled_from(LETTERS),
)
def test_probabilities_lie_between_zero_and_one(said: list[ReplyToken], letter: Letter) -> None:
    found = letter_probabilities(said, letter)
    assert found is None or (letter in found and all(0.0 <= share <= 1.0 for share in found.values()))
