"""Estimates the cost of a check without spending anything."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from factloop.agents.safe.answer import CLEARLY_OVER
from factloop.agents.safe.fused import CLAIMS_TOGETHER
from factloop.agents.safe.grounded import BATCH_CLAIMS
from factloop.agents.safe.model_stages import ANSWER_CHARACTERS
from factloop.agents.safe.passages import WHOLE_TIMES
from factloop.agents.safe.sentences import FUSED_WINDOW, GROUNDED_WINDOW, WindowSize
from factloop.checking.preparing import plan_of
from factloop.core.records import Count, GivenFacts, NonNegative, Record
from factloop.prompts.registry import PromptRegistry, Value
from factloop.setup.chat_model import price_of
from factloop.setup.settings import CheckSettings
from factloop.tools.models.tokens import CHARACTERS_PER_TOKEN, count_tokens
from factloop.tools.search.build import search_builder
from factloop.tools.search.documents.files import find_files
from factloop.tools.search.documents.search import DocumentSearch
from factloop.tools.text.outline import Part, read_outline
from factloop.tools.text.silence import silence_of

WORDS_A_CLAIM = 8
"""Mean number of words per fact in hand-labelled answers (`benchmarks/texts`, `benchmarks/splitting`)."""
MOST_READ = 1_000_000
"""Documents larger than this, in bytes, are not read for an estimate."""
SEARCHES_A_CLAIM = 1.2
"""Mean number of searches needed to settle a claim."""
PASSAGE_TOKENS = 70
SHARE_NEW = 0.5  # fraction of search results that earlier searches for the same claim did not return
SCHEMA_TOKENS = 120  # size of the schema or tool definitions in each request
FUSED_COMPLETION = {"sentence_facts": 35, "assessment": 45}
"""Reply tokens per claim."""
PAPER_COMPLETION = {"split": 15, "revise": 20, "relevance": 20, "query": 15, "rate": 60}
GROUNDED_COMPLETION = {"grounded_facts": 40, "grounded_claims": 25}
"""Reply tokens per claim (in `grounded_claims`, per claim that is checked again)."""
SHARE_LOOKED_AT_AGAIN = 0.3  # fraction of claims that are checked again because they seem unsupported at first


class Estimate(Record):
    """The expected cost of a check. The values are not limits (see `budget_usd` and `max_calls`)."""

    n_sentences: Count
    n_claims: Count
    calls: Count
    searches: Count
    """Includes searches in the user's documents, which are free."""
    prompt_tokens: Count
    completion_tokens: Count
    cost_usd: NonNegative | None
    """None if a price is unknown. 0 for the offline engine without a paid search."""


def estimate(
    settings: CheckSettings,
    response: str,
    prompt: str | None,
    facts: Sequence[GivenFacts] | None = None,
    n_characters: int | None = None,
) -> Estimate:
    """Estimates the calls, tokens and cost of checking `response`, or only `facts`. Makes no calls and needs no key.
    `n_characters` is the length of all documents. The `grounded` plan puts short documents into the prompt in full."""
    plan = plan_of(settings)
    parts = [part for part in read_outline(response) if silence_of(part) is None] if facts is None else []
    n_claims = sum(max(1, round(len(part.text.split()) / WORDS_A_CLAIM)) for part in parts)
    stated = [given for given in facts or () if given.facts]
    n_claims += sum(len(given.facts) for given in stated)
    n_sentences = len(parts) + len(stated)
    if settings.jury:
        each = [estimate(one, response, prompt, facts, n_characters) for one in _each_alone(settings)]
        return _of_jury(settings, each)
    if settings.model is None:
        return _estimate(settings, n_sentences, n_claims, 0, round(n_claims * SEARCHES_A_CLAIM), 0, 0)
    if settings.eligibility and prompt:
        alone = estimate(settings.model_copy(update={"eligibility": False}), response, prompt, facts, n_characters)
        tokens = count_tokens(response + prompt) + 2 * SCHEMA_TOKENS
        more = _estimate(settings, 0, 0, 1, 0, tokens, PAPER_COMPLETION["relevance"])
        return sum_of([alone, more])
    asked = _Asked(settings, PromptRegistry.load(settings.prompts), response, prompt, parts, n_claims, n_sentences)
    if settings.verifiable:
        return _verifiable(asked)
    if plan in ("paper", "safe"):
        return _paper(asked, is_published=plan == "safe")
    return _grounded(asked, stated, n_characters) if plan == "grounded" else _fused(asked, stated)


