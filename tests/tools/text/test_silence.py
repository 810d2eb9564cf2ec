"""Parts of a response that no model is asked about; in doubt it is."""

from __future__ import annotations

import pytest

from factloop.tools.text.outline import Part, PartKind
from factloop.tools.text.silence import silence_of, states_nothing

SILENT = [
    "Sure!", "Here is what is known about Ada:", "Hi there!", "Here’s a short summary.", "I hope this helps!",
    "Let me know if you need more details about metformin.", "Feel free to ask.", "You’re welcome!",
    "If you have any further questions, feel free to reach out.", "Thank you for your order.", "Dear Sir or Madam,",
    "I'm sorry to hear that.", "Best regards,", "Kind regards, Ada Brown", "Hope this helps!", "Good luck!",
    "Would you like me to explain further?", "Who was she?", "When was she born?", "What are the main side effects?",
    "Is there anything else I can help you with?", "How do I cancel?", "Is aspirin safe in pregnancy?",
    "Here are the main side effects:", "Side effects:", "I'd be happy to help with other questions about bridges.",
]  # fmt: skip
TELLING = [
    "She was born in Ulm.", "I recommend stopping it 48 hours before a CT scan.", "Yes.", "You can cancel at any time.",
    "If you have kidney disease, you should not take metformin.", "Thanks to Ada, the tower stands in Lindel.",
    "Hi Sam, your order shipped on Monday.", "Here is the catch: Python 3.8 is not supported.", "Wait two hours.",
    "Let me know by 5 May if you want the refund.", "Thanks for writing to Velmo Ferries, which sank.",
    "Did you know that Ada Lovelace killed her husband in 1999?", "Aspirin cures cancer, doesn't it?",
    "Ada was born in 1999, right?", "Is it true that aspirin cures cancer?", "Born 1999", "Lethal in children.",
    "Did you know aspirin cures cancer?", "Isn't aspirin lethal?", "It costs 9 €:", "Es war schön.", "他很好。",
]  # fmt: skip


def silence(text: str, kind: PartKind = "prose") -> str | None:
    return silence_of(Part(text, 0, len(text), kind))


def test_talk_and_questions_are_mostly_told_and_statements_never_taken_for_them() -> None:
    assert [text for text in TELLING if silence(text) is not None or states_nothing(text)] == []
    assert sum(silence(text) is not None for text in SILENT) >= 0.9 * len(SILENT)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("What a life!", True),
        ("I find this remarkable.", True),
        ("In my opinion it is lovely.", True),
        ("It was beautiful!", True),
        ("I met Ada in 1840.", False),
        ("Ada is lovely.", False),
        ("It is safe in pregnancy.", False),
        ("What a man Otto was!", False),
    ],
)
def test_where_no_claim_was_found_an_opinion_is_told_from_what_may_state_something(text: str, expected: bool) -> None:
    assert states_nothing(text) is expected


@pytest.mark.parametrize(
    ("heading", "expected"),
    [
        ("Early life", "heading"),
        ("3.2 The early years", "heading"),
        ("Chapter 3", "heading"),
        ("Top 5 recipes", "heading"),
        ("How do I cancel?", "question"),
        ("The bridge was opened in 1826", None),
        ("It is lethal.", None),
        ("Opened 1826", None),
    ],
)
def test_a_heading_is_read_where_it_has_a_verb_a_figure_or_a_full_stop(heading: str, expected: str | None) -> None:
    assert silence(heading, "heading") == expected


def test_the_head_of_a_table_is_silent_and_code_and_rows_are_not() -> None:
    assert silence("Plan | Price", "head") == "heading"
    assert silence("x = 1", "code") is None
    assert silence("Team | 9 €", "row") is None
