"""Checks each of the bot's answers against `sources/`. One test fails: that answer has a mistake."""

from __future__ import annotations

import pytest
from bot import ANSWERS, answer

from factloop.testing import assert_factual


@pytest.mark.parametrize("question", ANSWERS)
def test_the_answer_is_in_the_handbook(question: str) -> None:
    assert_factual(answer(question), question=question)