def length_of_documents(settings: CheckSettings) -> int | None:
    """Returns the number of characters in the documents, or None if they are long or a search tool is used."""
    if settings.search or not settings.docs:
        return None
    if sum(path.stat().st_size for path in find_files(settings.docs).paths) > MOST_READ:
        return None
    found = DocumentSearch(settings.docs, in_memory=True).all_passages(round(WHOLE_TIMES * settings.passage_characters))
    return None if found is None else sum(len(hit.passage) for hit in found)


def _each_alone(settings: CheckSettings) -> list[CheckSettings]:
    own: dict[str, Any] = {"price_in": None, "price_out": None, "price_cached": None}
    alone = settings.model_copy(update={"jury": ()})
    return [alone, *(alone.model_copy(update={**own, "model": name}) for name in settings.jury)]


def _of_jury(settings: CheckSettings, each: Sequence[Estimate]) -> Estimate:
    total = sum_of(each)
    of_searches = (len(each) - 1) * (_search_price(settings.search) or 0.0) * each[0].searches
    cost_usd = None if total.cost_usd is None else total.cost_usd - of_searches
    read_once = {name: getattr(each[0], name) for name in ("n_sentences", "n_claims", "searches")}
    return total.model_copy(update={**read_once, "cost_usd": cost_usd})


def sum_of(estimates: Sequence[Estimate]) -> Estimate:
    """The cost is None if any of the costs is."""
    counts = ("n_sentences", "n_claims", "calls", "searches", "prompt_tokens", "completion_tokens")
    costs = [one.cost_usd for one in estimates if one.cost_usd is not None]
    return Estimate(
        **{name: sum(getattr(one, name) for one in estimates) for name in counts},
        cost_usd=sum(costs) if len(costs) == len(estimates) else None,
    )


@dataclass(frozen=True)
class _Asked:
    settings: CheckSettings
    prompts: PromptRegistry
    response: str
    prompt: str | None
    parts: Sequence[Part]
    """Empty if facts were supplied."""
    n_claims: int
    n_sentences: int

    @property
    def shown(self) -> str:
        is_whole = len(self.response) <= ANSWER_CHARACTERS * CLEARLY_OVER
        return self.response if is_whole else self.response[:ANSWER_CHARACTERS]

    def tokens(self, stage: str, **values: Value) -> int:
        prompt = self.prompts[f"safe/{stage}"]
        given = {"question": self.prompt, **values}
        rendered = prompt.render(**{name: given[name] for name in prompt.variables})
        return count_tokens(rendered.system) + count_tokens(rendered.user) + SCHEMA_TOKENS

    def n_windows(self, size: WindowSize) -> int:
        n_characters = sum(len(part.text) for part in self.parts)
        return max(math.ceil(len(self.parts) / size.sentences), math.ceil(n_characters / size.characters))


def _fused(asked: _Asked, given: Sequence[GivenFacts]) -> Estimate:
    settings, n_claims, shown = asked.settings, asked.n_claims, asked.shown
    n_read = len(given) or asked.n_windows(FUSED_WINDOW)
    first = n_read * asked.tokens("sentence_facts", answer=shown, above=None, sentence=None)
    first += sum(count_tokens(f"{part.above} {part.text}") for part in asked.parts)
    if given:
        first = sum(asked.tokens("given_facts", answer=shown, sentence=one.sentence, fact=one.facts) for one in given)
    rounds = round(n_claims * min(SEARCHES_A_CLAIM, settings.max_searches))
    together = CLAIMS_TOGETHER if len(settings.search) + bool(settings.docs) == 1 else 1
    nothing = dict.fromkeys(("claim", "evidence", "asked", "fruitless"))
    rules = asked.tokens("assessment", sentence="x" * 160, left="1", **nothing)
    found = PASSAGE_TOKENS * settings.results_per_search + count_tokens("x" * 80)
    calls = math.ceil(n_claims / together) + max(rounds - n_claims, 0)
    completion = FUSED_COMPLETION["sentence_facts"] * n_claims + FUSED_COMPLETION["assessment"] * rounds
    prompt_tokens = first + calls * rules + rounds * found
    return _estimate(settings, asked.n_sentences, n_claims, n_read + calls, rounds, prompt_tokens, completion)


