"""Whether cited passages name what a claim names."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime

import pytest

from factloop.core.grounds import absent, is_groundless, made_up
from factloop.core.records import Claim, Evidence, Judgement, Verdict
from factloop.core.report_warnings import groundless_warning, made_up_warning

TOWER = ("Douglass's Tower", "James Douglass designed the present tower, which has been lit since 1882.")


def evidence(title: str, passage: str, name: str = "e1") -> Evidence:
    return Evidence(
        id=name,
        source="x",
        title=title,
        passage=passage,
        query="",
        rank=1,
        retrieved_at=datetime(2026, 1, 1, tzinfo=UTC),
    )


def claim(text: str, *, cites: Sequence[str] = ("e1",), verdict: Verdict = Verdict.SUPPORTED) -> Claim:
    contradicted = False if verdict is Verdict.NOT_SUPPORTED else None
    judgement = Judgement(verdict=verdict, cited=tuple(cites), judged_by="test", contradicted=contradicted)
    items = (evidence(*TOWER), evidence("Paris", "The Eiffel Tower stands in Paris.", "e2"))
    return Claim(
        id="c1", sentence=text, span=(0, len(text)), text=text, self_contained=text, evidence=items, judgement=judgement
    )


@pytest.mark.parametrize(
    ("text", "missing"),
    [
        ("The tower was designed by James Douglass.", set()),
        ("It was lit in 1882.", set()),
        ("It was lit in 1892.", {"1892"}),
        ("The Eiffel Tower stands in Paris.", {"eiffel", "paris"}),
        ("Douglass’s tower still stands.", set()),  # the first word may be capitalised for being the first
        ("The tower of Douglas stands.", set()),  # part of a longer name
        ("The tower by Jam stands.", {"jam"}),  # too short to be part of one
        ("It cost 1,882 pounds.", set()),
        ("everything in small letters", set()),
        ("", set()),
    ],
)
def test_names_and_figures_that_stand_nowhere(text: str, missing: set[str]) -> None:
    assert absent(text, [evidence(*TOWER)]) == missing


@pytest.mark.parametrize(
    ("text", "cites", "is_without"),
    [
        ("The Eiffel Tower stands in Paris.", ("e1",), True),
        ("The Eiffel Tower stands in Paris.", ("e2",), False),
        ("The Eiffel Tower stands in Paris.", ("e1", "e2"), False),
        ("The Eiffel Tower stands in Paris.", (), True),
        ("The tower of James Douglass opened in 1883.", ("e1",), False),  # one of three
        ("The tower is old.", ("e1",), False),  # nothing to look for
    ],
)
def test_a_claim_is_groundless_where_most_is_missing(text: str, cites: tuple[str, ...], is_without: bool) -> None:
    assert is_groundless(claim(text, cites=cites)) is is_without


def test_only_what_is_supported_can_be_groundless() -> None:
    assert not is_groundless(claim("The Eiffel Tower stands in Paris.", verdict=Verdict.NOT_SUPPORTED))


@pytest.mark.parametrize(("n_groundless", "n_grounded", "is_told"), [(1, 0, False), (2, 8, True), (2, 12, False)])
def test_many_groundless_claims_are_told(n_groundless: int, n_grounded: int, is_told: bool) -> None:
    claims = [claim("The Eiffel Tower stands in Paris.")] * n_groundless + [claim("It was lit in 1882.")] * n_grounded
    told = groundless_warning(claims)
    assert bool(told) is is_told
    assert all(f"{n_groundless} of {n_groundless + n_grounded} supported claims" in text for text in told)


QUESTION, ANSWER = "Who built Smeaton's Tower?", "It was built in 1759 by him, and stood for 118 years."


@pytest.mark.parametrize(
    ("text", "is_made_up"),
    [
        ("Smeaton's Tower was built in 1759.", False),
        ("Smeaton's Tower stood until 1877.", False),  # a date worked out
        ("It stood.", False),
        ("Jon Ek came from Ulm.", True),
        ("The treaty was signed in 1931 by Nia Ros.", True),
        ("x", True),
    ],
)
def test_a_claim_that_has_hardly_anything_of_the_answer_is_made_up(text: str, is_made_up: bool) -> None:
    one = claim(text)
    assert made_up([one], f"{QUESTION}\n{ANSWER}") == ([one] if is_made_up else [])


def test_many_claims_that_are_made_up_are_told_of() -> None:
    own, foreign = claim("Smeaton's Tower was built in 1759."), claim("x")
    (said,) = made_up_warning([own, foreign, foreign], QUESTION, ANSWER)
    assert said.startswith("2 of 3 claims have few names and figures, or no word, in common with the answer")
    assert said.endswith("The first: x")
    assert made_up_warning([own, own, foreign], QUESTION, ANSWER) == ()
    assert made_up_warning([foreign, foreign, *[own] * 12], QUESTION, ANSWER) == ()
