from __future__ import annotations

import pytest

from factloop.core.records import UnscoredReason
from factloop.reports.status import (
    READING_ORDER,
    REASON_WORDS,
    Status,
    status_of,
    status_words,
    tally,
    tally_reasons,
    worst,
)
from tests.reports.sample import REASONS, sample_claims

CLAIMS = {claim.id: claim for claim in sample_claims()}
SUPPORTED, NO_EVIDENCE, CONTRADICTED, IRRELEVANT, UNSCORED = (CLAIMS[f"c{n}"] for n in (1, 4, 8, 9, 14))


def test_each_judgement_has_its_status() -> None:
    found = [status_of(claim) for claim in (SUPPORTED, NO_EVIDENCE, CONTRADICTED, IRRELEVANT, UNSCORED)]
    assert found == [Status.SUPPORTED, Status.NO_EVIDENCE, Status.CONTRADICTED, Status.IRRELEVANT, Status.UNSCORED]


def test_the_worst_claim_decides_for_its_sentence() -> None:
    ranked = [CONTRADICTED, NO_EVIDENCE, UNSCORED, SUPPORTED, IRRELEVANT]
    for place, claim in enumerate(ranked):
        assert worst(ranked[place:][::-1]) is status_of(claim)


def test_the_worst_of_nothing_is_an_error() -> None:
    with pytest.raises(ValueError, match="empty"):
        worst([])


def test_unscored_claims_say_why() -> None:
    assert status_words(SUPPORTED) == "supported"
    assert status_words(UNSCORED) == "unscored: the judge's reply could not be read"


def test_every_status_and_reason_is_told_apart_without_colour() -> None:
    assert set(READING_ORDER) == set(Status)
    assert set(REASON_WORDS) == set(UnscoredReason)
    assert len({status.symbol for status in Status}) == len({status.words for status in Status}) == len(Status)


def test_tallies_add_up_to_the_claims() -> None:
    # 13 judged: 9 supported (one of them a duplicate), 1 contradicted, 2 without evidence, 1 irrelevant. 8 unscored.
    assert tally(CLAIMS.values()) == {
        Status.SUPPORTED: 9,
        Status.CONTRADICTED: 1,
        Status.NO_EVIDENCE: 2,
        Status.IRRELEVANT: 1,
        Status.UNSCORED: 8,
    }
    assert tally_reasons(CLAIMS.values()) == dict.fromkeys(REASONS, 1)
