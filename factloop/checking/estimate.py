"""Estimates the cost of a check, without spending anything."""

from __future__ import annotations

import math
from collections.abc import Sequence

from factloop.agents.safe.excerpts import CLEARLY_OVER
from factloop.agents.safe.first_round import CLAIMS_TOGETHER
from factloop.agents.safe.grounded import BATCH_CLAIMS
from factloop.agents.safe.passages import FEW_CHARACTERS
from factloop.agents.safe.stage_prompts import ANSWER_CHARACTERS
from factloop.agents.safe.windows import FUSED_WINDOW, GROUNDED_WINDOW, WindowSize
from factloop.checking.preparing import plan_of_check
from factloop.core.records import Count, GivenFacts, NonNegative, Plan, Record
from factloop.prompts.registry import PromptRegistry, Value
from factloop.setup.chat_model import price_of
from factloop.setup.settings import CheckSettings
from factloop.tools.linguistics.claims import split_claims
from factloop.tools.linguistics.outline import Part, read_outline
from factloop.tools.linguistics.silence import silence_of
from factloop.tools.models.tokens import CHARACTERS_PER_TOKEN, count_tokens
from factloop.tools.search.registry import search_builder

CLAIMS_A_RULE_CLAIM = 1.1
"""Claims that models find for each that the rules find: they split a little finer."""
SEARCHES_A_CLAIM = 1.2
"""Searches for a claim in the fused plan, which stops as soon as the claim is settled."""
PASSAGE_TOKENS = 70
SHARE_NEW = 0.5
"""Share of a search's passages that earlier searches on the same claim had not brought."""
SCHEMA_TOKENS = 120
"""Tokens of the schema or tools that go with each request."""
FUSED_COMPLETION = {"sentence_facts": 35, "assessment": 45}
"""Tokens of a reply: for each claim of a window, and for each round of a claim."""
PAPER_COMPLETION = {"split": 15, "revise": 20, "relevance": 20, "query": 15, "rate": 60}
GROUNDED_COMPLETION = {"grounded_facts": 30, "grounded_claims": 25}
"""Tokens for each claim of a window, and for each that is looked at again."""
SHARE_LOOKED_AT_AGAIN = 0.3
"""Share of the claims that the first look does not find supported."""


class Estimate(Record):
    """An estimate of a check's cost. Counts are expectations, not bounds; `budget_usd` and `max_calls` are bounds."""

    n_sentences: Count
    n_claims: Count
    calls: Count
    searches: Count
    """Those of one's own documents, too: they are made on this machine, and cost nothing."""
    prompt_tokens: Count
    completion_tokens: Count
    cost_usd: NonNegative | None
    """None where a price is unknown; 0 for the offline engine."""


def estimate(
    settings: CheckSettings, response: str, prompt: str | None, facts: Sequence[GivenFacts] | None = None
) -> Estimate:
    """The expected calls, tokens and cost of checking `response`, or the facts given. Costs nothing, needs no key."""
    plan = plan_of(settings)
    if facts is not None:
        return _of_given(settings, plan, response, prompt, facts)
    parts = [part for part in read_outline(response) if silence_of(part) is None]
    by_rules = sum(len(split_claims(part.text)) for part in parts)
    n_claims = round(by_rules * CLAIMS_A_RULE_CLAIM)
    if settings.model is None:
        searches = round(by_rules * SEARCHES_A_CLAIM)
        return _estimate(settings, len(parts), by_rules, 0, searches, 0, 0)
    prompts = PromptRegistry.load(settings.prompts)
    if plan == "paper":
        return _paper(settings, prompts, parts, n_claims, response, prompt)
    if plan == "grounded":
        return _grounded(settings, prompts, parts, n_claims, response, prompt)
    return _fused(settings, prompts, parts, n_claims, response, prompt)


def plan_of(settings: CheckSettings) -> Plan:
    """The plan that a check by these settings follows, told without opening what it searches."""
    return plan_of_check(settings, (), has_model=settings.model is not None, given_alone=not settings.search)


def _fused(
    settings: CheckSettings,
    prompts: PromptRegistry,
    parts: list[Part],
    n_claims: int,
    response: str,
    prompt: str | None,
) -> Estimate:
    windows = _n_windows(parts, FUSED_WINDOW)
    each = _tokens(prompts, "sentence_facts", question=prompt, answer=_shown(response), above=None, sentence=None)
    first = windows * each + sum(count_tokens(f"{part.above} {part.text}") for part in parts)
    return _fused_rounds(settings, prompts, windows, n_claims, first, prompt).model_copy(
        update={"n_sentences": len(parts)}
    )


def _fused_rounds(
    settings: CheckSettings, prompts: PromptRegistry, n_read: int, n_claims: int, first: int, prompt: str | None
) -> Estimate:
    """`n_read`: the calls on sentences, with `first` prompt tokens together."""
    rounds = round(n_claims * min(SEARCHES_A_CLAIM, settings.max_searches))
    together = CLAIMS_TOGETHER if len(settings.search) + bool(settings.docs) == 1 else 1
    about = {"question": prompt, "sentence": "x" * 160, "left": "1"}
    rules = _tokens(prompts, "assessment", claim=None, evidence=None, asked=None, fruitless=None, **about)
    shown = PASSAGE_TOKENS * settings.results_per_search + count_tokens("x" * 80)
    calls = math.ceil(n_claims / together) + max(rounds - n_claims, 0)
    completion = FUSED_COMPLETION["sentence_facts"] * n_claims + FUSED_COMPLETION["assessment"] * rounds
    return _estimate(
        settings, n_read, n_claims, n_read + calls, rounds, first + calls * rules + rounds * shown, completion
    )


