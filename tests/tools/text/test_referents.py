from __future__ import annotations

from typing import Any

import pytest

from factloop.tools.text.pieces import read
from factloop.tools.text.pipeline import load_pipeline
from factloop.tools.text.referents import N_BEFORE, ReadClaim, read_claims
from tests.tools.text.cases import rows, wrong

NLP = load_pipeline()
CASES = rows("references")
SHARE_RIGHT = 0.85


def claims_of(row: dict[str, Any]) -> list[ReadClaim]:
    return read_claims(row["sentence"], row["before"], row["prompt"], NLP)


def test_references_are_read_as_labelled() -> None:
    found = wrong(
        CASES,
        lambda row: ([one.self_contained for one in claims_of(row)], any(one.is_open for one in claims_of(row))),
        lambda row: (row["self_contained"], row["is_open"]),
    )
    assert len(found) <= (1 - SHARE_RIGHT) * len(CASES), "\n".join(found)


@pytest.mark.parametrize("row", [row for row in CASES if row["is_open"]], ids=lambda row: row["sentence"])
def test_what_is_uncertain_stays_as_written_and_is_open(row: dict[str, Any]) -> None:
    """No share of these may be wrong: a name in the wrong place makes a true sentence false."""
    assert [(one.self_contained, one.is_open) for one in claims_of(row)] == [(row["sentence"], True)]


@pytest.mark.parametrize("row", CASES, ids=lambda row: row["sentence"])
def test_names_come_from_what_was_read(row: dict[str, Any]) -> None:
    read_words = set(" ".join([row["sentence"], *row["before"], row["prompt"] or ""]).replace("?", " ").split())
    for claim in claims_of(row):
        added = set(claim.self_contained.split()) - set(claim.text.split())
        assert {word.removesuffix("'s").removesuffix("'").strip(".").lower() for word in added} <= {
            *(word.strip(".,").lower() for word in read_words),
            "is",
            "has",
        }


def test_of_a_long_text_the_first_and_the_last_few_sentences_are_read() -> None:
    read.cache_clear()
    before = ["Otto Berg was a miller.", *(f"He owned {n} mills." for n in range(2, 60))]
    claims = read_claims("He died in 1950.", before, None, NLP)
    assert [claim.self_contained for claim in claims] == ["Otto Berg died in 1950."]
    assert read.cache_info().misses == N_BEFORE + 2
