"""Answers that are not in English: the offline engine says so, and judges nothing that it cannot read."""

from __future__ import annotations

from pathlib import Path

import pytest

from factloop import FactChecker
from factloop.core.records import Plan, UnscoredReason

GERMAN = "Der Turm wurde 1896 errichtet und diente als Lager für Getreide. Heute gehört er der Gemeinde von Arden."
ENGLISH = "The tower was built in 1896 and was used as a store for grain."


@pytest.fixture
def documents(tmp_path: Path) -> Path:
    (tmp_path / "turm.txt").write_text(GERMAN, encoding="utf-8")
    (tmp_path / "tower.txt").write_text(ENGLISH, encoding="utf-8")
    return tmp_path


@pytest.mark.parametrize("plan", ["fused", "paper", "grounded"])
async def test_claims_in_another_language_are_unscored_whatever_the_sources(plan: Plan, documents: Path) -> None:
    async with FactChecker(docs=documents, cache=False, plan=plan) as checker:
        report = await checker.acheck(GERMAN, "Was ist der Turm?")
    assert len(report.claims) == 2
    assert {claim.judgement.unscored_reason for claim in report.claims} == {UnscoredReason.OTHER_LANGUAGE}
    assert report.counts.not_supported == 0
    assert report.usage.searches == 0 or plan == "paper"


async def test_the_english_paragraphs_of_an_answer_are_judged(documents: Path) -> None:
    async with FactChecker(docs=documents, cache=False) as checker:
        report = await checker.acheck(f"{ENGLISH}\n\n{GERMAN}")
    assert [claim.judgement.verdict is None for claim in report.claims if claim.sentence in ENGLISH] != []
    assert all(claim.judgement.verdict is not None for claim in report.claims if claim.sentence in ENGLISH)
    assert all(claim.judgement.verdict is None for claim in report.claims if claim.sentence in GERMAN)
