from __future__ import annotations

import json

import pytest

from factloop.agents.safe.schemas import Assessment, Rating, Relevance, SearchQuery, SentenceFacts
from factloop.core.errors import ModelOutputError
from factloop.tools.models.parsing import LONGEST_REPLY, parse_reply
from tests.work import LINEAR, growth

RELEVANT = '{"reason": "Same subject.", "relevant": true}'
OTHER = '{"reason": "Same subject.", "relevant": false}'
YES = Relevance(reason="Same subject.", relevant=True)


@pytest.mark.parametrize(
    "text",
    [
        RELEVANT,
        f"\n\n  {RELEVANT}\n",
        f"```json\n{RELEVANT}\n```",
        f"```\n{RELEVANT}\n```",
        f"```json  \n{RELEVANT}```",
        f"Here is my judgement:\n\n{RELEVANT}\n\nLet me know if you need more.",
        f"Sure!\n```json\n{RELEVANT}\n```\nDone.",
        f"<think>\nThe fact says {{x}}, so maybe {OTHER}?\n</think>\n{RELEVANT}",
        f"The template opened the thought.</think>{RELEVANT}",
        f"{RELEVANT}\n\n{RELEVANT}",
        f"{RELEVANT} and, spaced otherwise, {RELEVANT.replace(' ', '')}".replace("Samesubject", "Same subject"),
        f"In set notation {{a, b}} and {{}}: {RELEVANT}",
        f"See [1] and [2]. {RELEVANT}",
        f'{RELEVANT[:-1]}, "confidence": 0.9}}',
        f"{RELEVANT} }}",
        '{"reason": "Same subject.",\n "relevant":\ttrue}',
    ],
)
def test_replies_that_can_be_read(text: str) -> None:
    assert parse_reply(text, Relevance) == YES


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "the reply is empty"),
        ("  \n", "the reply is empty"),
        ("<think>I do not know.</think>", "the reply is empty"),
        ("I cannot say.", "not one JSON object"),
        ("relevant", "not one JSON object"),
        ("{}", "reason: Field required; relevant: Field required"),
        ('{"reason": "x"}', "relevant: Field required"),
        ('{"reason_": "x", "relevant": true}', "reason: Field required"),
        ('{"reason": "x", "relevant": "true"}', "relevant: Input should be a valid boolean"),
        ('{"reason": "x", "relevant": 1}', "relevant: Input should be a valid boolean"),
        ('{"reason": null, "relevant": true}', "reason: Input should be a valid string"),
        ('{"reason": 5, "relevant": true}', "reason: Input should be a valid string"),
        (f"[{RELEVANT}]", "reply: "),
        ('"yes"', "reply: "),
        ("true", "reply: "),
        ("null", "reply: "),
        (f"First {RELEVANT}, or rather {OTHER}", "several different objects"),
        (RELEVANT[:-1], "not valid JSON"),
        (RELEVANT[:20], "not valid JSON"),
        ('{"reason": "cut in the mid', "not valid JSON"),
        (f'{{"result": {RELEVANT}, "more": ', "not valid JSON"),
        (f'{{"result": {RELEVANT}}}', "reason: Field required"),
        ('{"reason": "x", "relevant": true,}', "not valid JSON"),
        ("{'reason': 'x', 'relevant': true}", "not one JSON object"),
        ('{"reason": "x", "relevant": NaN}', "NaN is not JSON"),
        ('{"reason": "x", "relevant": Infinity}', "Infinity is not JSON"),
        ('{"reason": "x", "relevant": false, "relevant": true}', "a field is given twice"),
        (f'So: {RELEVANT} {{"relevant": ', "not valid JSON"),
    ],
)
def test_replies_that_cannot(text: str, said: str) -> None:
    with pytest.raises(ModelOutputError) as caught:
        parse_reply(text, Relevance)
    assert said in str(caught.value)
    assert str(caught.value).startswith("Relevance: ")
    assert caught.value.schema == "Relevance"


def test_the_reply_is_kept_with_the_error() -> None:
    with pytest.raises(ModelOutputError) as caught:
        parse_reply("no idea", Relevance)
    assert caught.value.reply == "no idea"


