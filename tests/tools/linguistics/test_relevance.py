from __future__ import annotations

import pytest

from factloop.tools.linguistics.relevance import is_relevant

PROMPT = "Who was Mira Halden?"
RESPONSE = (
    "Mira Halden was a chemist from Lindel. She worked with Otto Berg. Berg taught geometry. "
    "Bananas are rich in potassium. Giraffes sleep little."
)


@pytest.mark.parametrize(
    "claim",
    [
        "Mira Halden was a chemist from Lindel.",
        "Halden died in 1955.",
        "Otto Berg taught geometry.",
        "Lindel is a town.",
    ],
)
def test_relevant_by_the_question_or_by_the_response(claim: str) -> None:
    assert is_relevant(claim, prompt=PROMPT, response=RESPONSE)


@pytest.mark.parametrize("claim", ["Bananas are rich in potassium.", "Giraffes sleep little."])
def test_irrelevant_where_nothing_connects(claim: str) -> None:
    assert not is_relevant(claim, prompt=PROMPT, response=RESPONSE)


@pytest.mark.parametrize("prompt", [None, "", "  ", "Tell me some facts.", "谁是米拉？"])
def test_without_a_question_to_judge_by_everything_is_relevant(prompt: str | None) -> None:
    assert is_relevant("Bananas are rich in potassium.", prompt=prompt, response=RESPONSE)
