from __future__ import annotations

from factloop.core.reasons import ABOUT, FAILURES, MENDABLE, UnscoredReason


def test_every_reason_is_described() -> None:
    assert list(ABOUT) == list(UnscoredReason)
    assert all(about.claim and about.belief and about.documents for about in ABOUT.values())


def test_what_is_to_be_known_of_the_reasons() -> None:
    assert {"parse_failure", "tool_failure", "refusal", "timeout"} == FAILURES
    assert {"budget", "timeout", "tool_failure"} == MENDABLE