def test_text_under_check_may_hold_what_looks_like_the_end_of_a_thought() -> None:
    fact = "The tag </think> ends a thought."
    assert parse_reply(json.dumps({"query": fact}), SearchQuery).query == fact


@pytest.mark.parametrize(
    "text",
    [
        '{"rationale": "x", "cited": ["1"], "verdict": "supported"}',
        '{"rationale": "x", "cited": [1.5], "verdict": "supported"}',
        '{"rationale": "x", "cited": "1", "verdict": "supported"}',
        '{"rationale": "x", "cited": [true], "verdict": "supported"}',
        '{"rationale": "x", "cited": [1], "verdict": "Supported"}',
        '{"rationale": "x", "cited": [1], "verdict": "refuted"}',
        '{"rationale": "x", "cited": [1], "verdict": ["supported"]}',
        '{"rationale": "x", "cited": [' + "9" * 5_000 + '], "verdict": "supported"}',
    ],
)
def test_numbers_and_verdicts_are_read_strictly(text: str) -> None:
    with pytest.raises(ModelOutputError):
        parse_reply(text, Assessment)


def test_nested_facts() -> None:
    text = '{"facts":[{"fact":"A is B.","status":"check","query":"A"},{"fact":"C.","status":"irrelevant","query":""}]}'
    assert [fact.status for fact in parse_reply(text, SentenceFacts).facts] == ["check", "irrelevant"]
    with pytest.raises(
        ModelOutputError, match=r"facts\.1\.status: Input should be 'check', 'irrelevant' or 'ambiguous'"
    ):
        parse_reply(text.replace('"irrelevant"', '"unknown"'), SentenceFacts)


def test_every_wrong_field_is_named_up_to_five() -> None:
    facts = [{"fact": 1, "status": "check", "query": ""}] * 9
    with pytest.raises(ModelOutputError) as caught:
        parse_reply(json.dumps({"facts": facts}), SentenceFacts)
    assert str(caught.value).count("should be a valid string") == 5


def test_characters_arrive_as_they_are() -> None:
    odd = "\x00 \u202e ] } ``` {{claim}} [1] \U0001f600"
    assert parse_reply(json.dumps({"query": odd}), SearchQuery).query == odd


def test_a_lone_surrogate_is_not_text() -> None:
    with pytest.raises(ModelOutputError):
        parse_reply('{"query": "\\ud800"}', SearchQuery)


@pytest.mark.parametrize(
    "text",
    [
        "{" * 100_000,
        "{}" * 100_000,
        '{"' * 100_000,
        '{"a":' * 100_000,
        "[" * 100_000,
        '{"reason": ' + "[" * 100_000,
        "{" + " " * 900_000,
        ("{" + " " * 9_000) * 100,
        "```json\n" * 100_000,
        "</think>" * 100_000,
        "\n" * 900_000 + "{",
        '{"reason": "' + "\\" * 900_000,
        "a" * (LONGEST_REPLY + 1),
    ],
    ids=lambda text: text[:12],
)
def test_hostile_replies_are_refused(text: str) -> None:
    """The square of their length would outlast the time limit of a test."""

    def parse(n_characters: int) -> None:
        with pytest.raises(ModelOutputError):
            parse_reply(text[:n_characters], Relevance)

    parse(len(text))
    assert growth(parse, 2_000) < LINEAR


@pytest.mark.parametrize("depth", [*range(100, 1_000, 45), 5_000])
def test_deep_nesting_is_refused_at_every_depth(depth: int) -> None:
    for opening, closing in (("[", "]"), ('{"a":', "}")):
        nested = opening * depth + "1" + closing * depth
        with pytest.raises(ModelOutputError):
            parse_reply(f'{{"query": {nested}}}', SearchQuery)


def test_a_million_characters_on_one_line_are_read() -> None:
    long = "x" * 900_000
    assert parse_reply(f"Well, {json.dumps({'query': long})} it is.", SearchQuery).query == long


def test_a_rating_with_a_citation_in_its_reasoning() -> None:
    reply = '{"reasoning": "Passage [1] [Not Supported]", "cited": [1], "wrong": "", "rating": "supported"}'
    assert parse_reply(f"Reasoning [1] says so.\n{reply}", Rating).rating == "supported"
