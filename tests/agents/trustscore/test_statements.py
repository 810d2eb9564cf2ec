from __future__ import annotations

import pytest

from factloop.agents.trustscore.statements import statement_of


@pytest.mark.parametrize(
    ("question", "answer", "statement"),
    [
        ("When did Voss die?", "1958", "Voss did die in 1958."),
        ("Where did Marie Curie win the prize?", "in Oslo", "Marie Curie did win the prize in Oslo."),
        ("In which year did Voss marry?", "1921", "Voss did marry in 1921."),
        ("Whom did Voss marry?", "Thomas Pyle", "Voss did marry Thomas Pyle."),
        ("When was the Brill tower built?", "1814.", "the Brill tower was built in 1814."),
        ("Where is Paris?", "France", "Paris is in France."),
        ("What is the capital of France?", "Paris", "the capital of France is Paris."),
        ("What's the capital of France?", "Paris", "the capital of France is Paris."),
        ("Who wrote Moby-Dick?", "Herman Melville", "Herman Melville wrote Moby-Dick."),
        ("who was the first king?", "Ada", "Ada was the first king."),
        ("How many people live there?", "300", "How many people live there? 300"),
        ("Where did it zork?", "Rome", "Where did it zork? Rome"),
        ("Capital of France", "Paris", "Capital of France Paris"),
    ],
)
def test_an_answer_is_put_into_its_question(question: str, answer: str, statement: str) -> None:
    assert statement_of(question, answer) == statement
