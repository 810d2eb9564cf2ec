"""Some sentences of a response judged, the rest read as what they refer to."""

from __future__ import annotations

from pathlib import Path

import pytest

from factloop import ConfigError, DataError, FactChecker
from tests.checking.simulated import simulated_checker
from tests.simulator import Simulator

TEXT = "Ada Lovelace was a mathematician. She was born in London."
SECOND = (34, 57)


@pytest.fixture
def checker(tmp_path: Path) -> FactChecker:
    (tmp_path / "ada.txt").write_text("Ada Lovelace was born in London in 1815.", encoding="utf-8")
    return FactChecker(docs=tmp_path, cache=False)


def test_only_the_named_sentence_is_judged_and_its_pronoun_is_resolved_from_the_rest(checker: FactChecker) -> None:
    report = checker.check(TEXT, spans=[SECOND])
    (claim,) = report.claims
    assert (claim.id, claim.span, claim.sentence) == ("c1.1", SECOND, "She was born in London.")
    assert claim.self_contained == "Ada Lovelace was born in London."
    assert claim.judgement.verdict == "supported"


def test_a_model_is_asked_about_the_named_sentence_alone(sim: Simulator) -> None:
    response = sim.world.responses[0]
    first = simulated_checker(sim).check(response.text, response.prompt).claims[0].span
    report = simulated_checker(sim).check(response.text, response.prompt, spans=[first])
    assert {claim.span for claim in report.claims} == {first}
    assert report.usage.stages["sentence_facts"].calls == 1


@pytest.mark.parametrize("spans", [[(5, 5)], [(-1, 3)], [(0, 1000)], [(10, 20), (15, 30)], [(10, 20), (0, 5)]])
def test_wrong_spans_are_refused_before_anything_is_spent(checker: FactChecker, spans: list[tuple[int, int]]) -> None:
    with pytest.raises(DataError, match=r"span \d"):
        checker.check(TEXT, spans=spans)


def test_spans_take_no_facts(checker: FactChecker) -> None:
    with pytest.raises(ConfigError, match="cannot be combined with facts"):
        checker.check(TEXT, spans=[SECOND], facts=[])
