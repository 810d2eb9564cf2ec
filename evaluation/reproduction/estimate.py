"""What the models of an entry would be asked, from its labelled data alone."""

from __future__ import annotations

from factloop.core.records import Count, Record
from factloop.evaluation.datasets.labelled_claims import LabelledItem, claims_of
from factloop.evaluation.datasets.mixedqa import MixedQaItem
from factloop.evaluation.datasets.registry import load_part
from factloop.evaluation.reproduction.inputs import Inputs
from factloop.evaluation.reproduction.records import Entry
from factloop.tools.models.tokens import count_tokens


class CallEstimate(Record):
    """Calls of one model for one entry. For several evaluators it is that of each."""

    n_claims: Count
    """Labelled claims, or responses, that were found."""
    n_calls: Count
    prompt_tokens: Count
    """Of claims and documents alone; the prompts' own words come on top."""

    def usd(self, price_in: float | None) -> float | None:
        """The cost of the prompts at a price in USD for a million tokens; None without one."""
        return None if price_in is None else self.prompt_tokens * price_in / 1e6


def estimate_calls(entry: Entry, inputs: Inputs) -> CallEstimate | None:
    """The calls of a model for the data that were found; None where none were, or no number a claim is known.

    Reads the data, costs nothing. Raises DataError for a malformed row.
    """
    texts = [text for named in entry.data if named in inputs.places for text in _texts(named, inputs)]
    if not texts or not entry.calls_per_claim:
        return None
    tokens = sum(map(count_tokens, texts))
    n_calls = round(len(texts) * entry.calls_per_claim)
    return CallEstimate(n_claims=len(texts), n_calls=n_calls, prompt_tokens=round(tokens * entry.calls_per_claim))


def _texts(named: str, inputs: Inputs) -> list[str]:
    """What would be shown of each claim, or response: its words with those of its document."""
    texts: list[str] = []
    name, part = named.split(":")
    for item in load_part(name, part, inputs.places[named]):
        if isinstance(item, MixedQaItem):
            texts += [f"{item.question} {one.text}" for one in item.responses]
        elif isinstance(item, LabelledItem):
            texts += [f"{claim.claim} {claim.document or ''}" for claim in claims_of(item)]
    return texts