def _grounded(asked: _Asked, given: Sequence[GivenFacts], n_characters: int | None) -> Estimate:
    """Short documents are in each prompt in full, so nothing is searched or checked again. Otherwise, there is one
    search per sentence, and one per claim that is checked again. Supplied facts are searched for in any case. Without a
    response, they are separate claims, which share no batch."""
    settings, n_claims = asked.settings, asked.n_claims
    windows = len(given) or asked.n_windows(GROUNDED_WINDOW)
    is_whole = n_characters is not None and n_characters <= WHOLE_TIMES * settings.passage_characters
    n_again = 0 if is_whole else SHARE_LOOKED_AT_AGAIN * n_claims
    batches = math.ceil(n_again / (BATCH_CLAIMS if asked.response else 1))
    before = "x" * (len(asked.shown) // 2)
    batch = asked.tokens("grounded_claims", passage=None, answer=asked.shown, claim=None)
    window = batch if given else asked.tokens("grounded_facts", passage=None, answer=before, sentence=None)
    read = " ".join(fact for one in given for fact in one.facts) or asked.response
    stated = count_tokens(read) + count_tokens("x" * round(80 * n_again))
    passages = (n_characters if is_whole and n_characters else settings.passage_characters) // CHARACTERS_PER_TOKEN
    prompt_tokens = windows * (window + passages) + batches * (batch + passages) + stated
    again = GROUNDED_COMPLETION["grounded_claims"] * n_again
    completion = round(n_claims * GROUNDED_COMPLETION["grounded_facts"] + again)
    tools = 0 if is_whole and not given else max(1, len(settings.search) + bool(settings.docs))
    searches = tools * ((n_claims if given else asked.n_sentences) + round(n_again))
    return _estimate(settings, asked.n_sentences, n_claims, windows + batches, searches, prompt_tokens, completion)


def _verifiable(asked: _Asked) -> Estimate:
    settings, n_claims, cost = asked.settings, asked.n_claims, PAPER_COMPLETION
    around = "x" * 640
    read = (asked.tokens("published/verifiable_claims", context=around, sentence=one.text) for one in asked.parts)
    rate = asked.tokens("published/rating", fact="x" * 80, evidence=None) + PASSAGE_TOKENS * settings.results_per_search
    prompt_tokens, calls = sum(read) + n_claims * rate, len(asked.parts) + n_claims
    completion = n_claims * (cost["split"] + cost["rate"])
    return _estimate(settings, asked.n_sentences, n_claims, calls, n_claims, prompt_tokens, completion)


def _paper(asked: _Asked, *, is_published: bool) -> Estimate:
    settings, n_claims = asked.settings, asked.n_claims
    whole, of = (asked.response, "published/") if is_published else (asked.shown, "")
    fact, said = "x" * 80, "x" * 160
    passages = PASSAGE_TOKENS * settings.results_per_search
    rounds = n_queries = settings.max_searches
    if not is_published:  # in place of the last query, the model says that it needs no more
        rounds = min(math.ceil(SEARCHES_A_CLAIM), rounds)
        n_queries = min(rounds + 1, n_queries)
    gathered = [round(passages * (1 + SHARE_NEW * number)) for number in range(n_queries)]
    split = sum(asked.tokens(f"{of}atomic_facts", above=part.above or None, sentence=part.text) for part in asked.parts)
    revise = asked.tokens(f"{of}self_contained_fact", response=whole, sentence=said, fact=fact)
    relevance = asked.tokens("relevance", response=whole, fact=fact) if asked.prompt else 0
    query = asked.tokens(f"{of}search_query", fact=fact, evidence=None, asked=None, fruitless=None)
    rate = asked.tokens(f"{of}rating", sentence=said, fact=fact, evidence=None) + gathered[-1]
    # The prompt for each query after the first includes the passages that earlier queries found.
    searching = n_queries * query + sum(gathered[:-1])
    prompt_tokens = split + n_claims * (revise + relevance + searching + rate)
    cost = PAPER_COMPLETION
    each = cost["split"] + cost["revise"] + cost["relevance"] + cost["rate"] + n_queries * cost["query"]
    calls = len(asked.parts) + n_claims * (2 + bool(asked.prompt) + n_queries)
    searches = n_claims * rounds
    return _estimate(settings, asked.n_sentences, n_claims, calls, searches, prompt_tokens, n_claims * each)


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
    """The price of the most expensive search tool, in USD per query, since a model may choose any tool."""
    prices = [search_builder(name)(timeout_s=1.0, replayed=True).usd_per_query for name in names]
    known = [price for price in prices if price is not None]
    return max(known, default=0.0) if len(known) == len(prices) else None