def _n_windows(parts: Sequence[Part], size: WindowSize) -> int:
    n_characters = sum(len(part.text) for part in parts)
    return max(math.ceil(len(parts) / size.sentences), math.ceil(n_characters / size.characters))


def _grounded(
    settings: CheckSettings,
    prompts: PromptRegistry,
    parts: list[Part],
    n_claims: int,
    response: str,
    prompt: str | None,
) -> Estimate:
    """Documents are taken to be too long to be shown whole, so that each sentence is searched for, and each claim that
    is looked at again; the passages are taken to be as long as documents that are shown whole at most."""
    windows = _n_windows(parts, GROUNDED_WINDOW)
    batches = math.ceil(SHARE_LOOKED_AT_AGAIN * n_claims / BATCH_CLAIMS)
    shown, answer = _shown(response), "x" * (len(_shown(response)) // 2)
    window = _tokens(prompts, "grounded_facts", passage=None, question=prompt, answer=answer, sentence=None)
    batch = _tokens(prompts, "grounded_claims", passage=None, question=prompt, answer=shown, claim=None)
    stated = count_tokens(response) + count_tokens("x" * round(80 * SHARE_LOOKED_AT_AGAIN * n_claims))
    passages = FEW_CHARACTERS // CHARACTERS_PER_TOKEN
    prompt_tokens = windows * (window + passages) + batches * (batch + passages) + stated
    again = GROUNDED_COMPLETION["grounded_claims"] * SHARE_LOOKED_AT_AGAIN
    completion = round(n_claims * (GROUNDED_COMPLETION["grounded_facts"] + again))
    tools = max(1, len(settings.search) + bool(settings.docs))
    searches = tools * (len(parts) + round(SHARE_LOOKED_AT_AGAIN * n_claims))
    return _estimate(settings, len(parts), n_claims, windows + batches, searches, prompt_tokens, completion)


def _of_given(
    settings: CheckSettings, plan: Plan, response: str, prompt: str | None, facts: Sequence[GivenFacts]
) -> Estimate:
    stated = [given for given in facts if given.facts]
    n_claims = sum(len(given.facts) for given in stated)
    if settings.model is None:
        return _estimate(settings, len(stated), n_claims, 0, round(n_claims * SEARCHES_A_CLAIM), 0, 0)
    prompts = PromptRegistry.load(settings.prompts)
    if plan == "paper":
        return _paper(settings, prompts, [], n_claims, response, prompt).model_copy(update={"n_sentences": len(stated)})
    answer = _shown(response)
    first = sum(
        _tokens(prompts, "given_facts", question=prompt, answer=answer, sentence=given.sentence, fact=list(given.facts))
        for given in stated
    )
    return _fused_rounds(settings, prompts, len(stated), n_claims, first, prompt)


def _shown(response: str) -> str:
    """The part of a response that prompts show."""
    return response if len(response) <= ANSWER_CHARACTERS * CLEARLY_OVER else response[:ANSWER_CHARACTERS]


def _paper(
    settings: CheckSettings,
    prompts: PromptRegistry,
    parts: list[Part],
    n_claims: int,
    response: str,
    prompt: str | None,
) -> Estimate:
    searches = n_claims * settings.max_searches
    whole = _shown(response)
    fact, said = "x" * 80, "x" * 160
    passages = PASSAGE_TOKENS * settings.results_per_search
    gathered = [round(passages * (1 + SHARE_NEW * number)) for number in range(settings.max_searches)]
    split = sum(_tokens(prompts, "atomic_facts", above=part.above or None, sentence=part.text) for part in parts)
    revise = _tokens(prompts, "self_contained_fact", response=whole, sentence=said, fact=fact)
    relevance = _tokens(prompts, "relevance", question=prompt, response=whole, fact=fact) if prompt else 0
    query = _tokens(prompts, "search_query", question=prompt, fact=fact, evidence=None, asked=None, fruitless=None)
    rate = _tokens(prompts, "rating", question=prompt, sentence=said, fact=fact, evidence=None) + gathered[-1]
    # Each query sees the passages of those before it, the first none.
    searching = settings.max_searches * query + sum(gathered[:-1])
    prompt_tokens = split + n_claims * (revise + relevance + searching + rate)
    cost = PAPER_COMPLETION
    each = cost["split"] + cost["revise"] + cost["relevance"] + cost["rate"] + settings.max_searches * cost["query"]
    calls = len(parts) + n_claims * (2 + bool(prompt) + settings.max_searches)
    return _estimate(settings, len(parts), n_claims, calls, searches, prompt_tokens, n_claims * each)


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
    by_search = _search_price(settings.search)
    if settings.model is None:
        return None if by_search is None else by_search * searches
    price = price_of(settings, settings.model, settings.base_url)
    if price is None or by_search is None:
        return None
    return price.cost_usd(prompt, completion) + by_search * searches


def _search_price(names: Sequence[str]) -> float | None:
    """USD for one query to the dearest of them, since a model may choose any, without needing a provider's key."""
    prices = [search_builder(name)(timeout_s=1.0, replayed=True).usd_per_query for name in names]
    known = [price for price in prices if price is not None]
    return max(known, default=0.0) if len(known) == len(prices) else None
