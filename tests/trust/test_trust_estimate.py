"""The most that scores of answers cost, said before anything is spent."""

from __future__ import annotations

from typing import Any

from factloop.trust.estimate import TrustEstimate, estimate_trust
from factloop.trust.question_answers import QuestionAnswer
from factloop.trust.settings import TrustSettings

MODEL = "openai:gpt-4o-mini"
ITEM = QuestionAnswer(id="1", question="Who built it?", response="King Solomon built the first temple.")


def estimated(**settings: Any) -> TrustEstimate:
    return estimate_trust(TrustSettings(subject_model=MODEL, judge_model=MODEL, max_checks=4, **settings), [ITEM])


def test_proposals_of_distractors_are_a_call_an_answer() -> None:
    without, with_proposals = estimated(), estimated(distractors="model")
    assert (without.most_calls, with_proposals.most_calls) == (4, 5)
    assert with_proposals.most_prompt_tokens > without.most_prompt_tokens
    assert with_proposals.most_usd is not None
    assert without.most_usd is not None
    assert with_proposals.most_usd > without.most_usd
