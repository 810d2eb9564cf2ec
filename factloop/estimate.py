"""What a check would cost, without spending anything."""

from __future__ import annotations

from collections.abc import Sequence

from factloop.agents.safe.excerpts import around, before
from factloop.agents.safe.model_stages import CONTEXT_CHARACTERS, RESPONSE_CHARACTERS
from factloop.prompts.registry import PromptRegistry, Value
from factloop.records import Count, GivenFacts, NonNegative, Record
from factloop.settings import CheckSettings
from factloop.tools.linguistics.claims import split_claims
from factloop.tools.linguistics.sentences import Sentence, split_sentences
from factloop.tools.models.prices import Price, model_price, search_price
from factloop.tools.models.tokens import count_tokens

CLAIMS_A_RULE_CLAIM = 1.1
"""Claims that models find for each that the rules find: they split a little finer."""
SEARCHES_A_CLAIM = 1.2
"""Of the fused plan, which stops as soon as a claim is settled."""
PASSAGE_TOKENS = 70
SHARE_NEW = 0.5
"""Of the passages of a search, those that the searches before it on the same claim had not brought."""
SCHEMA_TOKENS = 120
"""Of the schema or tools that go with each request."""
FUSED_COMPLETION = {"sentence_facts": 35, "assessment": 40}
"""Tokens of a reply: for each claim of the sentence, and for each round of a claim."""
PAPER_COMPLETION = {"split": 15, "revise": 20, "relevance": 20, "query": 15, "rate": 60}


class Estimate(Record):
    """About what a check costs. Counts are expectations, not bounds; `budget_usd` and `max_calls` are bounds."""

    n_sentences: Count
    n_claims: Count
    calls: Count
    searches: Count
    prompt_tokens: Count
    completion_tokens: Count
    cost_usd: NonNegative | None
    """None where a price is unknown; 0 for the offline engine."""


def estimate(
    settings: CheckSettings, response: str, prompt: str | None, facts: Sequence[GivenFacts] | None = None
) -> Estimate:
    """The expected calls, tokens and cost of checking `response`, or the facts given. Costs nothing, needs no key."""
    if facts is not None:
        return _of_given(settings, response, prompt, facts)
    sentences = split_sentences(response)
    by_rules = sum(len(split_claims(sentence.text)) for sentence in sentences)
    n_claims = round(by_rules * CLAIMS_A_RULE_CLAIM)
    if settings.model is None:
        searches = round(by_rules * SEARCHES_A_CLAIM)
        return _estimate(settings, len(sentences), by_rules, 0, searches, 0, 0)
    prompts = PromptRegistry.load(settings.prompts)
    if settings.plan == "paper":
        return _paper(settings, prompts, sentences, n_claims, response, prompt)
    return _fused(settings, prompts, sentences, n_claims, response, prompt)


def _fused(
    settings: CheckSettings,
    prompts: PromptRegistry,
    sentences: list[Sentence],
    n_claims: int,
    response: str,
    prompt: str | None,
) -> Estimate:
    first = sum(
        _tokens(
            prompts,
            "sentence_facts",
            question=prompt,
            context=before(response, sentence.start, most=CONTEXT_CHARACTERS),
            sentence=sentence.text,
        )
        for sentence in sentences
    )
    return _fused_rounds(settings, prompts, len(sentences), n_claims, first)


def _fused_rounds(
    settings: CheckSettings, prompts: PromptRegistry, n_sentences: int, n_claims: int, first: int
) -> Estimate:
    """`first`: prompt tokens of the calls on sentences, one each."""
    rounds = round(n_claims * min(SEARCHES_A_CLAIM, settings.max_searches))
    passages = PASSAGE_TOKENS * settings.results_per_search
    each = _tokens(prompts, "assessment", claim="x" * 80, evidence=None, asked=None, final=None) + passages
    completion = FUSED_COMPLETION["sentence_facts"] * n_claims + FUSED_COMPLETION["assessment"] * rounds
    calls = n_sentences + rounds
    return _estimate(settings, n_sentences, n_claims, calls, rounds, first + each * rounds, completion)


