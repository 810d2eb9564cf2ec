"""Which questions are open-ended, and which responses answer them: the paper's examples, and what it kept."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from factloop.evaluation.datasets.mixedqa import load_mixedqa
from factloop.evaluation.mixedqa.building.filters import NoAnswer, NotOpen, why_no_answer, why_not_open

DATA = Path(os.environ.get("FACTLOOP_DATA", "../shared/data"))


@pytest.mark.parametrize(
    ("question", "why"),
    [
        ("Who was born earlier, Emma Bull or Virginia Woolf?", NotOpen.COMPARISON),  # the paper's example
        ("Is Ferocactus a type of plant?", NotOpen.YES_NO),  # the paper's example
        ("Which magazine was started first Arthur's Magazine or First for Women?", NotOpen.COMPARISON),
        ("Whose army was larger, Grant's or Lee's?", NotOpen.COMPARISON),
        ("who has more oscars meryl streep or katharine hepburn", NotOpen.COMPARISON),
        ("Which of these is a mammal: a bat, a hen or a newt?", NotOpen.COMPARISON),
        ("Ferocactus and Silene are both types of plant?", NotOpen.YES_NO),
        ("In 1990, was Mandela freed?", NotOpen.YES_NO),
        ("isn't Rome the capital of Italy", NotOpen.YES_NO),
        ("What is the capital of Oman?", None),
        ("Holloware (or hollow ware) is generally used in?", None),
        ("In which country, once known as Ceylon, is tea grown?", None),
        ("May 1968 saw riots in which city?", None),
        ("Will Smith starred in which 1997 film?", None),
        ("when is the last time wisconsin missed the ncaa tournament", None),
        ("where did richard nixon die?", None),
    ],
)
def test_open_ended_questions(question: str, why: NotOpen | None) -> None:
    assert why_not_open(question) is why


def test_what_the_source_knows_of_a_question_counts() -> None:
    assert why_not_open("Grant and Lee, who was older?", is_comparison=True) is NotOpen.COMPARISON
    assert why_not_open("Tell whether it rained.", ["Yes"]) is NotOpen.YES_NO
    assert why_not_open("What did she say?", ["Yes", "Yes, I will"]) is None


@pytest.mark.parametrize(
    ("response", "why"),
    [
        (" ", NoAnswer.BLANK),
        ("?!", NoAnswer.BLANK),
        ("the the the the", NoAnswer.REPETITIVE),
        ("It was him. It was him. It was him. It was him.", NoAnswer.REPETITIVE),
        ("who built it", NoAnswer.ECHO),
        ("Who built it?", NoAnswer.ECHO),
        ("I am not sure who built it.", NoAnswer.INCONCLUSIVE),  # the paper's examples
        ("I don't know.", NoAnswer.INCONCLUSIVE),
        ("The information is not provided in the question.", NoAnswer.INCONCLUSIVE),
        ("I’m unable to answer without more context.", NoAnswer.INCONCLUSIVE),
        ("As an AI, I have no idea.", NoAnswer.INCONCLUSIVE),
        ("Solomon", None),
        ("Duran Duran built it.", None),
        ("Joy Division made Unknown Pleasures.", None),
        ("It was not given to him until 1921.", None),
    ],
)
def test_responses_that_answer(response: str, why: NoAnswer | None) -> None:
    assert why_no_answer("Who built it?", response) is why


def test_a_long_response_of_few_words_is_repetitive() -> None:
    varied = " ".join(f"word{number}" for number in range(40))
    turns = " ".join(("one", "two", "three", "four", "five")[number * number % 5] for number in range(40))
    assert why_no_answer("?", varied) is None
    assert why_no_answer("?", turns) is NoAnswer.REPETITIVE


def test_nearly_all_that_the_paper_kept_passes() -> None:
    """1,000 questions and 3,000 responses passed the authors' scripts: 14 responses of LLaMA repeat the question."""
    if not (DATA / "mixedqa.jsonl").is_file():
        pytest.skip(f"labelled data not found in {DATA}: set FACTLOOP_DATA")
    items = list(load_mixedqa(DATA / "mixedqa.jsonl"))
    assert [item.question for item in items if why_not_open(item.question, item.reference_answers)] == []
    why = [(one.system, why_no_answer(item.question, one.text)) for item in items for one in item.responses]
    assert [one for one in why if one[1] is not None] == [("llama-7b", NoAnswer.ECHO)] * 14
