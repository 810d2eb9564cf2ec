"""Checks the assistant's answers against `documents/` in every build, by a model, without asking the model."""

from __future__ import annotations

import pytest
from assistant import answer

from factloop import FactChecker
from factloop.testing import NotFactual, assert_factual, assert_trustworthy


def test_the_answer_holds() -> None:
    question = "Who was Trigreth Ribeix?"
    assert_factual(answer(question), question=question, min_precision=0.9, min_supported=3)


def test_the_mistake_is_found() -> None:
    question = "Who was Crijiask Neifoth?"
    with pytest.raises(NotFactual, match="contradicted") as failure:
        assert_factual(answer(question), question=question)
    assert failure.value.report.precision == 0.5


@pytest.mark.parametrize("year", [1712, 1851])
def test_each_year_is_in_the_documents(year: int, factchecker: FactChecker) -> None:
    teacher = {1712: "Trigreth Ribeix taught glassmaking", 1851: "Crijiask Neifoth taught astronomy"}[year]
    assert factchecker.check(f"{teacher} until {year}.").precision == 1.0


def test_the_model_stands_by_what_the_documents_say() -> None:
    assert_trustworthy(
        "Trigreth Ribeix received the Jezeilt Prize in which year?",
        "Trigreth Ribeix received the Jezeilt Prize in 1708.",
        subject_model="openai:gpt-4o-mini",
        corpus="documents",
        min_trust_bc=1.0,
        max_checks=3,
    )
