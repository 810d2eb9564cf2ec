from __future__ import annotations

import asyncio
import re
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from langchain_core.documents import Document

from factloop import FactChecker, TrustScorer
from factloop.core.errors import ConfigError
from factloop.core.factuality import count_verdicts, precision
from factloop.core.records import (
    Claim,
    Evidence,
    FactualityReport,
    Fingerprint,
    Judgement,
    UnscoredReason,
    Usage,
    Verdict,
)
from factloop.reports.claims import ClaimView, views_of
from factloop.reports.visible import visible
from factloop.testing import (
    NotFactual,
    NotTrustworthy,
    aassert_factual,
    aassert_trustworthy,
    assert_factual,
    assert_trustworthy,
)
from factloop.testing.running import RunningTest, running
from factloop.testing.words import factual_failure
from tests.modes import FACTUALITY, FAITHFULNESS

SOURCES = "examples/lighthouse/sources"
RIGHT = "Smeaton modelled the tower on the trunk of an oak tree."
WRONG = "Smeaton's Tower was lit on 16 October 1795."
ADA = Document("Ada Lovelace was born in London.", metadata={"source": "ada.txt"})


@pytest.fixture(autouse=True)
def _no_settings_of_this_machine(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in ("FACTLOOP_MODEL", "FACTLOOP_BASE_URL", "FACTLOOP_SEARCH", "FACTLOOP_DOCS"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("FACTLOOP_CACHE_DIR", str(tmp_path / "cache"))


def test_what_holds_passes_and_gives_the_report() -> None:
    report = assert_factual(RIGHT, docs=SOURCES, question="What did Smeaton build?", min_precision=1.0, min_supported=1)
    assert (report.counts.supported, report.prompt) == (1, "What did Smeaton build?")


@pytest.mark.parametrize(
    ("response", "required", "complaint"),
    [
        (WRONG, {}, "required: at most 0 contradicted claims, but found 1"),
        (
            f"{RIGHT} {WRONG}",
            {"min_precision": 0.6, "max_contradicted": 1},
            "required: precision at least 0.6, but it is 0.5 (n = 2)\nreached:",
        ),
        (RIGHT, {"min_supported": 2}, "required: at least 2 supported claims, but found 1"),
        ("", {}, "required: at least 1 scored claim, but no claims were found in the response\nreached:"),
        (RIGHT, {"min_scored": 2}, "required: at least 2 scored claims, but found 1"),
        ("Hello!", {"min_precision": 0.0}, "it is undefined: no claims were found in the response"),
        (
            WRONG,
            {"max_contradicted": 0, "min_precision": 1},
            "required: precision at least 1, but it is 0 (n = 1)\nrequired: at most 0",
        ),
        (
            f"{RIGHT} {RIGHT} {WRONG}",
            {"min_precision": 0.667, "max_contradicted": 1},
            "required: precision at least 0.667, but it is 0.6667 (n = 3)\nreached:",
        ),
    ],
)
def test_what_is_missed_is_said(response: str, required: dict[str, Any], complaint: str) -> None:
    with pytest.raises(NotFactual) as failure:
        assert_factual(response, docs=SOURCES, **required)
    assert complaint in str(failure.value)
    assert failure.value.report.response == response
    assert isinstance(failure.value, AssertionError)


@pytest.mark.parametrize(
    "required", [{"max_contradicted": None}, {"max_contradicted": 1}, {"min_precision": 0.0, "max_contradicted": 1}]
)
def test_limits_can_be_lifted(required: dict[str, Any]) -> None:
    assert_factual(WRONG, docs=SOURCES, **required)


def test_a_response_without_claims_passes_where_none_is_asked_for() -> None:
    for none_needed in (None, 0):
        assert assert_factual("Hello!", docs=SOURCES, min_scored=none_needed).claims == ()
    with pytest.raises(NotFactual, match="at least 1 scored claim, but no claims were scored"):
        assert_factual(RIGHT, max_unscored=None)


def test_what_nobody_checked_does_not_pass_for_checked() -> None:
    beside, said = "\n\n```python\nbuilt = 1795\n```", "not checked (code, not read): ```python built = 1795 ```"
    asked: dict[str, Any] = {"docs": SOURCES, "question": "Who was John Smeaton?"}
    with pytest.raises(NotFactual, match="required: at most 0 unchecked passages, but found 1") as failure:
        assert_factual(f"{RIGHT} {beside}", **asked)
    assert said in str(failure.value)
    assert assert_factual(f"{RIGHT} {beside}", max_unchecked=None, **asked).counts.supported == 1
    assert assert_factual(f"{RIGHT} {beside}", max_unchecked=1, **asked).counts.supported == 1


def test_the_claim_at_fault_is_shown_with_its_evidence_and_the_others_are_not() -> None:
    with pytest.raises(NotFactual) as failure:
        assert_factual(f"{RIGHT} {WRONG}", docs=SOURCES)
    said = str(failure.value)
    assert f"1. contradicted: {WRONG}" in said
    assert f'evidence [{SOURCES}/smeaton.txt]: "' in said
    assert "1795" in said.partition("   why: ")[2].partition("evidence [")[0]
    assert RIGHT not in said.partition("\n1. ")[2].partition("evidence")[0]
    assert "precision 0.500 (n = 2), 2 claims: 1 supported, 1 contradicted" in said


def test_a_passage_is_shown_where_it_decides_or_is_to_be_read_and_only_counted_where_it_does_not() -> None:
    """A judge also names the closest passage to an unsupported claim, but nothing rests on that."""
    wrong, to_be_read = "Ada Lovelace was born in London in 1825.", "Ada Lovelace liked strong coffee in London."
    ada = Document("Ada Lovelace was born in London in 1815.", metadata={"source": "ada.txt"})
    with pytest.raises(NotFactual) as failure:
        assert_factual(f"{wrong} {to_be_read} Charles Babbage kept bees.", documents=[ada], min_precision=1.0)
    contradicted, nothing, unscored = str(failure.value).split("\n\n")[1:]
    assert contradicted.startswith("1. contradicted: ")
    assert unscored.startswith("3. needs reading: ")
    assert {one.partition("   evidence ")[2] for one in (contradicted, unscored)} == {
        f'[ada.txt]: "{ada.page_content}"'
    }
    assert nothing.startswith("2. no evidence found: ")
    assert nothing.endswith("\n   evidence: none (0 passages read)")
    unsupported = a_claim(1, verdict=Verdict.NOT_SUPPORTED, contradicted=False)
    said = factual_failure(["precision at least 1"], failure.value.report, [ClaimView(unsupported)])
    assert said.endswith("\n   evidence: none (9 passages read)")


def test_documents_that_were_retrieved_are_judged_by() -> None:
    report = assert_factual("Ada Lovelace was born in London.", docs=[ADA], min_precision=1.0)
    assert FAITHFULNESS in report.warnings
    assert report.claims[0].evidence[0].source == "ada.txt"
    both = assert_factual(f"Ada Lovelace was born in London. {RIGHT}", docs=[ADA, SOURCES], min_precision=1.0)
    assert FACTUALITY in both.warnings


@pytest.mark.parametrize("found", [[ADA], ADA, [(ADA, 0.7)], ADA.page_content, ["Bob was born.", ADA.page_content]])
async def test_what_a_retriever_returned_is_judged_by(found: Any) -> None:
    born = "Ada Lovelace was born in London."
    for report in (assert_factual(born, documents=found), await aassert_factual(born, documents=found)):
        assert report.counts.supported == 1
        assert FAITHFULNESS in report.warnings
    own = FactChecker(cache=False)
    assert FAITHFULNESS in assert_factual(born, documents=found, checker=own).warnings
    both = assert_factual(f"{born} {RIGHT}", documents=found, docs=SOURCES, min_precision=1.0)
    assert FACTUALITY in both.warnings


def test_a_checker_of_ones_own_is_used_and_nothing_beside_it() -> None:
    checker = FactChecker(docs=SOURCES)
    assert assert_factual(RIGHT, checker=checker).counts.supported == 1
    extras: list[dict[str, Any]] = [{"model": "openai:x"}, {"docs": SOURCES}, {"plan": "paper"}, {"search": "serper"}]
    for extra in extras:
        with pytest.raises(ConfigError, match=f"{next(iter(extra))} is a setting of the checker"):
            assert_factual(RIGHT, checker=checker, **extra)
    scorer = TrustScorer(corpus=SOURCES)
    with pytest.raises(ConfigError, match="max_checks is a setting of the scorer"):
        assert_trustworthy("Who?", RIGHT, scorer=scorer, min_trust_fc=0.5, max_checks=3)


@pytest.mark.parametrize(
    ("required", "complaint"),
    [
        ({"min_precision": 90}, "min_precision = 90: must be between 0 and 1"),
        ({"min_precision": float("nan")}, "min_precision = nan"),
        ({"max_contradicted": -1}, "max_contradicted = -1"),
        ({"colour": "red"}, "the assertion or pytest's ini file: there is no setting 'colour'"),
        ({"model": " : "}, "has no name"),
    ],
)
def test_a_requirement_that_cannot_be_meant_is_refused(required: dict[str, Any], complaint: str) -> None:
    with pytest.raises(ConfigError, match=re.escape(complaint)):
        assert_factual(RIGHT, docs=SOURCES, **required)


async def test_both_kinds_work_in_a_running_loop() -> None:
    assert_factual(RIGHT, docs=SOURCES)
    one, other = await asyncio.gather(aassert_factual(RIGHT, docs=SOURCES), aassert_factual(RIGHT, docs=SOURCES))
    assert one.counts == other.counts
    with pytest.raises(NotFactual):
        await aassert_factual(WRONG, docs=SOURCES)
    with pytest.raises(ConfigError):
        await aassert_factual(WRONG, docs=SOURCES, min_precision=2)


def test_failures_show_the_line_of_the_test_and_no_frame_of_ours() -> None:
    with pytest.raises(NotFactual) as failure:
        assert_factual(WRONG, docs=SOURCES)
    shown = [entry.name for entry in failure.traceback.filter(failure)]
    assert shown == ["test_failures_show_the_line_of_the_test_and_no_frame_of_ours"]


def test_trust_by_documents() -> None:
    report = assert_trustworthy("Who built the third tower?", RIGHT, corpus=SOURCES, min_trust_fc=1.0)
    assert report.trust_fc.value == 1.0
    with pytest.raises(NotTrustworthy) as failure:
        assert_trustworthy("When was it lit?", WRONG, corpus=SOURCES, min_trust_fc=1.0, min_trust_bc=1.0)
    said = str(failure.value)
    assert "required: TrustBC at least 1, but it has no value" in said
    assert "TrustBC:  unscored, no_source" in said
    assert "required: TrustFC at least 1, but it is" in said
    assert failure.value.report.response == WRONG


@pytest.mark.parametrize(
    ("required", "complaint"),
    [({}, "needs `min_trust_bc`"), ({"min_trust_ov": 1.5}, "min_trust_ov = 1.5: must be between 0 and 1")],
)
async def test_trust_that_requires_nothing_or_nonsense_is_refused(required: dict[str, Any], complaint: str) -> None:
    with pytest.raises(ConfigError, match=complaint):
        assert_trustworthy("Who?", RIGHT, corpus=SOURCES, **required)
    with pytest.raises(ConfigError, match=complaint):
        await aassert_trustworthy("Who?", RIGHT, corpus=SOURCES, **required)


def a_claim(number: int, **judgement: Any) -> Claim:
    text = f"claim {number} \x1b[31m\u202e<b>{{{{x}}}}" + "x" * 5_000
    found = [
        Evidence(
            id=f"{number}.{n}", source="a\nb\x1b]0;", passage=text, query="q", rank=1, retrieved_at=datetime.now(UTC)
        )
        for n in range(9)
    ]
    cited = tuple(item.id for item in found) if judgement.get("verdict") else ()
    return Claim(
        id=str(number),
        sentence=text,
        span=(0, len(text)),
        text=text,
        self_contained=text,
        evidence=tuple(found),
        judgement=Judgement(rationale=text, cited=cited, **judgement),
    )


def test_hostile_text_is_shown_harmless_and_the_message_is_bounded() -> None:
    claims = tuple(
        a_claim(number, verdict=Verdict.NOT_SUPPORTED, contradicted=True)
        if number % 2
        else a_claim(number, unscored_reason=UnscoredReason.TIMEOUT)
        for number in range(500)
    )
    counts = count_verdicts(claims)
    report = FactualityReport(
        response="x",
        claims=claims,
        counts=counts,
        precision=precision(counts),
        at_k=(),
        usage=Usage(),
        fingerprint=Fingerprint(
            factloop_version="0", engine="model", model="m\x1b[2J", plan="fused", max_searches=1, results_per_search=1
        ),
        created_at=datetime.now(UTC),
    )
    said = factual_failure(["precision at least 1"], report, views_of(claims))
    assert visible(said) == said
    assert len(said) < 30_000
    assert said.count("evidence [") == 5 * 3  # of ten claims shown, every second cites; three passages of nine
    assert said.endswith("... and 490 more")


def a_running_test(tmp_path: Path, **defaults: object) -> RunningTest:
    return RunningTest(
        path=tmp_path / "x.jsonl", mode="replay", remedy="", folder=tmp_path, root=tmp_path, defaults=defaults
    )


def test_what_the_test_says_comes_before_the_environment_the_ini_file_and_the_toml_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "factloop.toml").write_text("max_searches = 2\nplan = 'paper'\nresults_per_search = 1\n")
    (tmp_path / "texts").mkdir()
    (tmp_path / "texts" / "a.md").write_text(RIGHT)
    with running(a_running_test(tmp_path, docs=("nowhere",), plan="fused")):
        monkeypatch.setenv("FACTLOOP_MAX_SEARCHES", "3")
        made_of = assert_factual(RIGHT, docs="texts", results_per_search=4).fingerprint  # beside the test file
        assert (made_of.plan, made_of.max_searches, made_of.results_per_search) == ("fused", 3, 4)
        monkeypatch.setenv("FACTLOOP_PLAN", "paper")
        assert assert_factual(RIGHT, docs="texts").fingerprint.plan == "paper"
    assert not (tmp_path / "x.jsonl").exists()
