from __future__ import annotations

from typing import Any

import pytest

from factloop.core.records import Claim, Verdict
from factloop.reports.deciding import cited_evidence, deciding_sentence, grounds_words, marked_sentence, shown_evidence
from tests.reports.claims_about import claim

LIT = "The tower was designed by Smeaton. It was first lit in 1759. It stood until 1877."
ROCK = "The rock lies off Plymouth. Many ships were lost there."


def decided_by(one: Claim) -> str | None:
    found = deciding_sentence(one)
    return None if found is None else found.text


def test_the_sentence_that_the_judge_quotes_decides() -> None:
    assert (
        decided_by(claim("It was lit in 1769.", LIT, quote="It was first lit in 1759.")) == "It was first lit in 1759."
    )


def test_a_quote_is_found_over_other_white_space_and_in_a_later_passage() -> None:
    one = claim("x", ROCK, LIT.replace(" first", "\n  first"), cited=("e1", "e2"), quote="It was first lit in 1759.")
    found = deciding_sentence(one)
    assert found is not None
    assert found.evidence.id == "e2"
    assert found.text == "It was\n  first lit in 1759."


@pytest.mark.parametrize("quote", ["“was first lit in 1759”", '"was first lit in 1759 …"', "«first lit in 1759»"])
def test_words_quoted_in_a_rationale_show_their_sentence(quote: str) -> None:
    assert decided_by(claim("x", LIT, rationale=f"The passage says {quote}.")) == "It was first lit in 1759."


@pytest.mark.parametrize(
    "judged",
    [
        {},
        {"quote": "It was never lit at all."},
        {"rationale": "The passage gives “another year” for it."},
        {"rationale": "It names “Smeaton”."},
    ],
    ids=["no quote", "not in the passage", "words of the judge", "a name"],
)
def test_where_only_a_passage_is_known_no_sentence_is_guessed(judged: dict[str, Any]) -> None:
    assert decided_by(claim("x", LIT, **judged)) is None


def test_a_cited_passage_of_one_sentence_decides_whole() -> None:
    assert decided_by(claim("x", "It was first lit in 1759.")) == "It was first lit in 1759."
    assert decided_by(claim("x", "It was first lit in 1759.", ROCK, cited=("e1", "e2"))) is None


def test_without_evidence_nothing_is_cited() -> None:
    nearest = claim("x", LIT, ROCK, contradicted=False, cited=("e1", "e2"), quote="It was first lit in 1759.")
    assert cited_evidence(nearest) == ()
    assert deciding_sentence(nearest) is None
    assert grounds_words(nearest) == "2 passages read"


@pytest.mark.parametrize(
    "judged",
    [
        {"quote": "It was first lit in 1759."},
        {"rationale": "No sentence speaks of “1769”. The nearest says: “It was first lit in 1759.”"},
        {"rationale": "The nearest says: “was first lit in”.", "cited": ()},
    ],
)
def test_of_a_claim_without_evidence_the_nearest_sentence_is_marked(judged: dict[str, Any]) -> None:
    one = claim("It was lit in 1769.", ROCK, LIT, contradicted=False, **judged)
    found = marked_sentence(one)
    assert found is not None
    assert (found.evidence.id, found.text, found.decides) == ("e2", "It was first lit in 1759.", False)
    assert [each.number for each in shown_evidence(one, found)] == [2, 1]


def test_the_marked_sentence_of_a_claim_with_evidence_is_the_one_that_decides() -> None:
    """What the judge quotes from a passage that it does not cite is not marked."""
    one = claim("It was lit in 1769.", LIT, quote="It was first lit in 1759.")
    assert marked_sentence(one) == deciding_sentence(one)
    uncited = claim("x", ROCK, LIT, quote="It was first lit in 1759.")
    assert marked_sentence(uncited) is None


def test_sources_are_counted_and_not_passages() -> None:
    one = claim("x", LIT, ROCK, cited=("e1", "e2"), verdict=Verdict.SUPPORTED)
    same = one.model_copy(
        update={"evidence": tuple(item.model_copy(update={"source": "a.md"}) for item in one.evidence)}
    )
    assert grounds_words(one) == "2 sources cited"
    assert grounds_words(same) == "1 source cited"
    assert grounds_words(claim("x")) == ""


def test_the_passage_that_decides_is_shown_first_and_keeps_its_number() -> None:
    one = claim("x", ROCK, "Ships pass.", LIT, cited=("e2", "e3"), quote="It stood until 1877.")
    shown = [(each.number, each.is_cited) for each in shown_evidence(one, deciding_sentence(one))]
    assert shown == [(3, True), (2, True), (1, False)]


@pytest.mark.parametrize(
    ("passage", "section"),
    [
        (LIT, "Towers"),
        (f"{ROCK}\n\nTowers › The third\n{LIT}", "Towers › The third"),
        (f"{ROCK}\n\nThe second\nIt burned down.\n\nThe third\n{LIT}\n\nThe fourth\nIt stands.", "The third"),
        (f"{ROCK}\nThree towers stood there\n{LIT}", "Towers"),
        (f"{ROCK}\n\nMany towers were built.\n{LIT}", "Towers"),
        (f"{ROCK}\n\nA paragraph that an editor wrapped at some seventy characters in a\nfile. {LIT}", "Towers"),
    ],
    ids=["begins there", "a path", "the last before it", "a paragraph", "a sentence", "a wrapped line"],
)
def test_a_sentence_stands_under_the_last_heading_before_it(passage: str, section: str) -> None:
    one = claim("It was lit in 1769.", passage, quote="It was first lit in 1759.")
    evidence = tuple(item.model_copy(update={"section": "Towers"}) for item in one.evidence)
    found = deciding_sentence(one.model_copy(update={"evidence": evidence}))
    assert found is not None
    assert found.section == section
