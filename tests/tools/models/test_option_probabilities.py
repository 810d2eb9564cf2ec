"""How probable each of a few texts was in one place of a reply, however the reply is cut into tokens."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from factloop.tools.models.logprobs import only_needed, option_probabilities
from factloop.tools.models.wire import ReplyToken

OPTIONS = ("supported", "contradicted", "insufficient")
FIELD = re.compile(r'"verdict"\s*:\s*"(?P<value>[^"\\]*)"')


def token(text: str, shares: Mapping[str, float] | None = None) -> ReplyToken:
    found = {text: 1.0} if shares is None else shares
    return ReplyToken(text, {one: math.log(share) for one, share in found.items()})


def found(tokens: Sequence[ReplyToken], options: Sequence[str] = OPTIONS) -> Mapping[str, float] | None:
    """Probabilities of the value of the only field called `verdict`."""
    (match,) = FIELD.finditer("".join(one.text for one in tokens))
    return option_probabilities(tokens, match.span("value"), options, closing='"')


def test_a_shared_beginning_is_walked_through() -> None:
    options = ("supported", "supportive", "other")
    tokens = [
        token('{"verdict":"'),
        token("support", {"support": 0.8, "suppo": 0.1, "other": 0.1}),
        token("ed", {"ed": 0.75, "ive": 0.25}),
        token('"}'),
    ]
    # 0.8 * 0.75, 0.8 * 0.25; which of the two `suppo` would have become is unknown.
    assert found(tokens, options) == pytest.approx({"supported": 0.6, "supportive": 0.2, "other": 0.1})


def test_beyond_the_tokens_is_nothing() -> None:
    assert option_probabilities([token("a")], (5, 9), OPTIONS, closing='"') is None
    assert option_probabilities([], (0, 9), OPTIONS, closing='"') is None
    assert option_probabilities([token("supp")], (0, 4), ("supported", "supporting"), closing='"') is None


VERDICTS = ("supported", "contradicted", "insufficient", "ambiguous")
ALIKE = ("supported", "supportive", "not_supported", "insufficient", "in")
WIDTHS = st.lists(st.integers(1, 5), min_size=1, max_size=40)
WEIGHTS = st.lists(st.floats(0.01, 1.0), min_size=5, max_size=5)


def cut(odds: Mapping[str, float], said: str, widths: Sequence[int]) -> list[ReplyToken]:
    """A reply of a model that writes pieces of these widths, each with the probability that its options give it."""
    texts = {option: f'{{"reason":"","verdict":"{option}"}}' for option in odds}
    tokens: list[ReplyToken] = []
    at = 0
    while at < len(texts[said]):
        width = widths[len(tokens) % len(widths)]
        here: dict[str, float] = {}
        for option, text in texts.items():
            if text[:at] == texts[said][:at]:
                here[text[at : at + width]] = here.get(text[at : at + width], 0.0) + odds[option]
        total = math.fsum(here.values())
        tokens.append(token(texts[said][at : at + width], {text: share / total for text, share in here.items()}))
        at += width
    return tokens


def normalised(options: Sequence[str], weights: Sequence[float]) -> dict[str, float]:
    weighed = dict(zip(options, weights, strict=False))
    return {option: weight / math.fsum(weighed.values()) for option, weight in weighed.items()}


@given(WIDTHS, WEIGHTS, st.sampled_from(VERDICTS))
def test_however_it_is_cut_the_whole_probabilities_come_back(
    widths: list[int], weights: list[float], said: str
) -> None:
    odds = normalised(VERDICTS, weights)
    tokens = cut(odds, said, widths)
    assert found(tokens, VERDICTS) == pytest.approx(odds)
    kept = only_needed(tokens, FIELD)
    assert found(kept, VERDICTS) == pytest.approx(odds)
    assert only_needed(kept, FIELD) == kept


@given(WIDTHS, WEIGHTS, st.sampled_from(ALIKE))
def test_options_that_begin_alike_are_never_given_more_than_their_own(
    widths: list[int], weights: list[float], said: str
) -> None:
    odds = normalised(ALIKE, weights)
    shares = found(cut(odds, said, widths), ALIKE)
    assert shares is not None
    assert shares[said] == pytest.approx(odds[said])
    assert all(shares[option] <= odds[option] + 1e-9 for option in ALIKE)


def test_only_the_fields_are_kept_and_only_alternatives_of_their_values() -> None:
    shares = {"supp": 0.9, "ins": 0.1}
    reply = ['{"facts":[{"', "reason", '":"', "A long", " story", '","', "verdict", '":"', "supp", "orted", '"},', '{"']
    tokens = [token(text, shares if text == "supp" else None) for text in [*reply, *reply[1:]]]
    kept = only_needed(tokens, FIELD)
    assert [one.text for one in kept] == ['","', "verdict", '":"', "supp", "orted", '"},'] * 2
    assert [one.text for one in kept if one.alternatives] == ["supp", "orted"] * 2
    assert only_needed(tokens[:6], FIELD) == ()
