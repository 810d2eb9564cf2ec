"""Equal sentences of one response."""

from __future__ import annotations

import re

import pytest

from factloop.agents.safe.answer import Answer
from factloop.agents.safe.state import SentenceTask


def before_each(response: str, sentence: str) -> list[str]:
    """What each place of the sentence is told apart by."""
    return [
        Answer(None, response).told_apart_by(SentenceTask(found[0], found.start(), found.end()))
        for found in re.finditer(sentence, response)
    ]


@pytest.mark.parametrize(
    ("response", "expected"),
    [
        ("Ada sang. She left. Bea sang.", [""]),
        ("Ada sang. She left. Bea ran. She left.", ["Ada sang.", "Bea ran."]),
        ("Ada sang. She left.\n\nBea\nran. She\nleft.", ["Ada sang.", "Bea ran."]),
        ("Ada sang. She left.[3] Bea ran.[4] She **left**.", ["Ada sang.", "Bea ran.[4]"]),
        ("She left. Bea ran. She left.", ["", "Bea ran."]),
        ("Ada sang. All wept. She left. Bea ran. All wept. She left.", ["Ada sang. All wept.", "Bea ran. All wept."]),
        ("- Ada sang.\n- She left.\n- Bea ran.\n- She left.", ["Ada sang.", "Bea ran."]),
        ("Ada sang. Then She left. Bea ran. She left.", ["", ""]),
        ("## Ada\n\nThis was hard. She left.\n\n## Bea\n\nThis was easy. She left.", ["", ""]),
        ("## Ada\n\nShe left.\n\nBea ran. She left.", ["", "Bea ran."]),
    ],
)
def test_a_sentence_is_told_from_its_equals_by_what_stands_before_it(response: str, expected: list[str]) -> None:
    assert before_each(response, r"She\s\**left\**\.") == expected


def test_no_more_than_four_sentences_before_it_are_shown() -> None:
    sung = "It rained. It blew. It froze. It thawed. It snowed. She left."
    assert before_each(f"Ada sang. {sung} Bea ran. {sung}", r"She left\.") == [sung.removesuffix(" She left.")[11:]] * 2


def test_rows_and_sentences_of_no_response_have_nothing_before_them() -> None:
    table = "| Name | Town |\n| --- | --- |\n| Ada | Ulm |\n| Bea | Bonn |\n| Ada | Ulm |\n"
    assert before_each(table, r"Ada \| Ulm") == ["", ""]
    assert Answer(None, "Ada sang.").told_apart_by(SentenceTask("Bea ran.", 0, 0)) == ""
