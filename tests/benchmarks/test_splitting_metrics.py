from __future__ import annotations

import pytest

from benchmarks.splitting.gold import held_together, own_lines, own_texts
from benchmarks.splitting.matching import match


def test_claims_equal_to_the_facts_agree_wholly() -> None:
    facts = ["Ann Lee was born in Arden.", "Ann Lee studied law."]
    found = match(list(reversed(facts)), facts)
    assert (found.precision, found.recall, found.f1) == (1, 1, 1)


def test_an_unsplit_sentence_is_matched_with_one_fact() -> None:
    """Content words of the claim: ann lee born arden studied law (6); of either fact: 4.

    F1 of the pair is 2 * 4 / (6 + 4) = 0.8, over one claim and two facts: precision 0.8, recall 0.4, F1 1.6 / 3."""
    found = match(
        ["Ann Lee was born in Arden and studied law."], ["Ann Lee was born in Arden.", "Ann Lee studied law."]
    )
    assert found.precision == pytest.approx(0.8)
    assert found.recall == pytest.approx(0.4)
    assert found.f1 == pytest.approx(1.6 / 3)


def test_no_two_claims_share_a_fact() -> None:
    found = match(["Ann Lee died.", "Ann Lee died."], ["Ann Lee died."])
    assert (found.precision, found.recall) == (0.5, 1)


@pytest.mark.parametrize(("claims", "facts", "f1"), [([], [], 1), (["A tower."], [], 0), ([], ["A tower."], 0)])
def test_nothing_stated(claims: list[str], facts: list[str], f1: float) -> None:
    assert match(claims, facts).f1 == f1


def test_own_sentences_are_complete() -> None:
    texts = own_texts()
    assert {sentence.before[:1] for sentence in texts if sentence.before} <= {(one.text,) for one in texts}
    assert len({sentence.text for sentence in texts}) == len(texts)
    assert {bool(line.facts) for line in own_lines()} == {True, False}
    assert all(under in text.lower() for text, under in held_together())
