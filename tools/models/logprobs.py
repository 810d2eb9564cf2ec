"""Reads the log-probabilities of a reply's tokens: how probable each of a few texts was in one place of it.

Servers give them for a message's text, never for the arguments of a tool call.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import accumulate

from factloop.tools.models.wire import ReplyToken

TOP_LOGPROBS = 5
"""Alternatives to ask for: as many as every server allows that gives any."""
VALUE = "value"
"""Name of the group of a pattern that holds what the probabilities are wanted of."""


def probabilities(token: ReplyToken) -> dict[str, float]:
    """How probable each alternative in the token's place was, itself among them; without what is no number."""
    return {text: math.exp(min(logprob, 0.0)) for text, logprob in token.alternatives.items() if logprob == logprob}


def only_needed(tokens: Sequence[ReplyToken], needed: re.Pattern[str]) -> tuple[ReplyToken, ...]:
    """The tokens of what the pattern matches, with alternatives for its group `value` alone.

    `needed` finds the same matches in these as in all tokens, and the same probabilities.
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
    """How probable each of `options`, followed by `closing`, was at `span` of the tokens' joined text.

    Options are told apart as far as need be: what begins one of them and no other counts for it ("insuff" for
    "insufficient"). Where the token written could begin several, the next decides; an alternative that could begin
    several is ambiguous and counts for no option. What is not among the alternatives counts as 0. The sum may so be
    well under 1: the server samples from all tokens. None where a token of the span has no alternatives, or the
    tokens written match no option.
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
    """The options that the text begins, or goes beyond."""
    return [option for option, said in whole.items() if said.startswith(text) or text.startswith(said)]


def _joined(tokens: Sequence[ReplyToken]) -> tuple[str, list[int]]:
    """The text of all tokens, and where each ends in it."""
    return "".join(token.text for token in tokens), list(accumulate(len(token.text) for token in tokens))
