"""Estimates the maximum cost of TrustScores without spending anything."""

from __future__ import annotations

from collections.abc import Sequence

from factloop.agents.trustscore.choices import LETTERS
from factloop.agents.trustscore.distractors.proposed import MOST_WORDS, SUBSTITUTES
from factloop.agents.trustscore.judges import ENTAILMENT
from factloop.agents.trustscore.subject import CLOSED_BOOK, MULTIPLE_CHOICE
from factloop.core.records import Count, NonNegative, Record
from factloop.prompts.registry import PromptRegistry, RenderedPrompt
from factloop.setup.chat_model import price_of
from factloop.tools.models.tokens import count_tokens
from factloop.trust.question_answers import QuestionAnswer
from factloop.trust.settings import TrustSettings

SCHEMA_TOKENS = 60  # tokens of the schema sent with each request
PASSAGE_TOKENS = 140  # tokens of a passage of 100 words with its title
CHOICE_TOKENS, ANSWER_TOKENS, JUDGEMENT_TOKENS, PROPOSAL_TOKENS = 8, 30, 50, 800
"""Number of tokens in each kind of reply."""


class TrustEstimate(Record):
    """An upper bound on the cost without retries, because an inconsistent choice ends an answer's checks early."""

    n_answers: Count
    most_calls: Count
    searches: Count
    most_prompt_tokens: Count
    most_completion_tokens: Count
    most_usd: NonNegative | None
    """None if the price of a model is unknown."""


def estimate_trust(settings: TrustSettings, items: Sequence[QuestionAnswer]) -> TrustEstimate:
    """Returns the maximum number of calls and tokens, and the maximum cost. Makes no calls and needs no key."""
    prompts = PromptRegistry.load(settings.prompts)
    subject, judge = _Sum(), _Sum()
    for item in items:
        response = item.response if item.response is not None else item.question
        if item.response is None:
            subject.add(1, prompts[CLOSED_BOOK].render(question=item.question), ANSWER_TOKENS)
        if settings.subject_model is not None:
            options = "\n".join(f"{letter}) {response}" for letter in LETTERS)
            asked = prompts[MULTIPLE_CHOICE].render(question=item.question, options=options)
            subject.add(settings.max_checks, asked, CHOICE_TOKENS)
            if settings.distractors == "model" and settings.judge_model is not None:
                words = response.split()[:MOST_WORDS]
                asked = prompts[SUBSTITUTES].render(question=item.question, answer=response, word=words)
                judge.add(1, asked, PROPOSAL_TOKENS)
        if settings.judge_model is not None and settings.corpus:
            asked = prompts[ENTAILMENT].render(question=item.question, answer=response, passage=None)
            judge.add(1, asked, JUDGEMENT_TOKENS, extra=settings.passages * PASSAGE_TOKENS)
    return TrustEstimate(
        n_answers=len(items),
        most_calls=subject.calls + judge.calls,
        searches=len(items) if settings.corpus else 0,
        most_prompt_tokens=subject.prompt + judge.prompt,
        most_completion_tokens=subject.completion + judge.completion,
        most_usd=_usd(settings, subject, judge),
    )


class _Sum:
    def __init__(self) -> None:
        self.calls = self.prompt = self.completion = 0

    def add(self, calls: int, asked: RenderedPrompt, completion: int, *, extra: int = 0) -> None:
        tokens = count_tokens(asked.system) + count_tokens(asked.user) + SCHEMA_TOKENS + extra
        self.calls += calls
        self.prompt += calls * tokens
        self.completion += calls * completion


def _usd(settings: TrustSettings, subject: _Sum, judge: _Sum) -> float | None:
    total = 0.0
    for name, base_url, spent in (
        (settings.subject_model, settings.base_url, subject),
        (settings.judge_model, settings.judge_base_url or settings.base_url, judge),
    ):
        if not spent.calls or name is None:
            continue
        price = price_of(settings, name, base_url)
        if price is None:
            return None
        total += price.cost_usd(spent.prompt, spent.completion)
    return total