def _of_given(settings: CheckSettings, response: str, prompt: str | None, facts: Sequence[GivenFacts]) -> Estimate:
    stated = [given for given in facts if given.facts]
    n_claims = sum(len(given.facts) for given in stated)
    if settings.model is None:
        return _estimate(settings, len(stated), n_claims, 0, round(n_claims * SEARCHES_A_CLAIM), 0, 0)
    prompts = PromptRegistry.load(settings.prompts)
    if settings.plan == "paper":
        return _paper(settings, prompts, [], n_claims, response, prompt).model_copy(update={"n_sentences": len(stated)})
    context = "x" * min(CONTEXT_CHARACTERS, len(response))
    first = sum(
        _tokens(
            prompts, "given_facts", question=prompt, context=context, sentence=given.sentence, fact=list(given.facts)
        )
        for given in stated
    )
    return _fused_rounds(settings, prompts, len(stated), n_claims, first)


def _paper(
    settings: CheckSettings,
    prompts: PromptRegistry,
    sentences: list[Sentence],
    n_claims: int,
    response: str,
    prompt: str | None,
) -> Estimate:
    searches = n_claims * settings.max_searches
    whole = around(response, 0, 0, most=RESPONSE_CHARACTERS)
    fact = "x" * 80
    passages = PASSAGE_TOKENS * settings.results_per_search
    gathered = [round(passages * (1 + SHARE_NEW * number)) for number in range(settings.max_searches)]
    split = sum(_tokens(prompts, "atomic_facts", sentence=sentence.text) for sentence in sentences)
    revise = _tokens(prompts, "self_contained_fact", response=whole, fact=fact)
    relevance = _tokens(prompts, "relevance", question=prompt, response=whole, fact=fact) if prompt else 0
    query = _tokens(prompts, "search_query", fact=fact, evidence=None, asked=None)
    rate = _tokens(prompts, "rating", fact=fact, evidence=None) + gathered[-1]
    # Each query sees the passages of those before it, the first none.
    searching = settings.max_searches * query + sum(gathered[:-1])
    prompt_tokens = split + n_claims * (revise + relevance + searching + rate)
    cost = PAPER_COMPLETION
    each = cost["split"] + cost["revise"] + cost["relevance"] + cost["rate"] + settings.max_searches * cost["query"]
    calls = len(sentences) + n_claims * (2 + bool(prompt) + settings.max_searches)
    return _estimate(settings, len(sentences), n_claims, calls, searches, prompt_tokens, n_claims * each)


def _tokens(prompts: PromptRegistry, stage: str, **values: Value) -> int:
    rendered = prompts[f"safe/{stage}"].render(**values)
    return count_tokens(rendered.system) + count_tokens(rendered.user) + SCHEMA_TOKENS


def _estimate(
    settings: CheckSettings, n_sentences: int, n_claims: int, calls: int, searches: int, prompt: int, completion: int
) -> Estimate:
    return Estimate(
        n_sentences=n_sentences,
        n_claims=n_claims,
        calls=calls,
        searches=searches,
        prompt_tokens=prompt,
        completion_tokens=completion,
        cost_usd=_cost_usd(settings, searches, prompt, completion),
    )


def _cost_usd(settings: CheckSettings, searches: int, prompt: int, completion: int) -> float | None:
    by_search = search_price(settings.search[0]) if settings.search else 0.0
    if settings.model is None:
        return None if by_search is None else by_search * searches
    if settings.price_in is not None and settings.price_out is not None:
        price: Price | None = Price(settings.price_in, settings.price_out)
    else:
        price = model_price(settings.model) if settings.base_url is None else None
    if price is None or by_search is None:
        return None
    return price.cost_usd(prompt, completion) + by_search * searches
