"""Calculates the probabilities of several texts at one position of a reply, from its tokens' log-probabilities.

Servers return log-probabilities for the text of a message, but never for the arguments of a tool call.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import accumulate

from factloop.tools.models.wire import ReplyToken

TOP_LOGPROBS = 5
"""Number of alternatives to request, which every server that returns log-probabilities allows."""
VALUE = "value"


def probabilities(token: ReplyToken) -> dict[str, float]:
    """Returns the probability of each alternative at the token's position, including the token itself. Omits NaNs."""
    return {text: math.exp(min(logprob, 0.0)) for text, logprob in token.alternatives.items() if logprob == logprob}


def only_needed(tokens: Sequence[ReplyToken], needed: re.Pattern[str]) -> tuple[ReplyToken, ...]:
    """Returns the tokens that the pattern matches, with alternatives only for its `value` group.

    In the result, `needed` finds the same matches, with the same probabilities, as in the whole reply.
    """
    text, ends = _joined(tokens)
    kept: list[ReplyToken] = []
    reached = 0
    for match in needed.finditer(text):
        for place, token in enumerate(tokens[reached:], reached):
            if ends[place] <= match.start():
                continue
            if ends[place] - len(token.text) > match.end() - 1:
                break
            is_value = match.start(VALUE) < ends[place] and ends[place] - len(token.text) < match.end(VALUE)
            kept.append(token if is_value else replace(token, alternatives={}))
            reached = place + 1
    return tuple(kept)


def option_probabilities(
    tokens: Sequence[ReplyToken], span: tuple[int, int], options: Sequence[str], *, closing: str
) -> Mapping[str, float] | None:
    """Returns the probability of each of `options`, followed by `closing`, at `span` in the joined text of the tokens.

    A text counts for an option if it begins only that option ("insuff" for "insufficient"). If the token in the reply
    could begin several options, the next token decides. An alternative that could begin several options counts for
    none. An option that is not among the alternatives counts as 0, so the sum may be well below 1. Returns None if a
    token of the span has no alternatives, or if the reply does not match any option.
    """
    text, ends = _joined(tokens)
    first = next((place for place, end in enumerate(ends) if end > span[0]), None)
    if first is None:
        return None
    start = ends[first] - len(tokens[first].text)
    whole = {option: f"{text[start : span[0]]}{option}{closing}" for option in options}
    found, written = dict.fromkeys(options, 0.0), 1.0
    for place in range(first, len(tokens)):
        token = tokens[place]
        before = text[start : ends[place] - len(token.text)]
        shares = probabilities(token)
        for alternative, share in shares.items():
            begun = _begun(before + alternative, whole)
            if len(begun) == 1:
                found[begun[0]] += written * share
        begun = _begun(before + token.text, whole)
        if len(begun) <= 1:
            return found if begun and token.text in shares else None
        written *= shares.get(token.text, 0.0)
    return None


def _begun(text: str, whole: Mapping[str, str]) -> list[str]:
    return [option for option, said in whole.items() if said.startswith(text) or text.startswith(said)]


def _joined(tokens: Sequence[ReplyToken]) -> tuple[str, list[int]]:
    return "".join(token.text for token in tokens), list(accumulate(len(token.text) for token in tokens))
