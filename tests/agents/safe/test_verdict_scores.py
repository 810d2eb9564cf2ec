"""P(supported) from the tokens of a reply, and replies without it."""

from __future__ import annotations

import math
from collections.abc import Mapping

import pytest

from factloop.agents.safe import judgements
from factloop.agents.safe.judgements import ASSESSED, GROUNDED, RATED, VerdictField, with_score
from factloop.core.records import Judgement, UnscoredReason
from factloop.tools.models.wire import ReplyToken


def reply(*pieces: str | tuple[str, Mapping[str, float]]) -> list[ReplyToken]:
    """Pieces of a reply; those with probabilities say what else might have stood there."""
    given = (piece if isinstance(piece, tuple) else (piece, {piece: 1.0}) for piece in pieces)
    return [ReplyToken(text, {one: math.log(share) for one, share in shares.items()}) for text, shares in given]


@pytest.mark.parametrize(
    ("field", "said", "shares", "score"),
    [
        # 0.6 / (0.6 + 0.3)
        (ASSESSED, "supported", {"supported": 0.6, "contradicted": 0.3}, 2 / 3),
        # 0.1 / (0.1 + 0.7 + 0.1); a capital letter is no verdict
        (ASSESSED, "contradicted", {"contradicted": 0.7, "supported": 0.1, "ins": 0.1, "Supported": 0.1}, 1 / 9),
        # "ambiguous" leaves a claim unscored, and is no verdict beside the others: 0.5 / (0.5 + 0.1)
        (ASSESSED, "supported", {"supported": 0.5, "insufficient": 0.1, "amb": 0.4}, 5 / 6),
        # 0.02 / (0.02 + 0.9)
        (RATED, "not_supported", {"not": 0.0, "not_supported": 0.9, "supported": 0.02}, 0.02 / 0.92),
        (RATED, "supported", {"supported": 0.8, "not": 0.2}, 0.8),
        # below five likeliest, so as good as 0
        (GROUNDED, "insufficient", {"insufficient": 1.0}, 0.0),
        (GROUNDED, "supported", {"supported": 1.0}, 1.0),
        # half of the probability must be on what the field may say
        (GROUNDED, "supported", {"supported": 0.4, "contradicted": 0.11, "yes": 0.49}, 0.4 / 0.51),
        (GROUNDED, "supported", {"supported": 0.4, "contradicted": 0.09, "yes": 0.51}, None),
        (ASSESSED, "ambiguous", {"ambiguous": 1.0}, None),
    ],
)
def test_it_is_the_share_of_supported_among_the_verdicts(
    field: VerdictField, said: str, shares: dict[str, float], score: float | None
) -> None:
    shares = {text: share for text, share in shares.items() if share}
    tokens = reply('{"', "reasoning", '":"', "So.", '","', field.name, '":"', (said, shares), '"}')
    assert field.scores(tokens, [said]) == [None if score is None else pytest.approx(score)]


def test_each_fact_has_its_own() -> None:
    first, second = {"supp": 0.9, "contr": 0.1}, {"contr": 0.75, "supp": 0.25}
    tokens = reply(
        '{"facts":[{"verdict', '":"', ("supp", first), "orted", '","reason":""},{"', "verdict", '": "',
        ("contr", second), "adicted", '"}]}',
    )  # fmt: skip
    assert GROUNDED.scores(tokens, ["supported", "contradicted"]) == pytest.approx([0.9, 0.25])
    assert GROUNDED.scores(tokens, ["supported"]) == [None]
    assert GROUNDED.scores(tokens, ["contradicted", "supported"]) == [None, None]
    assert GROUNDED.scores(tokens, []) == []


def test_a_verdict_within_a_text_is_none() -> None:
    said = r'{"rationale":"It says \"verdict\": \"contradicted\", or \"verdict\":\"supported\".","verdict":"'
    tokens = reply(*said, ("supported", {"supported": 0.8, "contradicted": 0.2}), '"}')
    assert ASSESSED.scores(tokens, ["supported"]) == [pytest.approx(0.8)]


def test_where_the_reply_has_a_draft_as_well_nobody_knows_which_was_meant() -> None:
    likely = ("supported", {"supported": 0.8, "contradicted": 0.2})
    draft = reply('{"verdict":"', likely, '"}</think>{"verdict":"', likely, '"}')
    assert ASSESSED.scores(draft, ["supported"]) == [None]


def test_tokens_around_the_reply_do_no_harm() -> None:
    likely = ("supported", {"supported": 0.8, "contradicted": 0.2})
    tokens = reply("<think>", "Hm.", "</think>", "```json\n", '{ "verdict" : "', likely, '" }', "\n```", "<|im_end|>")
    assert ASSESSED.scores(tokens, ["supported"]) == [pytest.approx(0.8)]


def test_without_tokens_there_is_none() -> None:
    assert RATED.scores((), ["supported"]) == [None]
    assert RATED.scores(reply("supported"), ["supported"]) == [None]


def test_only_a_verdict_has_a_score() -> None:
    judged = judgements.supported("", (), "m")
    assert with_score(judged, 0.0).score == 0.0
    assert with_score(judged, None) == judged
    unscored = Judgement(unscored_reason=UnscoredReason.AMBIGUOUS)
    assert with_score(unscored, 0.5) == unscored
