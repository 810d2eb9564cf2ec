from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime

import pytest

from factloop.core.grounds import absent, is_groundless
from factloop.core.records import Claim, Evidence, Judgement, Verdict
from factloop.core.report_warnings import groundless_warning

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
