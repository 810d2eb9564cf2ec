"""Which parts of a response no model is asked about; in doubt it is."""

from __future__ import annotations

import pytest

from factloop.tools.linguistics.outline import Part, PartKind, read_outline
from factloop.tools.linguistics.silence import silence_of


def silence(text: str, kind: PartKind = "prose") -> str | None:
    return silence_of(Part(text, 0, len(text), kind))


@pytest.mark.parametrize(
    "text",
    [
        "Sure!", "Sure! Here is an overview of Ada Lovelace:", "Here is what is known about Ada:", "Hi there!",
        "Here’s a short summary.", "I hope this helps!", "Let me know if you need more details about metformin.",
        "If you have any questions, just ask!", "Here are the main side effects:",
        "Thank you for contacting Nimbus support.", "Feel free to ask.",
    ],
)  # fmt: skip
def test_greetings_offers_and_announcements_are_remarks(text: str) -> None:
    assert silence(text) == "remark"


@pytest.mark.parametrize(
    "text",
    [
        "Sure, she was born in Ulm.", "I recommend stopping it 48 hours before a CT scan.",
        "You should stop it before a CT scan.", "If you have kidney disease, you should not take metformin.",
        "Here are the main side effects: nausea, diarrhoea.", "Thanks to Ada, the tower stands.",
        "Hi Sam, your order shipped on Monday.", "Of course, Paris is the capital of France.", "Yes.",
        "Here is the catch: Python 3.8 is not supported.", "Let me know by 5 May if you want the refund.",
        "You can cancel at any time.",
    ],
)  # fmt: skip
def test_advice_rules_and_whatever_states_something_are_read(text: str) -> None:
    assert silence(text) is None


def test_questions_state_nothing() -> None:
    assert silence("Who was she?") == silence("“Who was she?”") == "question"
    assert silence("She asked “who?” and left.") is None


def test_headings_state_nothing_unless_they_have_a_verb() -> None:
    assert silence("Early life", "heading") == silence("**Mechanism of action:**", "heading") == "heading"
    assert silence("Founded in 1820 by Ada Brisk", "heading") is None
    assert silence("Name | Town", "head") == "heading"


def test_rows_and_code_are_read() -> None:
    assert silence("Ada | Ulm", "row") is None
    assert silence("```sh\npip install x\n```", "code") is None


def test_of_a_support_answer_what_states_something_is_left() -> None:
    answer = (
        "Hi Sam!\n\n## Installing\n\nSure, here is how:\n\n1. Run `pip install nimbus-sync`.\n"
        "2. You can cancel at any time.\n\n| Plan | Price |\n|--|--|\n| Pro | 9 USD |\n\nDoes that help?\n"
        "Let me know if you need anything else!"
    )
    read = [part.text for part in read_outline(answer) if silence_of(part) is None]
    assert read == ["Run `pip install nimbus-sync`.", "You can cancel at any time.", "Pro | 9 USD"]
