from __future__ import annotations

import json

import pytest

from factloop.agents.safe.schemas import GroundedFact, GroundedFacts, Relevance, SearchQuery, SentenceFacts
from factloop.core.errors import ModelOutputError
from factloop.tools.models.parsing import LONGEST_REPLY, parse_reply
from tests.work import LINEAR, growth

RELEVANT = '{"reason": "Same subject.", "relevant": true}'
OTHER = '{"reason": "Same subject.", "relevant": false}'


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
        ('{"reason": "x", "relevant": NaN}', "relevant: "),
        ('{"reason": "x", "relevant": Infinity}', "relevant: "),
        ("{'reason': 'x', 'relevant': tr", "not one JSON object"),
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


FACT = {"sentence": 1, "fact": "It is white.", "verdict": "supported", "passages": [1]}
FACTS = json.dumps({"facts": [FACT], "without_fact": [], "off_topic": []})


@pytest.mark.parametrize(
    "text",
    [
        FACTS[:-1] + ",}",
        FACTS[:-1] + " // done\n}",
        FACTS.replace('"', "'"),
        FACTS.replace("supported", "SUPPORTED"),
        FACTS.replace('"sentence": 1', '"sentence": "1"').replace("[1]", '["[1]"]'),
        FACTS.replace("[1]", "1"),
        FACTS.replace('"off_topic": []', '"off_topic": null'),
        json.dumps({**json.loads(FACTS), "facts": json.dumps([FACT])}),
        json.dumps(FACTS),
        json.dumps({"GroundedFacts": json.loads(FACTS)}),
        f'<tool_call>\n{{"name": "GroundedFacts", "arguments": {FACTS}}}\n</tool_call>',
        "\ufeff" + FACTS,
        FACTS[:-1] + ', "confidence": NaN}',
        FACTS.replace("white", "white\\u0000"),
    ],
)
def test_faults_that_can_mean_one_thing_alone_are_read(text: str) -> None:
    assert parse_reply(text, GroundedFacts).facts == [GroundedFact.model_validate(FACT)]


def test_half_a_character_becomes_a_question_mark() -> None:
    assert parse_reply('{"query": "tower \\ud83d"}', SearchQuery).query == "tower ?"


def test_a_list_is_read_where_the_answer_is_nothing_but_a_list() -> None:
    fact = {"fact": "It is white.", "status": "check", "query": "q"}
    assert parse_reply(json.dumps([fact]), SentenceFacts).facts[0].fact == "It is white."


@pytest.mark.parametrize("verdict", ["true", "SUPPORT", "mostly supported", ""])
def test_no_verdict_is_guessed(verdict: str) -> None:
    with pytest.raises(ModelOutputError, match="verdict"):
        parse_reply(FACTS.replace("supported", verdict), GroundedFacts)


@pytest.mark.parametrize(
    "text",
    [
        "{" * 100_000, "{}" * 100_000, '{"' * 100_000, '{"a":' * 100_000, "[" * 100_000,
        '{"reason": ' + "[" * 100_000, "{" + " " * 900_000, ("{" + " " * 9_000) * 100, "```json\n" * 100_000,
        "</think>" * 100_000, "\n" * 900_000 + "{", '{"reason": "' + "\\" * 900_000, "a" * (LONGEST_REPLY + 1),
    ],
    ids=lambda text: text[:12],
)  # fmt: skip
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
