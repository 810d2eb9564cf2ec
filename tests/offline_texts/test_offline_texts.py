"""Whole offline checks of answers whose facts were judged by hand (`python -m benchmarks.offline_texts`)."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.offline_texts import SETS, Fact, HandText, Label, Outcome, check_text, held_facts, rates, read_texts
from factloop.core.records import Claim, Judgement, Verdict
from factloop.tools.linguistics.personal import leaves_person_open

LEAST = {"development": (0.8, 0.8), "unseen": (0.66, 0.62)}
"""Rates by set: of the true claims called supported, of the others not."""


@pytest.fixture(scope="module", params=SETS)
def checked(request: pytest.FixtureRequest) -> tuple[str, list[Outcome]]:
    return request.param, [check_text(text) for text in read_texts(request.param)]


def test_true_claims_are_supported_and_others_are_not(checked: tuple[str, list[Outcome]]) -> None:
    name, outcomes = checked
    found = rates(outcomes)
    least_tpr, least_tnr = LEAST[name]
    assert found.tpr >= least_tpr
    assert found.tnr >= least_tnr


def test_few_claims_are_unscored_and_few_facts_without_a_claim(checked: tuple[str, list[Outcome]]) -> None:
    _, outcomes = checked
    assert sum(one.n_unscored for one in outcomes) <= 9
    assert sum(len(one.missed) for one in outcomes) <= 1  # a command, which the offline engine does not read


def test_few_sentences_are_left_whole_where_facts_are_apart(checked: tuple[str, list[Outcome]]) -> None:
    _, outcomes = checked
    assert sum(one.n_whole for one in outcomes) <= 5


def test_no_scored_claim_leaves_open_who_he_or_she_is(checked: tuple[str, list[Outcome]]) -> None:
    _, outcomes = checked
    scored = [one.claim for outcome in outcomes for one in outcome.held if one.verdict is not None]
    assert [claim.self_contained for claim in scored if leaves_person_open(claim.self_contained, ())] == []


ANSWER = "Ada was born in Lindel and studied law. Bo sang."


def fact(text: str, sentence: str, label: Label) -> Fact:
    start = ANSWER.index(sentence)
    return Fact(text, start, start + len(sentence), label)


def claim(number: int, text: str, sentence: str, *, is_supported: bool) -> Claim:
    start = ANSWER.index(sentence)
    judgement = (
        Judgement(verdict=Verdict.SUPPORTED, judged_by="x")
        if is_supported
        else Judgement(verdict=Verdict.NOT_SUPPORTED, contradicted=False, judged_by="x")
    )
    return Claim(
        id=f"c{number}",
        sentence=sentence,
        span=(start, start + len(sentence)),
        text=text,
        self_contained=text,
        judgement=judgement,
    )


FIRST, SECOND = "Ada was born in Lindel and studied law.", "Bo sang."
FACTS = (
    fact("Ada was born in Lindel.", FIRST, "supported"),
    fact("Ada studied law.", FIRST, "contradicted"),
    fact("Bo sang.", SECOND, "supported"),
)
TEXT = HandText("x", "", ANSWER, Path(), FACTS)


def test_a_claim_that_holds_several_facts_is_true_only_if_all_are() -> None:
    """The first claim holds a true and a false fact and is called supported: wrong. The second is right."""
    outcome = held_facts(TEXT, [claim(1, FIRST, FIRST, is_supported=True), claim(2, SECOND, SECOND, is_supported=True)])
    found = rates([outcome])
    assert (found.tpr, found.tnr, outcome.n_whole) == (1.0, 0.0, 0)


def test_each_fact_goes_to_the_claim_with_most_of_its_words() -> None:
    claims = [
        claim(1, "Ada was born in Lindel.", FIRST, is_supported=True),
        claim(2, "Ada studied law.", FIRST, is_supported=False),
    ]
    outcome = held_facts(TEXT, claims)
    assert [[held.text for held in one.facts] for one in outcome.held] == [[FACTS[0].text], [FACTS[1].text]]
    assert outcome.missed == (FACTS[2],)
    assert (rates([outcome]).tpr, rates([outcome]).tnr) == (1.0, 1.0)
